/** Chooses a schedule of the machine. Each has its own few faults: all of them at once would hide what each does. */
import { SeededRandom } from '../SeededRandom';
import { MESSAGE_TIMES } from '../../../imports/business/ai/domain/types/RunMessages';
import type { MachineFault, MachinePlan, Pace, PlannedCall, PlannedMessage, PlannedTurn } from './MachinePlan';
import { TOOL_NAMES } from './simulatedTools';
import type { ToolName } from './simulatedTools';

const PACES: readonly Pace[] = ['store', 'reply', 'model', 'tool', 'call', 'person', 'process'];
/** Limits that no schedule reaches. */
export const PLENTY = { maxIterations: 50, maxToolErrors: 50, maxParallelTools: 8, runTimeout: 1 } as const;
/** A schedule takes about so many steps without faults. */
const STEPS = 90;

type Chooser = (random: SeededRandom, plan: Pick<MachinePlan, 'processes'>) => MachineFault;

/** How likely a kind of fault is part of a schedule, how many there are at most, and what they are. */
const FAULTS: readonly (readonly [probability: number, most: number, choose: Chooser])[] = [
  [0.2, 2, (random, { processes }) => ({ kind: 'kill', at: random.below(STEPS), process: random.below(processes) })],
  [0.2, 2, (random) => ({ kind: 'killAtEffect', nth: random.below(STEPS) })],
  [0.3, 2, (random) => ({ kind: 'killAtWrite', nth: random.below(14), isWritten: random.chance(0.6) })],
  [0.25, 2, chooseWrite],
  [
    0.12,
    1,
    (random, { processes }) => ({
      ...{ kind: 'cut', at: random.below(STEPS), process: random.below(processes) },
      steps: random.between(5, 40),
    }),
  ],
  [
    0.12,
    1,
    (random, { processes }) => ({
      ...{ kind: 'drain', at: random.below(STEPS), process: random.below(processes) },
      steps: random.between(5, 40),
    }),
  ],
  [0.1, 2, (random) => ({ kind: 'cancel', at: random.below(STEPS), isStored: random.chance(0.5) })],
  [0.04, 1, (random) => ({ kind: 'cancelAtEvent', nth: random.below(40) })],
  [0.03, 1, (random) => ({ kind: 'deadline', at: random.below(STEPS) })],
  [0.2, 2, chooseModel],
  [0.1, 2, (random) => ({ kind: 'unload', at: random.between(20, STEPS) })],
];

export function planMachineSchedule(seed: number): MachinePlan {
  const random = new SeededRandom(Math.imul(seed, 0x9e3779b1) ^ 0x51ab);
  const processes = random.between(1, 4);
  const faults: MachineFault[] = [];
  for (const [probability, most, choose] of FAULTS) {
    if (!random.chance(probability)) continue;
    const count = random.between(1, most + 1);
    for (let index = 0; index < count; index += 1) faults.push(choose(random, { processes }));
  }
  return {
    seed,
    processes,
    durability: random.chance(0.85) ? 'step' : random.chance(0.5) ? 'turn' : 'end',
    limits: chooseLimits(random),
    turns: chooseTurns(random),
    streams: random.chance(0.2),
    tellsRecorded: random.chance(0.5),
    slow: random.chance(0.5)
      ? [random.pick(PACES)]
      : random.chance(0.5)
        ? [random.pick(PACES), random.pick(PACES)]
        : [],
    rejects: random.chance(0.3) ? 0.5 : 0.1,
    faults,
    messages: random.chance(0.4) ? chooseMessages(random) : [],
  };
}

function chooseMessages(random: SeededRandom): readonly PlannedMessage[] {
  return Array.from({ length: random.between(1, 5) }, () => {
    const message = { at: random.below(STEPS), when: random.pick(MESSAGE_TIMES) };
    if (!random.chance(0.25)) return message;
    const to = random.pick([...MESSAGE_TIMES, 'withdrawn'] as const);
    return { ...message, change: { after: random.below(STEPS / 3), to } };
  });
}

function chooseTurns(random: SeededRandom): readonly PlannedTurn[] {
  const count = random.between(1, 5);
  const fails = random.chance(0.15) ? 0.8 : 0.1;
  const detaches = random.chance(0.2) ? 0.4 : 0.03;
  // A few tools at a time, so that their calls meet.
  const tools = [random.pick(TOOL_NAMES), random.pick(TOOL_NAMES), random.pick(TOOL_NAMES)];
  return Array.from({ length: count }, (): PlannedTurn => {
    const kind = random.next();
    if (kind < 0.08) return { kind: 'pause' };
    if (kind < 0.23) return { kind: 'answer' };
    if (kind < 0.25) return { kind: 'cutOff' };
    const calls = Array.from({ length: random.between(1, random.chance(0.3) ? 5 : 3) }, () =>
      chooseCall(random, tools, fails, detaches),
    );
    return { kind: 'calls', calls };
  });
}

function chooseCall(random: SeededRandom, tools: readonly ToolName[], fails: number, detaches: number): PlannedCall {
  const tool = random.pick(tools);
  const isOk = !random.chance(fails);
  const chance = random.next();
  const outcome = isOk ? 'ok' : chance < 0.4 ? 'fails' : chance < 0.6 ? 'invalid' : chance < 0.8 ? 'timeout' : 'late';
  return {
    ...{ tool, outcome },
    ...(random.chance(0.1) ? { progress: random.between(1, 3) } : {}),
    ...(random.chance(detaches) ? { detaches: true } : {}),
    ...(random.chance(0.08) ? { reusesId: true } : {}),
  };
}

function chooseLimits(random: SeededRandom): MachinePlan['limits'] {
  const limits = { ...PLENTY, maxParallelTools: random.chance(0.2) ? random.between(1, 3) : 8 };
  const kind = random.next();
  if (kind < 0.06) return { ...limits, maxIterations: random.between(1, 4) };
  if (kind < 0.16) return { ...limits, maxToolErrors: random.between(1, 3) };
  if (kind < 0.2) return { ...limits, budget: { calls: random.between(1, 5) } };
  if (kind < 0.24) return { ...limits, budget: { tokens: random.between(20, 120) } };
  return limits;
}

function chooseWrite(random: SeededRandom): MachineFault {
  return {
    kind: 'write',
    nth: random.below(16),
    outcome: random.pick(['lost', 'unanswered', 'late', 'twice', 'half'] as const),
  };
}

function chooseModel(random: SeededRandom): MachineFault {
  const chance = random.next();
  const does = chance < 0.15 ? 'fail' : chance < 0.45 ? 'retry' : chance < 0.8 ? 'refuse' : 'compact';
  return { kind: 'model', nth: random.below(5), does };
}
