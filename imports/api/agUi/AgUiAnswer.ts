/** The stream of one AG-UI run: what a run does until it has ended, or waits for the client. */
import { isFinished } from '../../business/ai/domain/entities/Run';
import { RUN_END_EVENTS } from '../../business/ai/domain/types/AgentEvents';
import type { AgentEvent, FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import { replayRun } from '../../business/ai/application/services/replayRun';
import { AgUiEncoder } from '../../interop/agUi/AgUiEncoder';
import type { RunAgentInput } from '../../interop/agUi/AgUiMessages';
import { AgUiStreamEncoder } from '../../interop/agUi/AgUiStreamEncoder';
import { followFamily } from '../chat/followFamily';
import { NewEvents } from '../chat/NewEvents';
import { isExternal } from '../chat/serverTools';
import type { StreamRunPorts } from '../chat/streamEvents';
import type { RequestContext } from '../http/RequestContext';
import { clientToolsOf } from './AgUiRuns';
import type { AgUiOptions, AgUiRuns, AgUiTurn } from './AgUiRuns';

export interface AgUiRoutePorts extends StreamRunPorts {
  readonly agUi: AgUiRuns;
}

export class AgUiAnswer {
  readonly encoder: AgUiStreamEncoder;
  private current: AgUiEncoder;

  constructor(
    private readonly context: Pick<RequestContext, 'principal' | 'signal'>,
    private readonly input: RunAgentInput,
    private readonly options: AgUiOptions,
    private turn: AgUiTurn,
    private readonly ports: AgUiRoutePorts,
  ) {
    this.current = this.encoderOf(input);
    this.encoder = new AgUiStreamEncoder(this.current, pastOf(turn));
  }

  /** The run that answers at present. */
  get executionId(): string {
    return this.turn.executionId;
  }

  /** An AG-UI run may end before Bolide's. */
  get isDone(): boolean {
    return this.current.isDone;
  }

  /** A message that its run has ended without is answered by another run. */
  async *events(): AsyncGenerator<FamilyEvent, void, undefined> {
    for (;;) {
      const waiting = yield* this.eventsOfRun();
      if (waiting.length === 0) return;
      this.encoder.add(this.current.leave(waiting));
      const { messages } = this.current;
      this.turn = await this.ports.agUi.submit(this.context.principal, { ...this.input, messages }, this.options);
      this.current = this.encoderOf({ ...this.input, messages });
      this.encoder.goOn(this.current);
    }
  }

  /** @returns ids of the messages that the run has ended without */
  private async *eventsOfRun(): AsyncGenerator<FamilyEvent, readonly string[], undefined> {
    const { executionId, decided, sent = [] } = this.turn;
    const waiting = new Set(sent);
    const known = new NewEvents();
    const isNew = (event: AgentEvent): boolean => {
      if (event.type === 'message:delivered') waiting.delete(event.messageId);
      return known.accepts(event);
    };
    for (const event of pastOf(this.turn)) isNew(event);
    const clientTools = this.clientTools;
    const options = { signal: this.context.signal, decided, clientTools };
    for await (const event of followFamily(this.ports, executionId, options)) {
      if (event.path === undefined) {
        if (!isNew(event)) continue;
        if (RUN_END_EVENTS.has(event.type) && waiting.size > 0) {
          const queued = await this.ports.agUi.queued(executionId, waiting);
          if (queued.length > 0) return queued;
        }
      }
      yield event;
      if (this.current.isDone) break;
    }
    return [];
  }

  private get clientTools(): ReadonlySet<string> {
    const { stored } = this.turn;
    const before = stored === undefined || isFinished(stored.run.state) ? [] : clientToolsOf(stored);
    return new Set([...this.input.tools.map(({ name }) => name), ...before]);
  }

  private encoderOf({ threadId, runId, parentRunId, messages, state }: RunAgentInput): AgUiEncoder {
    const { executionId, answered } = this.turn;
    return new AgUiEncoder({
      executionId,
      threadId,
      runId,
      messages,
      state,
      frontEndTools: this.clientTools,
      answered,
      isExternal: (name, isBelow) => isExternal(this.ports.tools, name, isBelow),
      parentRunId,
    });
  }
}

/** What the run did before, if an earlier AG-UI run started it. */
function pastOf({ stored }: AgUiTurn): readonly AgentEvent[] {
  return stored === undefined ? [] : replayRun(stored).filter(({ type }) => !RUN_END_EVENTS.has(type));
}
