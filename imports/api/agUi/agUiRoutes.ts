/** `POST /ag-ui`: the endpoint of an AG-UI `HttpAgent`. https://docs.ag-ui.com/sdk/js/client/http-agent */
import { toAgUiFrame } from '../../interop/agUi/AgUiStreamEncoder';
import { readRunAgentInput } from '../../interop/agUi/readRunAgentInput';
import { streamEvents } from '../chat/streamEvents';
import type { AddEndpoint } from '../http/Endpoint';
import type { RouteHandler } from '../http/RequestContext';
import { SERVER_SENT_EVENTS, STREAM_HEADERS } from '../http/ResponseSink';
import { AgUiAnswer } from './AgUiAnswer';
import type { AgUiRoutePorts } from './AgUiAnswer';
import { readAgUiOptions } from './AgUiRuns';
import type { AgUiTurn } from './AgUiRuns';

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
    const answer = new AgUiAnswer(context, input, options, turn, ports);
    await streamEvents(context, answer.events(), answer.encoder, ports);
    // Clients stop a run by disconnecting. A server that stops leaves it to another process, or to its next start.
    const isStopped = hasLeft() && !answer.isDone && !ports.closing.aborted;
    if (isStopped && options.onDisconnect !== 'continue') await ports.agUi.cancel(principal, answer.executionId);
  };
}
