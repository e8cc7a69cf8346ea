/** What calls and runs wait for from outside. */
import { needsApproval, needsReview } from '../../business/ai/domain/entities/Tool';
import type { CallWait } from '../../business/ai/domain/entities/Tool';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';

/** An older version recorded the state alone. */
export function waitingFor(call: Pick<ToolCallView, 'state' | 'waiting'>): CallWait | undefined {
  if (needsApproval(call)) return 'approval';
  if (needsReview(call)) return 'review';
  return call.waiting;
}

/** What a run waits for first: what a person has to decide comes before what another service has to supply. */
export function runWaitingFor(calls: readonly Pick<ToolCallView, 'state' | 'waiting'>[]): CallWait | undefined {
  const waits = new Set(calls.map(waitingFor));
  return (['approval', 'review', 'external'] as const).find((wait) => waits.has(wait));
}
