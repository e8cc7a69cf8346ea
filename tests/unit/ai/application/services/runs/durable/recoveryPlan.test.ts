/** Simulates processes that die of a run, or of something else: which runs are parked, and how long the others wait. */
import { expect } from 'chai';
import { planRecovery } from '../../../../../../../imports/business/ai/application/services/runs/durable/recoveryPlan';
import type { LeasedRun } from '../../../../../../../imports/business/ai/domain/types/RunRecords';
import { seededRandom } from '../../../../../../../scripts/seed/seededRandom';

interface SimulatedRun {
  readonly id: string;
  /** Seconds of work until it makes progress. */
  readonly work: number;
  /** Seconds of work until it kills its process. */
  readonly fuse?: number;
  owner: string;
  takeovers: number;
  startsAt: number;
  end: 'done' | 'parked' | undefined;
  endedAt: number;
}

interface World {
  readonly deaths: number;
  /** Seconds. */
  readonly time: number;
}

interface Conditions {
  /** Seconds for which a process lives at most, until `calmAt`. */
  readonly lifetime?: () => number;
  /** From then on nothing but runs kills processes. */
  readonly calmAt?: number;
  readonly until: number;
}

const SCAN_SECONDS = 5;
const TRIAL_SECONDS = 120;
const LONE_TRIAL_SECONDS = 600;
const RUNS_PER_SCAN = 100;
const READ_PER_SCAN = 1_000;

function run(id: string, work: number, fuse?: number): SimulatedRun {
  const bomb = fuse === undefined ? {} : { fuse };
  return { id, work, ...bomb, owner: 'p0', takeovers: 0, startsAt: 0, end: undefined, endedAt: 0 };
}

/** One process after another on one store. The first has just died with all runs. */
function simulate(runs: readonly SimulatedRun[], { lifetime, calmAt = 0, until }: Conditions): World {
  let time = 0;
  let deaths = 1;
  while (time < until && runs.some(({ end }) => end === undefined)) {
    time = live(runs, `p${deaths}`, time + 1, time < calmAt ? (lifetime?.() ?? Infinity) : Infinity, until);
    deaths += 1;
  }
  return { deaths: deaths - 1, time };
}

/** @returns when the process died, or had nothing left to do */
function live(runs: readonly SimulatedRun[], owner: string, bornAt: number, lifetime: number, until: number): number {
  let cleared = 0;
  let trial: { readonly ids: ReadonlySet<string>; readonly endsAt: number } | undefined;
  for (let scanAt = bornAt; scanAt < until; scanAt += SCAN_SECONDS) {
    const open = runs.filter(({ end }) => end === undefined);
    if (trial !== undefined) {
      const { ids, endsAt } = trial;
      const isUnderWay = open.some((mine) => ids.has(mine.id) && mine.owner === owner && mine.takeovers > 0);
      if (!isUnderWay || scanAt >= endsAt) {
        cleared = isUnderWay ? 0 : ids.size;
        trial = undefined;
      }
    }
    const orphaned = open.filter((other) => other.owner !== owner).slice(0, READ_PER_SCAN);
    const byId = new Map(orphaned.map((orphan) => [orphan.id, orphan]));
    const steps = planRecovery(orphaned.map(toLease), {
      ownerId: owner,
      isTrying: trial !== undefined,
      cleared,
      uptime: (scanAt - bornAt) / SCAN_SECONDS,
      limit: RUNS_PER_SCAN,
      room: Infinity,
    });
    for (const { kind, lease, takeovers } of steps) {
      const taken = byId.get(lease.executionId)!;
      Object.assign(taken, { owner, takeovers, startsAt: scanAt });
      if (kind === 'park') finish(taken, 'parked', scanAt);
    }
    const ids = steps.filter(({ kind }) => kind === 'try').map(({ lease }) => lease.executionId);
    if (ids.length > 0)
      trial = { ids: new Set(ids), endsAt: scanAt + (ids.length === 1 ? LONE_TRIAL_SECONDS : TRIAL_SECONDS) };
    const scanEnd = Math.min(scanAt + SCAN_SECONDS, bornAt + lifetime);
    const mine = open.filter((own) => own.owner === owner && own.end === undefined);
    const diesAt = Math.min(
      bornAt + lifetime,
      ...mine.map(({ startsAt, fuse = Infinity }) => startsAt + fuse).filter((at) => at <= scanEnd),
    );
    for (const own of mine)
      if (own.startsAt + own.work <= Math.min(diesAt, scanEnd)) finish(own, 'done', own.startsAt + own.work);
    if (diesAt <= scanEnd) return diesAt;
    if (runs.every(({ end }) => end !== undefined)) return scanEnd;
  }
  return until;
}

function finish(finished: SimulatedRun, end: 'done' | 'parked', time: number): void {
  Object.assign(finished, { end, endedAt: time, takeovers: 0 });
}

function toLease({ id, owner, takeovers }: SimulatedRun): LeasedRun {
  return { executionId: id, userId: 'ann', owner, fence: 1, takeovers };
}

describe('the plan of the recovery', () => {
  const random = seededRandom(20_261_122);
  const between = (least: number, most: number): number => least + random() * (most - least);
  const innocents = (count: number): SimulatedRun[] =>
    Array.from({ length: count }, (_, index) => run(`r${index}`, 1 + Math.floor(random() * 4)));
  const last = (runs: readonly SimulatedRun[]): number => Math.max(...runs.map(({ endedAt }) => endedAt));
  const parked = (runs: readonly SimulatedRun[]): readonly string[] =>
    runs.filter(({ end }) => end === 'parked').map(({ id }) => id);

  for (const poisons of [0, 1, 3])
    it(`parks ${poisons} runs that kill their processes, among 10,000 others`, () => {
      const runs = innocents(10_000);
      for (let index = 0; index < poisons; index += 1)
        runs.splice(Math.floor(random() * runs.length), 0, run(`poison ${index}`, Infinity, 0.5 + random()));
      const { deaths } = simulate(runs, { until: 40_000 });
      expect(parked(runs).toSorted()).to.deep.equal(Array.from({ length: poisons }, (_, index) => `poison ${index}`));
      const others = runs.filter(({ fuse }) => fuse === undefined);
      expect(others.every(({ end }) => end === 'done')).to.equal(true);
      expect(deaths).to.be.at.most(1 + poisons * 20);
    });

  it('parks no slow run among those that kill their processes, at once or after a while', () => {
    for (let schedule = 0; schedule < 40; schedule += 1) {
      const slow = Array.from({ length: 1 + Math.floor(random() * 10) }, (_, index) =>
        run(`slow ${index}`, between(1, 300)),
      );
      const poisons = [0, 1, 2].map((index) => run(`poison ${index}`, Infinity, between(0.1, 100)));
      const runs = [...slow, ...poisons].toSorted(() => random() - 0.5);
      simulate(runs, { until: 60_000 });
      expect(parked(runs).toSorted(), `schedule ${schedule}`).to.deep.equal(['poison 0', 'poison 1', 'poison 2']);
    }
  });

  it('parks no run where something else kills processes every six seconds', () => {
    const runs = [...innocents(40), ...Array.from({ length: 13 }, (_, index) => run(`long ${index}`, 10))];
    const { deaths } = simulate(runs, { lifetime: () => 6, calmAt: 600, until: 3_000 });
    expect(deaths).to.be.greaterThan(50);
    expect(runs.filter(({ end }) => end !== 'done')).to.deep.equal([]);
  });

  it('parks no run that takes longer than processes live that something else kills at random', () => {
    for (let schedule = 0; schedule < 40; schedule += 1) {
      const mean = between(5, 60);
      const runs = Array.from({ length: 5 }, (_, index) => run(`long ${index}`, between(1, 3) * mean));
      simulate(runs, { lifetime: () => -Math.log(1 - random()) * mean, calmAt: 5_000, until: 20_000 });
      expect(parked(runs), `schedule ${schedule}`).to.deep.equal([]);
      expect(runs.filter(({ end }) => end !== 'done')).to.deep.equal([]);
    }
  });

  it('tries more runs together that died alone, once one has made progress, and blames none of them', () => {
    const suspects = ['a', 'b', 'c'].map((id) => toLease({ ...run(id, 1), takeovers: 1_003 }));
    const conditions = { ownerId: 'p1', isTrying: false, uptime: 1_000, limit: 1, room: Infinity };
    const tried = (cleared: number): readonly (readonly [string, number])[] =>
      planRecovery(suspects, { ...conditions, cleared }).map((step) => [step.lease.executionId, step.takeovers]);
    expect(tried(0)).to.deep.equal([['a', 1_004]]);
    expect(tried(1)).to.deep.equal(suspects.map(({ executionId }) => [executionId, 1_003]));
  });

  it('recovers 40 runs within 20 seconds after six crashes in a row', () => {
    for (let schedule = 0; schedule < 50; schedule += 1) {
      const runs = innocents(40);
      let crashes = 0;
      let crashedAt = 0;
      const lifetime = (): number => {
        crashes += 1;
        if (crashes > 5) return Infinity;
        const seconds = between(0.2, 4);
        crashedAt += 1 + seconds;
        return seconds;
      };
      simulate(runs, { lifetime, calmAt: Infinity, until: 1_000 });
      expect(crashes).to.equal(6);
      expect(runs.filter(({ end }) => end !== 'done')).to.deep.equal([]);
      expect(Math.round(last(runs) - crashedAt)).to.be.at.most(20);
    }
  });
});
