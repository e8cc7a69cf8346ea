/**
 * Decides how orphaned runs are recovered. A run may itself be what kills its owners: a tool that ends the process, a
 * transcript that does not fit into memory. Most deaths have other causes, so a run is blamed by evidence only:
 *
 * 1. After one death all runs are recovered together.
 * 2. Runs whose next owner died as well, before they made progress, are suspects. They are tried in groups, half of
 *    them first, while all others run. If the owner of a group dies, the group is halved.
 * 3. A suspect that was tried alone is tried again by a process that has lived longer without it than its last owner
 *    with it; until then, the process holds the run. If that process dies while it holds the run, something else kills
 *    processes, and the run is free of suspicion.
 * 4. A run that was alone on trial when its owner died, four times, is parked.
 *
 * A culprit among `n` runs is so found after about log2(n) deaths, and progress ends all suspicion.
 */
import type { LeasedRun, RunTrial } from '../../../../domain/types/RunRecords';
import { UNOWNED } from '../../../../domain/entities/Run';
import { MAX_TAKEOVERS } from './recoveryLimit';

/** How to claim an orphaned run, and the suspicion that is recorded with the claim. */
export interface RunRecoveryStep {
  readonly kind: 'recover' | 'try' | 'park';
  readonly lease: LeasedRun;
  /** Takeovers from owners that may have died of the run, with this one. */
  readonly takeovers: number;
  /** Absent: the run is not on trial. */
  readonly trial?: RunTrial;
  /** Milliseconds for which the run is held before it is tried. */
  readonly holdMs?: number;
}

export interface RecoveryConditions {
  /** This process, whose own runs were given up because the store failed. */
  readonly ownerId: string | undefined;
  /** Whether runs are on trial in this process. */
  readonly isTrying: boolean;
  /** Milliseconds for which this process has recovered runs. */
  readonly uptime: number;
  /** The size of the last group that this process survived. */
  readonly survived: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How many runs that are not suspects are recovered at once. */
  readonly limit: number;
  /** How many queued runs this process may take. */
  readonly room: number;
}

/** A run that was alone on trial at so many deaths is parked. The first two deaths only make it a suspect. */
const MAX_LONE_DEATHS = MAX_TAKEOVERS - 1;
/** The longest time that a run is held. */
const MAX_HOLD_MS = 60_000;
/** How much longer than its last owner may have lived with it. */
const HOLD_FACTOR = 1.5;
const UNTRIED = Infinity;

/** Plans the recovery of a run as if no other run were orphaned. */
export function planRecoveryOf(lease: LeasedRun, ownerId: string | undefined): RunRecoveryStep | undefined {
  const conditions = { ownerId, isTrying: false, uptime: 0, survived: 0, now: Date.now(), limit: 1, room: 1 };
  return planRecovery([lease], conditions)[0];
}

export function planRecovery(
  orphaned: readonly LeasedRun[],
  { ownerId, isTrying, limit, room, ...conditions }: RecoveryConditions,
): readonly RunRecoveryStep[] {
  const admitted = new Admission(room);
  const trying = new Set(orphaned.filter(isOnTrial).map(({ owner }) => owner));
  const others: RunRecoveryStep[] = [];
  const suspects: LeasedRun[] = [];
  for (const lease of orphaned) {
    if (lease.owner === ownerId || lease.owner === UNOWNED)
      others.push({ kind: 'recover', lease, takeovers: lease.takeovers });
    else if (lease.takeovers === 0 || (isOnHold(lease) && !trying.has(lease.owner)))
      others.push({ kind: 'recover', lease, takeovers: 1 });
    else suspects.push(lease);
  }
  // No trial begins before the others are recovered: while an owner's runs on trial are orphaned, they show that it
  // did not only hold a run.
  const steps = others.slice(0, limit).filter(({ lease }) => admitted.has(lease));
  if (isTrying || others.length > limit || suspects.length === 0) return steps;
  return [...steps, ...nextTrial(suspects, conditions, admitted)];
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

/** The runs that are parked, or else the group that is tried next: first the runs that are suspected least. */
function nextTrial(
  suspects: readonly LeasedRun[],
  { survived, uptime, now }: Pick<RecoveryConditions, 'survived' | 'uptime' | 'now'>,
  admitted: Admission,
): readonly RunRecoveryStep[] {
  const culprits = suspects.filter((lease) => loneDeaths(lease) >= MAX_LONE_DEATHS);
  if (culprits.length > 0) return culprits.map((lease) => ({ kind: 'park', lease, takeovers: takeoversOf(lease) }));
  const size = Math.max(...suspects.map(lastSize));
  const peers = suspects.filter((lease) => lastSize(lease) === size);
  if (size === 1) return [nextAlone(peers, uptime, now)].filter(({ lease }) => admitted.has(lease));
  // One of a group whose owner died is the culprit; one of those that were never tried need not exist.
  const share = Math.ceil(Math.min(peers.length, size) / 2);
  const group = peers
    .slice(0, size === UNTRIED ? Math.max(share, 2 * survived) : share)
    .filter((lease) => admitted.has(lease));
  return group.map((lease) => ({
    kind: 'try',
    lease,
    takeovers: takeoversOf(lease),
    trial: { size: group.length, loneDeaths: loneDeaths(lease), startedAt: now },
  }));
}

/** In a process that has lived longer than the run's last owner may have lived with it. */
function nextAlone(suspects: readonly LeasedRun[], uptime: number, now: number): RunRecoveryStep {
  const lease = suspects.reduce((least, other) => (loneDeaths(other) < loneDeaths(least) ? other : least));
  const lived = Math.max(0, now - (lease.trial?.startedAt ?? now));
  return {
    kind: 'try',
    lease,
    takeovers: takeoversOf(lease),
    trial: { size: 1, loneDeaths: loneDeaths(lease), startedAt: now },
    holdMs: Math.max(0, Math.min(MAX_HOLD_MS, HOLD_FACTOR * lived) - uptime),
  };
}

/** Whether the owner died while the run was on trial and had made no progress. */
function isOnTrial({ takeovers, trial }: LeasedRun): boolean {
  return takeovers > 0 && trial !== undefined && trial.size > 0;
}

/** Whether the owner died while it held the run. */
function isOnHold({ takeovers, trial }: LeasedRun): boolean {
  return takeovers > 0 && trial?.size === 0;
}

/** With the death of its last owner. */
function takeoversOf(lease: LeasedRun): number {
  return isOnHold(lease) ? lease.takeovers : lease.takeovers + 1;
}

function loneDeaths({ trial }: LeasedRun): number {
  return trial === undefined ? 0 : trial.loneDeaths + (trial.size === 1 ? 1 : 0);
}

/** The size of the group in which the run was tried last. */
function lastSize({ trial }: LeasedRun): number {
  return trial === undefined ? UNTRIED : Math.max(1, trial.size);
}
