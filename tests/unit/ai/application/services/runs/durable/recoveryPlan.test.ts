/** Simulates processes that die of a run, or of something else: which runs are parked, and how long the others wait. */
import { expect } from 'chai';
import { planRecovery } from '../../../../../../../imports/business/ai/application/services/runs/durable/recoveryPlan';
import type { LeasedRun, RunTrial } from '../../../../../../../imports/business/ai/domain/types/RunRecords';
import { seededRandom } from '../../../../../../../scripts/seed/seededRandom';

interface SimulatedRun {
  readonly id: string;
  /** Seconds of work until it makes progress. */
  readonly work: number;
  /** Seconds of work until it kills its process. */
  readonly fuse?: number;
  owner: string;
  takeovers: number;
  trial: RunTrial | undefined;
  startsAt: number;
  end: 'done' | 'parked' | undefined;
  endedAt: number;
}

interface World {
  readonly runs: readonly SimulatedRun[];
  readonly deaths: number;
  /** Seconds. */
  readonly time: number;
}

interface Conditions {
  /** Seconds for which a process lives at most, until `calmAt`. */
  readonly lifetime?: number;
  /** From then on nothing but runs kills processes. */
  readonly calmAt?: number;
  readonly until: number;
}

const SCAN_SECONDS = 5;
const TRIAL_SECONDS = 60;
const RUNS_PER_SCAN = 100;
const READ_PER_SCAN = 1_000;

function run(id: string, work: number, fuse?: number): SimulatedRun {
  return {
    id,
    work,
    ...(fuse === undefined ? {} : { fuse }),
    owner: 'p0',
    takeovers: 0,
    trial: undefined,
    startsAt: 0,
    end: undefined,
    endedAt: 0,
  };
}

/** One process after another on one store. The first has just died with all runs. */
function simulate(runs: readonly SimulatedRun[], { lifetime = Infinity, calmAt = 0, until }: Conditions): World {
  let time = 0;
  let deaths = 1;
  while (time < until && runs.some(({ end }) => end === undefined)) {
    time = live(runs, `p${deaths}`, time + 1, time < calmAt ? lifetime : Infinity, until);
    deaths += 1;
  }
  return { runs, deaths: deaths - 1, time };
}

/** @returns when the process died, or had nothing left to do */
function live(runs: readonly SimulatedRun[], owner: string, bornAt: number, lifetime: number, until: number): number {
  let survived = 0;
  let trial: { readonly ids: ReadonlySet<string>; readonly endsAt: number } | undefined;
  for (let scanAt = bornAt; scanAt < until; scanAt += SCAN_SECONDS) {
    const open = runs.filter(({ end }) => end === undefined);
    const isTrying =
      trial !== undefined &&
      scanAt < trial.endsAt &&
      open.some((mine) => trial?.ids.has(mine.id) === true && mine.owner === owner && mine.takeovers > 0);
    if (trial !== undefined && !isTrying) {
      survived = trial.ids.size;
      trial = undefined;
    }
    const orphaned = open.filter((other) => other.owner !== owner).slice(0, READ_PER_SCAN);
    const byId = new Map(orphaned.map((orphan) => [orphan.id, orphan]));
    const steps = planRecovery(orphaned.map(toLease), {
      ownerId: owner,
      isTrying,
      uptime: (scanAt - bornAt) * 1_000,
      survived,
      now: scanAt * 1_000,
      limit: RUNS_PER_SCAN,
      room: Infinity,
    });
    for (const step of steps) {
      const taken = byId.get(step.lease.executionId)!;
      const hold = (step.holdMs ?? 0) / 1_000;
      Object.assign(taken, { owner, takeovers: step.takeovers, startsAt: scanAt + hold });
      taken.trial = step.trial === undefined ? undefined : { ...step.trial, startedAt: taken.startsAt * 1_000 };
      if (step.kind === 'park') finish(taken, 'parked', scanAt);
    }
    const tried = steps.filter(({ kind }) => kind === 'try');
    if (tried.length > 0)
      trial = {
        ids: new Set(tried.map(({ lease }) => lease.executionId)),
        endsAt: scanAt + TRIAL_SECONDS + Math.max(...tried.map(({ holdMs = 0 }) => holdMs / 1_000)),
      };
    const scanEnd = Math.min(scanAt + SCAN_SECONDS, bornAt + lifetime);
    const mine = open.filter((own) => own.owner === owner && own.end === undefined);
    const diesAt = Math.min(
      bornAt + lifetime,
      ...mine.map(({ startsAt, fuse = Infinity }) => startsAt + fuse).filter((at) => at <= scanEnd),
    );
    for (const own of mine) {
      if (own.startsAt + own.work <= Math.min(diesAt, scanEnd)) finish(own, 'done', own.startsAt + own.work);
      // It was still held.
      else if (diesAt <= scanEnd && own.trial !== undefined && own.startsAt >= diesAt)
        own.trial = { ...own.trial, size: 0 };
    }
    if (diesAt <= scanEnd) return diesAt;
    if (runs.every(({ end }) => end !== undefined)) return scanEnd;
  }
  return until;
}

function finish(finished: SimulatedRun, end: 'done' | 'parked', time: number): void {
  Object.assign(finished, { end, endedAt: time, takeovers: 0 });
}

function toLease({ id, owner, takeovers, trial }: SimulatedRun): LeasedRun {
  return { executionId: id, userId: 'ann', owner, fence: 1, takeovers, ...(trial === undefined ? {} : { trial }) };
}

describe('the plan of the recovery', () => {
  const random = seededRandom(20_261_122);
  const innocents = (count: number): SimulatedRun[] =>
    Array.from({ length: count }, (_, index) => run(`r${index}`, 1 + Math.floor(random() * 4)));
  const last = (runs: readonly SimulatedRun[]): number => Math.max(...runs.map(({ endedAt }) => endedAt));

  for (const poisons of [0, 1, 3])
    it(`parks ${poisons} runs that kill their processes, among 10,000 others`, () => {
      const runs = innocents(10_000);
      for (let index = 0; index < poisons; index += 1)
        runs.splice(Math.floor(random() * runs.length), 0, run(`poison ${index}`, Infinity, 0.5 + random()));
      const { deaths } = simulate(runs, { until: 20_000 });
      const parked = runs.filter(({ end }) => end === 'parked').map(({ id }) => id);
      expect(parked.toSorted()).to.deep.equal(Array.from({ length: poisons }, (_, index) => `poison ${index}`));
      const others = runs.filter(({ fuse }) => fuse === undefined);
      expect(others.every(({ end }) => end === 'done')).to.equal(true);
      console.log(`      ${poisons} of 10,000: ${deaths} deaths, the last of the others done after ${last(others)} s`);
      expect(deaths).to.be.at.most(1 + poisons * 16);
    });

  it('parks no run where something else kills processes every six seconds', () => {
    const runs = [...innocents(40), ...Array.from({ length: 13 }, (_, index) => run(`long ${index}`, 10))];
    const { deaths } = simulate(runs, { lifetime: 6, calmAt: 600, until: 2_000 });
    expect(deaths).to.be.greaterThan(50);
    expect(runs.filter(({ end }) => end !== 'done')).to.deep.equal([]);
    const short = runs.filter(({ work }) => work < 6);
    console.log(`      done after ${last(short)} s, those that need 10 s after ${last(runs)} s`);
  });

  it('recovers 40 runs within seconds after three crashes', () => {
    const runs = innocents(40).map((own) => Object.assign(own, { takeovers: 2 }));
    const { time, deaths } = simulate(runs, { until: 1_000 });
    expect(deaths).to.equal(1);
    expect(time).to.be.at.most(16);
  });
});
