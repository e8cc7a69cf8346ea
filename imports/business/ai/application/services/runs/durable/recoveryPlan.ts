/**
 * Decides how orphaned runs are recovered. A run may itself be what kills its owners: a tool that ends the process, a
 * transcript that does not fit into memory. Most deaths have other causes, so a run is blamed by evidence only. One
 * count per run, which ends with the run's next progress, says all that is known:
 *
 * 1. After one death all runs are recovered together.
 * 2. Runs whose next owner died as well, before they made progress, are suspects. They are tried in groups, while all
 *    others run: one in 2ⁿ of them after `n` takeovers, and more than last once a whole group has made progress.
 * 3. The count of a run that was tried alone goes on from `ALONE`. Such a run is tried again only by a process that has
 *    lived without it, after each death for longer. Where something else kills processes, none lives that long, and
 *    the run waits for better times instead of being blamed.
 * 4. A run that was tried alone when its owner died, six times, is parked.
 */
import type { LeasedRun } from '../../../../domain/types/RunRecords';
import { UNOWNED } from '../../../../domain/entities/Run';
import { ALONE, loneDeaths, MAX_LONE_DEATHS } from './recoveryLimit';

/** How to claim an orphaned run, and the count that is recorded with the claim. */
export interface RunRecoveryStep {
  readonly kind: 'recover' | 'try' | 'park';
  readonly lease: LeasedRun;
  readonly takeovers: number;
}

export interface RecoveryConditions {
  /** This process, whose own runs were given up because the store failed. */
  readonly ownerId: string | undefined;
  /** Whether suspects are on trial in this process. */
  readonly isTrying: boolean;
  /** How many suspects this process tried last, if all of them have made progress; otherwise 0. */
  readonly cleared: number;
  /** For how long this process has recovered runs, in intervals between two scans. */
  readonly uptime: number;
  /** How many runs that are not suspects are recovered at once. */
  readonly limit: number;
  /** How many queued runs this process may take. */
  readonly room: number;
}

/** How many times as large as a group that has made progress the next one is at least. */
const GROWTH = 4;
/** How much longer a process lives without a run before it tries the run alone, after each death. */
const PATIENCE_FACTOR = 6;
/** In intervals between two scans: an hour, unless they are configured. */
const MAX_PATIENCE = 720;

/** Plans the recovery of a run as if no other run were orphaned, and this process had lived for long. */
export function planRecoveryOf(lease: LeasedRun, ownerId: string | undefined): RunRecoveryStep | undefined {
  const conditions = { ownerId, isTrying: false, cleared: 0, uptime: Infinity, limit: 1, room: 1 };
  return planRecovery([lease], conditions)[0];
}

export function planRecovery(
  orphaned: readonly LeasedRun[],
  { ownerId, isTrying, cleared, uptime, limit, room }: RecoveryConditions,
): readonly RunRecoveryStep[] {
  const admitted = new Admission(room);
  const others: RunRecoveryStep[] = [];
  const parked: RunRecoveryStep[] = [];
  const suspects: LeasedRun[] = [];
  for (const lease of orphaned) {
    const { owner, takeovers } = lease;
    if (owner === ownerId || owner === UNOWNED) others.push({ kind: 'recover', lease, takeovers });
    else if (takeovers === 0) others.push({ kind: 'recover', lease, takeovers: 1 });
    else if (loneDeaths(lease) >= MAX_LONE_DEATHS) parked.push({ kind: 'park', lease, takeovers });
    else suspects.push(lease);
  }
  const recovered = others.slice(0, limit).filter(({ lease }) => admitted.has(lease));
  // No trial begins before all others are recovered.
  const isReady = !isTrying && others.length <= limit;
  const group = isReady ? nextGroup(suspects, cleared, uptime).filter((lease) => admitted.has(lease)) : [];
  const tried = group.map((lease): RunRecoveryStep => {
    return { kind: 'try', lease, takeovers: countAfter(lease, group.length) };
  });
  return [...recovered, ...parked, ...tried];
}

/** Lets queued runs be taken while there is room, and all others. */
class Admission {
  private room: number;

  constructor(room: number) {
    this.room = room;
  }

  has({ isQueued }: LeasedRun): boolean {
    if (isQueued !== true) return true;
    this.room -= 1;
    return this.room >= 0;
  }
}

/** The suspects that are tried next: first those that are suspected least. */
function nextGroup(suspects: readonly LeasedRun[], cleared: number, uptime: number): readonly LeasedRun[] {
  const ready = suspects
    .filter((lease) => uptime >= patienceWith(lease))
    .toSorted((one, other) => one.takeovers - other.takeovers);
  const [least] = ready;
  if (least === undefined) return [];
  const peers = ready.filter((lease) => loneDeaths(lease) > 0 === loneDeaths(least) > 0);
  return peers.slice(0, Math.max(1, GROWTH * cleared, Math.floor(peers.length / 2 ** least.takeovers)));
}

/** For how long a process lives without the run before it tries it. */
function patienceWith(lease: LeasedRun): number {
  const deaths = loneDeaths(lease);
  return deaths === 0 ? 0 : Math.min(MAX_PATIENCE, PATIENCE_FACTOR ** (deaths - 1));
}

/** The count of a run that is tried in a group of this size: company is no evidence against a run that was alone. */
function countAfter({ takeovers }: LeasedRun, size: number): number {
  return size === 1 ? Math.max(ALONE, takeovers) + 1 : Math.max(takeovers, Math.min(ALONE, takeovers + 1));
}
