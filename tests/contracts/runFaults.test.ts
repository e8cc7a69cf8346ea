/**
 * Vendors, the store, clocks and processes fail at the same time. Every run ends, and the guarantees about effects and
 * results hold for all of them.
 */
import { expect } from 'chai';
import type { RunStore, StoredRun } from '../../imports/business/ai/domain/interfaces/RunStore';
import { isFinished } from '../../imports/business/ai/domain/entities/Run';
import { LLMOverloadedError, LLMServerError, LLMStreamError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { checkTranscript } from '../support/checkTranscript';
import { checkMixedRun } from '../support/durable/checkMixedRun';
import { haltingStore } from '../support/durable/HaltingStore';
import { KEYED, TOOLS } from '../support/durable/mixedTools';
import { World } from '../support/durable/World';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { IS_SOAK } from '../support/soak';
import { inFlowingTime } from '../support/VirtualTime';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const FAULTS = IS_SOAK ? 1_000 : 40;
const RUN = 'run';

interface Weather {
  readonly counts: Map<string, number>;
  /** Whether this fault occurs now. */
  strikes(kind: string, chance: number): boolean;
}

function weather(random: () => number, counts: Map<string, number>): Weather {
  return {
    counts,
    strikes(kind, chance) {
      if (random() >= chance) return false;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return true;
    },
  };
}

/** A store whose writes fail at random, before or after they take effect. */
function failing(store: RunStore, sky: Weather): RunStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      const method = value as (...args: readonly unknown[]) => Promise<unknown>;
      if (!['saveRun', 'saveCalls', 'heartbeat', 'commands', 'removeCommand'].includes(String(name)))
        return method.bind(target);
      return async (...args: readonly unknown[]) => {
        if (sky.strikes('the store fails before', 0.02)) throw new Error('the store failed');
        const outcome = await method.apply(target, args as unknown[]);
        if (sky.strikes('the store fails after', 0.02)) throw new Error('the answer of the store was lost');
        return outcome;
      };
    },
  });
}

async function vendor(sky: Weather, signal: AbortSignal | undefined): Promise<void> {
  if (sky.strikes('the vendor is overloaded', 0.06)) throw new LLMOverloadedError('busy');
  if (sky.strikes('the vendor fails', 0.01)) throw new LLMServerError('down', { retryable: false });
  if (sky.strikes('the answer is cut off', 0.03)) throw new LLMStreamError('cut');
  if (sky.strikes('the vendor stalls', 0.005)) {
    await new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }
}

describe(
  'durable runs under injected faults',
  inFlowingTime(() => {
    let now: () => number;
    beforeEach(() => {
      now = Date.now;
    });
    afterEach(() => {
      Date.now = now;
    });

    it(`are never lost or stuck, with ${FAULTS} faults (seed ${SEED})`, async () => {
      const counts = new Map<string, number>();
      const ends = new Map<string, number>();
      const struck = (): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
      for (let round = 0; struck() < FAULTS; round += 1) {
        const random = seededRandom(SEED + round);
        const sky = weather(random, counts);
        let offset = 0;
        Date.now = () => now() + offset;
        const memory = new MemoryRunStore();
        const world = new World(memory, { runTimeout: 400, beforeResponse: (signal) => vendor(sky, signal) });
        let stored: StoredRun | undefined;
        for (let life = 0; stored === undefined || !isFinished(stored.run.state); life += 1) {
          if (life > 0) sky.counts.set('a process dies', (counts.get('a process dies') ?? 0) + 1);
          const at = random() < 0.7 && life < 6 ? 1 + Math.floor(random() * 40) : Infinity;
          const halting = haltingStore(failing(world.store, sky), at, random() < 0.5 ? 'before' : 'after');
          const loop = world.process(halting.store, halting.isHalted);
          loop.on('event', () => {
            if (sky.strikes('the clock jumps ahead', 0.005)) offset += random() * 3_600_000;
            if (sky.strikes('the clock jumps back', 0.005)) offset -= random() * 3_600_000;
          });
          const ended =
            stored === undefined
              ? loop.execute('ann', { model: 'm', input: 'go', tools: TOOLS, executionId: RUN, maxIterations: 30 })
              : loop.resume(RUN);
          if (stored !== undefined) void world.attend(RUN);
          await Promise.race([ended.catch(() => undefined), halting.halted]);
          // The dead process still holds timers.
          if (halting.isHalted()) void loop.cancel(RUN);
          // A run whose first write failed was never confirmed to its caller.
          stored = await memory.load(RUN);
        }
        try {
          if (stored.run.state === 'completed') checkMixedRun(stored, world.effects, world.requests);
          else checkFailed(stored, world);
        } catch (error) {
          throw new Error(`round ${round}, seed ${SEED}: ${String(error)}`, { cause: error });
        }
        const end = stored.run.error?.code ?? 'completed';
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }
      console.log(`      faults: ${formatCounts(counts)}`);
      console.log(`      ends: ${formatCounts(ends)}`);
      expect(ends.get('completed') ?? 0).to.be.greaterThan(0);
      if (FAULTS >= 1_000)
        for (const way of ['ahead', 'back'])
          expect(counts.get(`the clock jumps ${way}`) ?? 0, way).to.be.greaterThan(0);
    });
  }),
);

describe(
  'durable runs while only the clock misbehaves',
  inFlowingTime(() => {
    let now: () => number;
    beforeEach(() => {
      now = Date.now;
    });
    afterEach(() => {
      Date.now = now;
    });

    it(`complete, and count no more time than has passed, however the clock jumps (seed ${SEED})`, async () => {
      const jumps = { forward: 0, back: 0 };
      for (let round = 0; round < 5; round += 1) {
        const random = seededRandom(SEED + round);
        let offset = 0;
        Date.now = () => now() + offset;
        const memory = new MemoryRunStore();
        const world = new World(memory, { runTimeout: 60_000, beforeResponse: () => Promise.resolve() });
        const began = performance.now();
        let stored: StoredRun | undefined;
        for (let life = 0; stored === undefined || !isFinished(stored.run.state); life += 1) {
          const halting = haltingStore(world.store, life < 3 ? 10 + Math.floor(random() * 10) : Infinity, 'after');
          const loop = world.process(halting.store, halting.isHalted);
          loop.on('event', () => {
            if (random() < 0.5) return;
            const jump = (random() - 0.5) * 7_200_000;
            offset += jump;
            jumps[jump > 0 ? 'forward' : 'back'] += 1;
          });
          const ended =
            stored === undefined
              ? loop.execute('ann', { model: 'm', input: 'go', tools: TOOLS, executionId: RUN, maxIterations: 30 })
              : loop.resume(RUN);
          if (stored !== undefined) void world.attend(RUN);
          await Promise.race([ended.catch(() => undefined), halting.halted]);
          if (halting.isHalted()) void loop.cancel(RUN);
          stored = await memory.load(RUN);
        }
        checkMixedRun(stored, world.effects, world.requests);
        expect(stored.run.worked, `round ${round}`).to.be.within(0, performance.now() - began + 10);
      }
      expect(Math.min(jumps.forward, jumps.back)).to.be.greaterThan(3);
    });
  }),
);

/** What a run did before it failed must satisfy the same guarantees. */
function checkFailed({ run, calls }: StoredRun, { requests, effects }: World): void {
  expect(run.error).to.be.an('object');
  for (const request of requests) checkTranscript(request);
  for (const { id, name } of calls) {
    const times = effects.filter((effect) => effect === `${name} ${RUN}:${id}`).length;
    if (!KEYED.includes(name)) expect(times, `${name} ${id}`).to.be.at.most(1);
  }
}

function formatCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([kind, count]) => `${kind} ${count}`).join(', ');
}
