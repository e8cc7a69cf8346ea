/** `POST /ag-ui`: the endpoint of an AG-UI `HttpAgent`. https://docs.ag-ui.com/sdk/js/client/http-agent */
import { RUN_END_EVENTS } from '../../business/ai/domain/types/AgentEvents';
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import { isExternalTool, isFunctionTool } from '../../business/ai/domain/entities/Tool';
import { isFinished } from '../../business/ai/domain/entities/Run';
import { replayRun } from '../../business/ai/application/services/replayRun';
import { AgUiEncoder } from '../../interop/agUi/AgUiEncoder';
import type { RunAgentInput } from '../../interop/agUi/AgUiMessages';
import { AgUiStreamEncoder, toAgUiFrame } from '../../interop/agUi/AgUiStreamEncoder';
import { readRunAgentInput } from '../../interop/agUi/readRunAgentInput';
import { followFamily } from '../chat/followFamily';
import { NewEvents } from '../chat/NewEvents';
import { isExternal } from '../chat/serverTools';
import { streamEvents } from '../chat/streamEvents';
import type { StreamRunPorts } from '../chat/streamEvents';
import type { AddEndpoint } from '../http/Endpoint';
import type { RequestContext, RouteHandler } from '../http/RequestContext';
import { SERVER_SENT_EVENTS, STREAM_HEADERS } from '../http/ResponseSink';
import { readAgUiOptions } from './AgUiRuns';
import type { AgUiRuns, AgUiTurn } from './AgUiRuns';

export interface AgUiRoutePorts extends StreamRunPorts {
  readonly agUi: AgUiRuns;
}

/** @returns the path prefixes whose remaining paths are to get 404 */
export function addAgUiRoutes(add: AddEndpoint, ports: AgUiRoutePorts): readonly string[] {
  add('app', '/api/ag-ui', '/api/ag-ui', { method: 'post', scope: 'generate', handler: runAgent(ports) });
  return ['/api/ag-ui'];
}

function runAgent(ports: AgUiRoutePorts): RouteHandler {
  return async (context) => {
    const { principal, request, response, hasLeft } = context;
    const input = readRunAgentInput(request.body);
    const options = readAgUiOptions(input);
    let turn: AgUiTurn;
    try {
      turn = await ports.agUi.submit(principal, input, options);
    } catch (thrown) {
      // The protocol reports what is wrong with a thread in its stream.
      const { code, message } = ports.toError(thrown);
      response.set({ ...STREAM_HEADERS, 'content-type': SERVER_SENT_EVENTS.contentType });
      response.end(toAgUiFrame({ type: 'RUN_ERROR', message, code }));
      return;
    }
    const encoder = await streamTurn(context, input, turn, ports);
    // Clients stop a run by disconnecting. A server that stops leaves it to another process, or to its next start.
    const isStopped = hasLeft() && !encoder.isDone && !ports.closing.aborted;
    if (isStopped && options.onDisconnect !== 'continue') await ports.agUi.cancel(principal, turn.executionId);
  };
}

async function streamTurn(
  context: RequestContext,
  input: RunAgentInput,
  { executionId, stored, answered, decided }: AgUiTurn,
  ports: AgUiRoutePorts,
): Promise<AgUiEncoder> {
  const { threadId, runId, parentRunId, messages, state } = input;
  const frontEndTools = new Set([...input.tools.map(({ name }) => name), ...frontEndToolsOf(stored)]);
  const encoder = new AgUiEncoder({
    executionId,
    threadId,
    runId,
    messages,
    state,
    frontEndTools,
    answered,
    isExternal: (name, isBelow) => isExternal(ports.tools, name, isBelow),
    parentRunId,
  });
  const past = stored === undefined ? [] : replayRun(stored).filter(({ type }) => !RUN_END_EVENTS.has(type));
  const known = new NewEvents();
  for (const event of past) known.accepts(event);
  const all = followFamily(ports, executionId, { signal: context.signal, decided, clientTools: frontEndTools });
  await streamEvents(context, untilDone(all, known, encoder), new AgUiStreamEncoder(encoder, past), ports);
  return encoder;
}

/** The tools of a run that the client of an earlier AG-UI run executes. */
function frontEndToolsOf(stored: AgUiTurn['stored']): readonly string[] {
  if (stored === undefined || isFinished(stored.run.state)) return [];
  return stored.run.plan.tools.flatMap((tool) =>
    typeof tool !== 'string' && isFunctionTool(tool) && isExternalTool(tool) ? [tool.name] : [],
  );
}

/** An AG-UI run may end before Bolide's. */
async function* untilDone(
  events: AsyncIterable<FamilyEvent>,
  known: NewEvents,
  encoder: AgUiEncoder,
): AsyncGenerator<FamilyEvent, void, undefined> {
  for await (const event of events) {
    if (event.path !== undefined || known.accepts(event)) yield event;
    if (encoder.isDone) return;
  }
}
