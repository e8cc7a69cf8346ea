/** Writes runs and their calls down from the events that are told of them, one write after another for each run. */
import { applyToolEvent, createToolCall } from '../business/ai/domain/entities/Tool';
import type { ToolCall, ToolEvent } from '../business/ai/domain/entities/Tool';
import type { RequestRecords, RunOutcome, RunRecord } from '../business/ai/domain/interfaces/RequestRecords';
import type { AgentEvent } from '../business/ai/domain/types/AgentEvents';
import type { Item } from '../business/ai/domain/types/ResponsesAPITypes';
import type { RunLease, RunProgress } from '../business/ai/domain/types/RunRecords';
import type { DocumentRunStore } from '../business/ai/infrastructure/persistence/DocumentRunStore';

interface Recorded {
  readonly record: RunRecord;
  readonly lease: RunLease;
  readonly calls: Map<string, ToolCall>;
  transcript: readonly Item[];
  last: Promise<unknown>;
}

const PLAN = { options: { model: '' }, tools: [], limits: { maxIterations: 10, maxToolErrors: 3, maxParallelTools: 8, runTimeout: 600_000 }, stream: false } as const;

export class RunRecorder implements RequestRecords {
  private readonly store: DocumentRunStore;
  private readonly recorded = new Map<string, Recorded>();

  constructor(store: DocumentRunStore) {
    this.store = store;
  }

  async create(record: RunRecord): Promise<void> {
    const { state: _state, outcome: _outcome, ...facts } = record;
    const lease = await this.store.create({ ...facts, argumentsHash: '', input: [], plan: PLAN }, 'running', 'recorder');
    this.recorded.set(record.executionId, { record, lease, calls: new Map(), transcript: [], last: Promise.resolve() });
  }

  async finish(executionId: string, outcome: RunOutcome): Promise<void> {
    this.save(executionId, outcome);
    await this.recorded.get(executionId)?.last;
    this.recorded.delete(executionId);
  }

  find(userId: string, executionId: string): Promise<RunRecord | undefined> {
    const record = this.recorded.get(executionId)?.record;
    return Promise.resolve(record?.userId === userId ? record : undefined);
  }

  /** What `run:started` does not say by itself. */
  readonly told = (event: AgentEvent): AgentEvent => {
    const record = this.recorded.get(event.executionId)?.record;
    return event.type === 'run:started' && record !== undefined ? { ...event, providerId: record.providerId, title: record.title, createdAt: record.createdAt } : event;
  };

  readonly take = (event: AgentEvent): void => {
    const run = this.recorded.get(event.executionId);
    if (run === undefined) return;
    if (event.type === 'run:started') this.save(event.executionId, { startedAt: event.at });
    else if (event.type === 'iteration:start') this.save(event.executionId, { iterations: event.iteration });
    else if (event.type === 'llm:response') {
      run.transcript = [...run.transcript, ...event.response.output];
      this.save(event.executionId, { transcript: run.transcript });
    } else if ('callId' in event && event.type.startsWith('tool:')) this.takeCall(run, event);
  };

  private takeCall(run: Recorded, event: AgentEvent & { readonly callId: string }): void {
    const known = run.calls.get(event.callId);
    if (event.type === 'tool:pending') {
      const { callId: id, call_id, name, blocking, arguments: args, at } = event;
      const call = createToolCall({ id, call_id, name, blocking, arguments: args, createdAt: at });
      run.calls.set(id, call);
      this.queue(run, () => this.store.addCall(run.lease, call));
    } else if (known !== undefined) {
      // The agent event of a call says what the call's own move needs.
      const call = applyToolEvent(known, event as unknown as ToolEvent);
      run.calls.set(event.callId, call);
      this.queue(run, () => this.store.saveCall(run.lease, call));
    }
  }

  private save(executionId: string, change: Partial<RunProgress>): void {
    const run = this.recorded.get(executionId);
    if (run !== undefined) this.queue(run, () => this.store.saveRun(run.lease, change));
  }

  private queue(run: Recorded, write: () => Promise<unknown>): void {
    run.last = run.last.then(write).catch((error: unknown) => console.error('a run could not be written down', error));
  }
}
