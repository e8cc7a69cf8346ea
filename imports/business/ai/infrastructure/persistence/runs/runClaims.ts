/** How the documents of runs change when somebody claims them. */
import { isFinished, RUN_TRANSITIONS } from '../../../domain/entities/Run';
import type { RunState } from '../../../domain/entities/Run';
import type { Modifier } from '../../../../../database/DocumentCollection';
import type { ClaimReason, RunLease, RunSuspicion } from '../../../domain/types/RunRecords';

export const UNFINISHED = (Object.keys(RUN_TRANSITIONS) as RunState[]).filter((state) => !isFinished(state));

export function claimModifier(
  ownership: Pick<RunLease, 'owner' | 'fence'>,
  reason: ClaimReason,
  suspicion: RunSuspicion | undefined,
): Modifier {
  const $unset = { parked: true, awaitedTools: true } as const;
  if (suspicion === undefined)
    return { $set: ownership, $unset, ...(reason === 'orphaned' ? { $inc: { takeovers: 1 } } : {}) };
  return { $set: { ...ownership, ...suspicion }, $unset };
}
