/** Chooses a schedule. Each has its own mixture of faults: all of them at once would hide what each of them does. */
import { MESSAGE_TIMES } from '../../imports/business/ai/domain/types/RunMessages';
import { RUN_DURABILITIES } from '../../imports/business/ai/domain/types/RunRecords';
import type { Fault, FaultKind, Plan, PlannedReviewer, PlannedRun } from './Plan';
import { SeededRandom } from './SeededRandom';

/** How likely a kind of fault is part of a schedule, and how many there are at most. */
const FAULTS: Readonly<Record<FaultKind, readonly [probability: number, most: number]>> = {
  kill: [0.4, 4],
  killAtWrite: [0.5, 4],
  close: [0.3, 2],
  pause: [0.3, 2],
  outage: [0.2, 2],
  partition: [0.15, 2],
  lostReply: [0.3, 3],
  lateWrite: [0.3, 3],
  clockJump: [0.15, 2],
  cancel: [0.3, 3],
};

export function planSchedule(seed: number, store: Plan['store'] = 'memory'): Plan {
  const random = SeededRandom.of(seed, 'plan');
  const slots = random.between(2, 4);
  const span = random.between(5_000, 40_000);
  const handoffs = SeededRandom.of(seed, 'handing over');
  const runs = planRuns(random, span).map((run) => (handoffs.chance(0.2) ? { ...run, handsOver: true as const } : run));
  const [lease, heartbeat] = random.chance(0.5) ? [15_000, 1_000] : [5_000, 500];
  const delayed = random.chance(0.6) ? 0.03 : 0.2;
  const base = {
    seed,
    store,
    slots,
    lease,
    heartbeat,
    hasSlowTools: random.chance(0.5),
    delayed,
    runs,
  };
  const kinds = (Object.keys(FAULTS) as FaultKind[]).filter((kind) => random.chance(FAULTS[kind][0]));
  const faults = kinds.flatMap((kind) =>
    Array.from({ length: random.between(1, FAULTS[kind][1] + 1) }, () => planFault(kind, random, span, base)),
  );
  const reviewers = planReviewers(random);
  return { ...base, reviewers, faults, messages: random.chance(0.5) ? planMessages(random, runs, span) : [] };
}

function planMessages(random: SeededRandom, runs: Plan['runs'], span: number): Plan['messages'] {
  return Array.from({ length: random.between(1, 6) }, (_, index) => {
    const { id, at } = random.pick(runs);
    return { id: `message${index}`, run: id, at: at + random.below(span), when: random.pick(MESSAGE_TIMES) };
  });
}

function planRuns(random: SeededRandom, span: number): readonly PlannedRun[] {
  const durabilities = random.chance(0.6) ? (['step'] as const) : RUN_DURABILITIES;
  const haveTimeouts = random.chance(0.2);
  return Array.from({ length: random.between(1, 4) }, (_, index) => ({
    id: `run${index}`,
    at: random.below(span * 0.5),
    durability: random.pick(durabilities),
    ...(haveTimeouts && random.chance(0.5) ? { runTimeout: random.between(200, 15_000) } : {}),
  }));
}

function planReviewers(random: SeededRandom): readonly PlannedReviewer[] {
  return Array.from({ length: random.between(1, 4) }, (_, index) => ({
    name: `reviewer${index}`,
    interval: random.between(300, 2_500),
    thinking: random.chance(0.5) ? 50 : random.between(100, 5_000),
    rejects: random.chance(0.2) ? 0.3 : 0,
  }));
}

function planFault(
  kind: FaultKind,
  random: SeededRandom,
  span: number,
  { slots, runs, lease }: Pick<Plan, 'slots' | 'runs' | 'lease'>,
): Fault {
  const at = random.below(span);
  const slot = random.below(slots);
  const restartAfter = random.below(random.chance(0.5) ? 500 : 5_000);
  const write = random.between(1, random.chance(0.5) ? 12 : 50);
  // Half of those that last are longer than a lease.
  const duration = random.between(100, random.chance(0.5) ? 2_000 : lease * 2.5);
  switch (kind) {
    case 'kill':
      return { kind, at, slot, restartAfter };
    case 'killAtWrite':
      return { kind, write, slot, isWritten: random.chance(0.5), restartAfter };
    case 'close':
      return {
        kind,
        at,
        slot,
        restartAfter,
        ...(random.chance(0.7) ? { grace: random.below(8_000) } : {}),
      };
    case 'pause':
    case 'partition':
      return { kind, at, slot, duration };
    case 'outage':
      return { kind, at, duration };
    case 'lostReply':
      return { kind, write, slot };
    case 'lateWrite':
      return {
        kind,
        write,
        slot,
        delay: random.below(random.chance(0.5) ? 3_000 : lease * 2),
      };
    case 'clockJump':
      return { kind, at, slot, by: random.between(-3_600_000, 3_600_000) };
    case 'cancel':
      return {
        ...{ kind, at, slot, run: random.pick(runs).id },
        ...(random.chance(0.5) ? { killOwnerAfter: random.below(random.chance(0.5) ? 10 : 1_000) } : {}),
      };
  }
}
