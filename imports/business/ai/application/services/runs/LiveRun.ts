/** A run of this process: its present state, and what its readers make of it. */
import { isSettled, isUndelivered, TOOL_CALL_TRANSITIONS } from '../../../domain/entities/Tool';
import type { ToolCall, ToolCallState, ToolExecutionContext, ToolResult } from '../../../domain/entities/Tool';
import type { RunReport, RunState, ToolStatistics } from '../../../domain/entities/Run';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import type { Budget } from '../../../domain/types/RunLimits';
import { isCalling, transcriptOf } from '../../../domain/run/ActiveRun';
import type { ActiveRun } from '../../../domain/run/ActiveRun';
import { toToolResult } from '../../../domain/run/toolOutputs';
import { FollowUps } from './FollowUps';

export class LiveRun implements ToolExecutionContext {
  /** Replaced by its interpreter. */
  current: ActiveRun;
  readonly parentExecutionId: string | undefined;
  readonly followUps = new FollowUps();

  constructor(state: ActiveRun, parentExecutionId: string | undefined) {
    this.current = state;
    this.parentExecutionId = parentExecutionId;
  }

  get executionId(): string {
    return this.current.rules.executionId;
  }

  get userId(): string {
    return this.current.rules.userId;
  }

  get state(): RunState {
    return this.current.status;
  }

  /** @throws Error while only the store has it */
  get transcript(): readonly Item[] {
    return transcriptOf(this.current);
  }

  get toolCalls(): ReadonlyMap<string, ToolCall> {
    return new Map([...this.current.calls].map((call) => [call.id, call]));
  }

  get pendingNonBlocking(): ReadonlySet<string> {
    return new Set(this.openCalls.filter(({ blocking }) => !blocking).map(({ id }) => id));
  }

  get completedResults(): ReadonlyMap<string, ToolResult> {
    return new Map([...this.current.calls].filter(isSettled).map((call) => [call.id, toToolResult(call)]));
  }

  get isCalling(): boolean {
    return isCalling(this.current);
  }

  /** By the run's own model calls. */
  get spent(): Required<Budget> {
    const { iterations, totals } = this.current;
    return { calls: iterations, tokens: totals.usage.total_tokens, money: totals.cost ?? 0 };
  }

  report(): RunReport {
    const { totals, iterations, compaction, calls } = this.current;
    return omitUndefined({
      executionId: this.executionId,
      ...totals,
      iterations,
      transcript: [...this.transcript],
      compaction,
      toolCalls: [...calls],
      pending: this.openCalls,
      undelivered: [...calls].filter(isUndelivered),
      followUps: this.followUps,
    });
  }

  statistics(): ToolStatistics {
    const states = Object.keys(TOOL_CALL_TRANSITIONS) as ToolCallState[];
    const counts = Object.fromEntries(states.map((state) => [state, 0])) as Record<ToolCallState, number>;
    let blocking = 0;
    for (const call of this.current.calls) {
      counts[call.state] += 1;
      if (call.blocking) blocking += 1;
    }
    const { size } = this.current.calls;
    return { ...counts, total: size, blocking, nonBlocking: size - blocking };
  }

  private get openCalls(): readonly ToolCall[] {
    return this.current.calls.open;
  }
}
