/** Runs as everybody can reach them, through the store: whoever has the run carries out what is wanted of it. */
import { isFinished } from '../../../../domain/entities/Run';
import type { RunResult, RunState } from '../../../../domain/entities/Run';
import { isSettled } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import type { RunStore, WholeRun } from '../../../../domain/interfaces/RunStore';
import type { RunCommand } from '../../../../domain/types/RunRecords';
import { resultOfStoredRun } from '../../storedRunResult';
import { sleep } from '../../shared/time';

/**
 * The id of what ends this wait of the call, whoever sends it: a call that waits again, after it was run again,
 * waits under another.
 */
export function decisionId(executionId: string, call: ToolCall): string {
  return `${executionId}:${call.id}:${call.state}:${'startTime' in call ? (call.startTime ?? 0) : 0}`;
}

export class RemoteRuns {
  private readonly store: RunStore;
  private readonly heartbeat: number;

  /** @param heartbeat milliseconds between two looks at a run that is waited for */
  constructor(store: RunStore, heartbeat: number) {
    this.store = store;
    this.heartbeat = heartbeat;
  }

  /** @throws LLMInvalidRequestError for an unknown run */
  async load(executionId: string): Promise<WholeRun> {
    const whole = await this.store.load(executionId);
    if (whole === undefined)
      throw new LLMInvalidRequestError(`there is no run '${executionId}'`, { path: 'executionId' });
    return whole;
  }

  /** @throws LLMInvalidRequestError for an unknown run or call */
  async call(executionId: string, callId: string): Promise<ToolCall> {
    const { calls } = await this.load(executionId);
    const call = calls.find(({ id }) => id === callId);
    if (call === undefined) throw new LLMInvalidRequestError(`the run has no call '${callId}'`, { path: 'callId' });
    return call;
  }

  /** A run that nobody has begun is over at once, any other soon. @returns the state in which it is now */
  async cancel(executionId: string, owner: string): Promise<RunState> {
    const { run } = await this.load(executionId);
    if (isFinished(run.state)) return run.state;
    if (run.owner === '') {
      const claimed = await this.store.claim(run, owner);
      const error = { code: 'aborted', message: 'The run was cancelled.' } as const;
      if (
        claimed !== undefined &&
        (await this.store.saveRun(claimed.lease, { state: 'cancelled', endedAt: Date.now(), error }))
      )
        return 'cancelled';
    }
    await this.store.addCommand({ id: `${executionId}:cancel`, executionId, order: { kind: 'cancel' } });
    return run.state;
  }

  /** @returns whether it is the first that ends this wait of the call */
  async send(executionId: string, call: ToolCall, order: RunCommand['order']): Promise<RunCommand | undefined> {
    const command = { id: decisionId(executionId, call), executionId, order };
    return (await this.store.addCommand(command)) ? command : undefined;
  }

  /** The end of the run, wherever it comes to it. @throws what ended it; `signal.reason` when nobody waits any more */
  async follow(executionId: string, signal?: AbortSignal): Promise<RunResult> {
    for (;;) {
      const whole = await this.load(executionId);
      if (isFinished(whole.run.state)) return resultOfStoredRun(whole);
      await sleep(this.heartbeat, signal);
    }
  }
}

export function acceptsDecision(call: ToolCall): boolean {
  return call.state === 'awaiting_approval' || call.state === 'needs_review';
}

export function acceptsResult(call: ToolCall, isExternal: boolean): boolean {
  return call.state === 'needs_review' || (isExternal && !isSettled(call) && call.state === 'executing');
}
