/** What a tool call spent its time with: waiting for a person or another service, and executing. */
import { needsApproval, needsReview } from '../../business/ai/domain/entities/Tool';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';

export type SegmentKind = 'queued' | 'approval' | 'executing' | 'external' | 'review';

/** Milliseconds since the epoch. */
export interface CallSegment {
  readonly kind: SegmentKind;
  readonly start: number;
  readonly end: number;
}

export const SEGMENT_LABELS: Readonly<Record<SegmentKind, string>> = {
  queued: 'Waiting for its turn',
  approval: 'Waiting for approval',
  executing: 'Executing',
  external: 'Waiting for a result from outside',
  review: 'Waiting for review',
};

/**
 * @param requestedAt when the model requested the call, if the call itself doesn't know
 * @param end of the run, or now
 * @param isExternal another service supplies the result
 */
export function callSegments(
  call: ToolCallView,
  {
    requestedAt,
    end,
    isExternal,
  }: { readonly requestedAt: number | undefined; readonly end: number; readonly isExternal: boolean },
): readonly CallSegment[] {
  const { startTime, endTime = end, approvalRequestedAt } = call;
  const { createdAt = approvalRequestedAt ?? (startTime === undefined ? requestedAt : undefined) } = call;
  const startedAt = startTime ?? endTime;
  const askedAt = approvalRequestedAt ?? (needsApproval(call) ? (createdAt ?? startedAt) : undefined);
  const segments: CallSegment[] = [];
  const add = (kind: SegmentKind, from: number, to: number): void => {
    if (to > from || kind === 'executing') segments.push({ kind, start: from, end: Math.max(from, to) });
  };
  if (createdAt !== undefined) add('queued', createdAt, Math.min(askedAt ?? startedAt, startedAt));
  if (askedAt !== undefined) add('approval', askedAt, startedAt);
  if (startTime === undefined) return segments;
  // When a call stopped that needs review is not known.
  add(needsReview(call) ? 'review' : isExternal ? 'external' : 'executing', startTime, endTime);
  return segments;
}
