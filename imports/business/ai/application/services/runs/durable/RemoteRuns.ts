/** Reaches runs through the store, whichever process owns them. The owner carries the commands out. */
import { isFinished, toRunResult } from '../../../../domain/entities/Run';
import type { RunReport, RunResult } from '../../../../domain/entities/Run';
import { inputOf, isUndelivered } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';
import { restoreError } from '../../../../domain/errors/restoreError';
import { LLMInvalidRequestError, LLMServerError } from '../../../../domain/errors/LLMErrors';
import type { RunStore, StoredRun } from '../../../../domain/interfaces/RunStore';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { RunAction, RunCommand, RunHead } from '../../../../domain/types/RunRecords';
import type { MessageTime } from '../../../../domain/types/RunMessages';
import { FollowUps } from '../FollowUps';
import { totalsOf } from '../../../../domain/run/runTotals';
import { throughOutages } from '../../shared/throughOutages';
import { RunEnds } from './RunEnds';

/**
 * The id of every command that settles the call's present wait, so that only the first is accepted. A call that waits
 * again, after it was run again or for another answer, has a new one.
 */
export function decisionId(executionId: string, call: ToolCall): string {
  const input = inputOf(call);
  const wait = `${executionId}:${call.id}:${call.state}:${'startTime' in call ? (call.startTime ?? 0) : 0}`;
  return input === undefined ? wait : `${wait}:${input.id}`;
}

/** How many pending commands are searched. */
const COMMAND_LIMIT = 1_000;

export class RemoteRuns {
  private readonly store: RunStore;
  private readonly ends: RunEnds;

  /** @param pollIntervalMs how often the store is asked whether runs of other processes have ended */
  constructor(store: RunStore, pollIntervalMs: number) {
    this.store = store;
    this.ends = new RunEnds(store, pollIntervalMs);
  }

  /** A run has ended in this process. */
  ended(executionId: string): void {
    this.ends.ended(executionId);
  }

  /** @throws LLMInvalidRequestError for an unknown run */
  async load(executionId: string): Promise<StoredRun> {
    const stored = await this.store.load(executionId);
    if (stored === undefined) throw unknownRunError(executionId);
    return stored;
  }

  /** @throws LLMInvalidRequestError for an unknown run or call */
  async loadCall(executionId: string, callId: string): Promise<ToolCall> {
    const { calls } = await this.load(executionId);
    const call = calls.find(({ id }) => id === callId);
    if (call === undefined) throw unknownCallError(executionId, callId);
    return call;
  }

  /** @throws LLMInvalidRequestError for an unknown run */
  async head(executionId: string): Promise<RunHead> {
    const head = await this.store.head(executionId);
    if (head === undefined) throw unknownRunError(executionId);
    return head;
  }

  /** Asks the run's owner to cancel it. */
  async sendCancel(executionId: string): Promise<void> {
    await this.store.addCommand({ id: `${executionId}:cancel`, executionId, action: { kind: 'cancel' } });
  }

  /** Asks the run's owner to look for signals. */
  async sendSignal(executionId: string): Promise<void> {
    await this.store.addCommand({ id: `${executionId}:signal`, executionId, action: { kind: 'signal' } });
  }

  /** Asks the run's owner to look for messages. */
  async sendMessage(executionId: string, when: MessageTime): Promise<void> {
    const action = { kind: 'message', when } as const;
    await this.store.addCommand({ id: `${executionId}:message:${when}`, executionId, action });
  }

  /** @returns undefined if an earlier command has settled the call's present wait */
  async send(executionId: string, call: ToolCall, action: RunAction): Promise<RunCommand | undefined> {
    const command = { id: decisionId(executionId, call), executionId, action };
    return (await this.store.addCommand(command)) ? command : undefined;
  }

  /** The command that settles the call's present wait, unless it has been applied and deleted. */
  async findAction(executionId: string, call: ToolCall): Promise<RunAction | undefined> {
    const id = decisionId(executionId, call);
    return (await this.store.commands(COMMAND_LIMIT)).find((command) => command.id === id)?.action;
  }

  /**
   * Waits through outages of the store, except for one at the start.
   * @throws the error that ended the run; LLMInvalidRequestError for an unknown run; `signal.reason`
   */
  async waitForResult(executionId: string, signal?: AbortSignal): Promise<RunResult> {
    const { state } = await this.head(executionId);
    if (isFinished(state)) return resultOfStoredRun(await this.load(executionId));
    await this.ends.wait(executionId, signal);
    const stored = await throughOutages(
      () => this.load(executionId),
      () => signal?.aborted !== true,
    );
    return resultOfStoredRun(stored);
  }
}

/**
 * The result of a stored run that has ended.
 * @throws the error that ended it, with its report in `.run`; LLMServerError for a run that has not ended
 */
export function resultOfStoredRun({ run, calls }: StoredRun): RunResult {
  if (!isFinished(run.state))
    throw new LLMServerError(`The run "${run.executionId}" has not ended.`, { retryable: false });
  const followUps = new FollowUps();
  const report: RunReport = omitUndefined({
    executionId: run.executionId,
    ...totalsOf(run),
    iterations: run.iterations,
    transcript: run.transcript,
    compaction: run.compaction,
    toolCalls: calls,
    pending: [],
    undelivered: calls.filter(isUndelivered),
    followUps,
  });
  if (run.state === 'completed' && run.response !== undefined) {
    followUps.close();
    return toRunResult(report, run.response);
  }
  const { code, message } = run.error ?? { code: 'vendor-error', message: 'The run failed.' };
  const error = restoreError(code, message, run.response);
  error.run = report;
  followUps.close(error);
  throw error;
}

export function unknownRunError(executionId: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`Unknown run "${executionId}".`, { path: 'executionId' });
}

export function unknownCallError(executionId: string, callId: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`The run "${executionId}" has no call "${callId}".`, { path: 'callId' });
}
