/**
 * The runs that a run's calls have started, as AG-UI's subagents: their texts and calls carry the id of the run.
 * https://docs.ag-ui.com/concepts/events
 */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { AgentEvent, CallStep } from '../../business/ai/domain/types/AgentEvents';
import type { AgUiEvent, AgUiInterrupt } from './AgUiEvents';
import type { AgUiMessage } from './AgUiMessages';
import { callOfRunId } from '../../business/ai/domain/entities/callOfRun';
import { AgUiCalls } from './AgUiCalls';
import type { AgUiAnswers } from './AgUiCalls';
import { AgUiThread } from './AgUiThread';
import { toWireCallId, turnMessageId } from './agUiIds';

interface Subagent {
  readonly id: string;
  /** The call that started it, as it is named on the wire. */
  readonly parentToolCallId: string;
  readonly thread: AgUiThread;
  iteration: number;
  hasEnded: boolean;
}

export class AgUiSubagents {
  /** The run whose calls, or theirs, have started all of them. */
  private readonly root: string;
  private readonly subagents = new Map<string, Subagent>();
  /** Their calls, which the client is asked about with those of the root. */
  private readonly calls: AgUiCalls;

  /** @param isExternal whether the client may supply the results of the tool's calls */
  constructor(root: string, isExternal: (toolName: string) => boolean) {
    this.root = root;
    this.calls = new AgUiCalls({ executionId: root, frontEndTools: new Set(), isExternal });
  }

  setAnswered(answered: AgUiAnswers): void {
    this.calls.setAnswered(answered);
  }

  /** The calls that wait for the client. */
  get interrupts(): readonly AgUiInterrupt[] {
    const { outcome } = this.calls;
    return outcome?.type === 'interrupt' ? outcome.interrupts : [];
  }

  /** The messages of all of them, each with the id of its run. */
  get messages(): AgUiMessage[] {
    return [...this.subagents.values()].flatMap(({ id, thread }) =>
      thread.copies.map((message) => ({ ...message, subagentRunId: id })),
    );
  }

  /** @param path the calls from the root to the run of the event */
  encode(event: AgentEvent, path: readonly CallStep[]): readonly AgUiEvent[] {
    const id = event.executionId;
    const known = this.subagents.get(id);
    if (known !== undefined) return known.hasEnded ? [] : this.encodeOf(known, event);
    const [step, above] = [path.at(-1), path.at(-2)];
    if (step === undefined) return [];
    const parentToolCallId = this.wireId(step);
    const subagent = { id, parentToolCallId, thread: new AgUiThread([], () => false), iteration: 0, hasEnded: false };
    this.subagents.set(id, subagent);
    const parentSubagentRunId = above === undefined ? undefined : step.executionId;
    return [
      omitUndefined({
        type: 'SUBAGENT_STARTED',
        subagentRunId: id,
        name: step.name,
        parentToolCallId,
        parentSubagentRunId,
      } as const),
      ...this.encodeOf(subagent, event),
    ];
  }

  /** Ends those that a call has started, which has settled without them. */
  settle(call: Pick<CallStep, 'executionId' | 'callId'>): readonly AgUiEvent[] {
    return this.settleCall(this.wireId(call));
  }

  /** Ends all of them for an AG-UI run that ends before they do. */
  suspend(): readonly AgUiEvent[] {
    return [...this.subagents.values()].flatMap((subagent) =>
      this.end(subagent, { type: 'SUBAGENT_FINISHED', subagentRunId: subagent.id, outcome: { type: 'suspended' } }),
    );
  }

  private encodeOf(subagent: Subagent, event: AgentEvent): readonly AgUiEvent[] {
    const { id, thread } = subagent;
    if ('callId' in event) this.calls.apply({ ...withAnsweredId(event), callId: callOfRunId(event) });
    switch (event.type) {
      case 'iteration:start':
        subagent.iteration = event.iteration;
        return this.attributed(subagent, thread.openTurn(this.turnId(subagent)));
      case 'llm:delta':
        return event.kind === 'reasoning' ? [] : this.attributed(subagent, thread.addText(event.delta));
      case 'llm:retry':
        return this.attributed(subagent, thread.openTurn(this.turnId(subagent)));
      case 'llm:interrupted':
        return this.attributed(subagent, thread.cutTurn());
      case 'llm:response': {
        if (!thread.hasOpenTurn) {
          subagent.iteration = event.iteration;
          thread.openTurn(this.turnId(subagent));
        }
        const texts = event.response.output.filter(({ type }) => type === 'message');
        return this.attributed(subagent, thread.closeTurn(texts));
      }
      case 'tool:pending': {
        const { name, blocking } = event;
        const call = { name, arguments: event.arguments };
        this.calls.add({ ...call, callId: callOfRunId(event), blocking, state: 'pending' });
        const toolCallId = this.wireId(event);
        return this.attributed(
          subagent,
          thread.addCall(this.turnId(subagent), { id: toolCallId, type: 'function', function: call }),
        );
      }
      case 'tool:completed':
        return this.settled(subagent, event, event.result);
      case 'tool:failed':
      case 'tool:timeout':
      case 'tool:cancelled':
        return this.settled(subagent, event, `Error: ${event.error.message}`);
      case 'run:completed':
        return this.end(subagent, {
          type: 'SUBAGENT_FINISHED',
          subagentRunId: id,
          result: event.response.output_text,
        });
      case 'run:failed':
        return this.end(subagent, { type: 'SUBAGENT_ERROR', subagentRunId: id, ...event.error });
      case 'run:cancelled':
        return this.end(subagent, { type: 'SUBAGENT_ERROR', subagentRunId: id, ...CANCELLED });
      default:
        return [];
    }
  }

  private settled(subagent: Subagent, call: CallStep, content: string): readonly AgUiEvent[] {
    const toolCallId = this.wireId(call);
    return [
      ...this.settleCall(toolCallId),
      ...this.attributed(subagent, subagent.thread.addResult(toolCallId, content)),
    ];
  }

  private settleCall(toolCallId: string): readonly AgUiEvent[] {
    return [...this.subagents.values()].flatMap((subagent) =>
      subagent.parentToolCallId === toolCallId
        ? this.end(subagent, { type: 'SUBAGENT_ERROR', subagentRunId: subagent.id, ...CANCELLED })
        : [],
    );
  }

  private end(subagent: Subagent, last: AgUiEvent): readonly AgUiEvent[] {
    if (subagent.hasEnded) return [];
    subagent.hasEnded = true;
    const below = [...this.subagents.values()].filter(({ parentToolCallId }) =>
      parentToolCallId.startsWith(`${this.prefixOf(subagent.id)}:`),
    );
    return [
      ...below.flatMap((each) => this.end(each, { ...last, subagentRunId: each.id } as AgUiEvent)),
      ...this.attributed(subagent, subagent.thread.cutTurn()),
      last,
    ];
  }

  private attributed({ id }: Subagent, events: readonly AgUiEvent[]): readonly AgUiEvent[] {
    return events.map((event) => (event.type === 'MESSAGES_SNAPSHOT' ? event : { ...event, subagentRunId: id }));
  }

  private turnId({ id, iteration }: Subagent): string {
    return turnMessageId(this.prefixOf(id), iteration);
  }

  private wireId({ executionId, callId }: Pick<CallStep, 'executionId' | 'callId'>): string {
    return toWireCallId({ executionId: this.prefixOf(executionId), callId });
  }

  /** All ids begin with that of the root, which recognizes what belongs to it. */
  private prefixOf(executionId: string): string {
    return executionId === this.root ? this.root : `${this.root}:${executionId}`;
  }
}

/** Names what a tool asks as the calls are named. */
function withAnsweredId<E extends AgentEvent>(event: E): E {
  if (event.type !== 'tool:input_required') return event;
  const { executionId, input } = event;
  return { ...event, input: { ...input, id: callOfRunId({ executionId, callId: input.id }) } };
}

const CANCELLED = { message: 'The run was cancelled.', code: 'aborted' } as const;
