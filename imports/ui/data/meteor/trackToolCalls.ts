/** Tool calls as reactive data, for Tracker computations. */
import type { ToolCallState } from '../../../business/ai/domain/entities/Tool';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { ToolCallView } from '../../../business/ai/domain/types/RunViews';
import { TOOL_CALLS } from './collections';
import type { MeteorSource } from './MeteorSource';
import { trackDocuments } from './trackDocuments';
import { NOT_STARTED } from './trackRun';
import { trackSubscription } from './trackSubscription';
import type { SubscriptionStatus } from './trackSubscription';

export interface ToolCallFilter {
  readonly executionId?: string;
  readonly state?: ToolCallState;
}

export interface TrackedToolCalls extends SubscriptionStatus {
  /** In the order in which they were started. */
  readonly toolCalls: readonly ToolCallView[];
}

/**
 * The tool calls of a run, over the same subscription as `trackRun`, or those that match a filter, over `ai.toolCalls`.
 * @param filter an execution id, a filter, or undefined as long as no run has been started
 */
export function trackToolCalls(source: MeteorSource, filter: string | ToolCallFilter | undefined): TrackedToolCalls {
  if (filter === undefined) return { ...NOT_STARTED, toolCalls: NONE };
  const [publication, argument] =
    typeof filter === 'string'
      ? (['ai.run', { executionId: filter }] as const)
      : (['ai.toolCalls', omitUndefined({ executionId: filter.executionId, state: filter.state })] as const);
  const status = trackSubscription(source, publication, argument);
  // Lists publish calls without their arguments, on which nobody must decide.
  const selector = { ...argument, arguments: { $exists: true } };
  return { ...status, toolCalls: trackDocuments(source, { collection: TOOL_CALLS, selector, sort: { startTime: 1 } }) };
}

const NONE: readonly ToolCallView[] = [];
