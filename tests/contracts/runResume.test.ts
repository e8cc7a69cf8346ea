/** A run with tools of every kind is interrupted at each of its writes, and continues in another process. */
import { expect } from 'chai';
import type { RunResult } from '../../imports/business/ai/domain/entities/Run';
import type { RunStore, StoredRun } from '../../imports/business/ai/domain/interfaces/RunStore';
import { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import type { RunDurability } from '../../imports/business/ai/domain/types/RunRecords';
import { MeteorDatabase } from '../../imports/database/meteor/MeteorDatabase';
import { resetMeteor } from '../stubs/server/registry';
import { checkMixedRun, uncertainCalls } from '../support/durable/checkMixedRun';
import { IS_SOAK, itInSoak } from '../support/soak';
import { haltingStore } from '../support/durable/HaltingStore';
import { TOOLS } from '../support/durable/mixedTools';
import { World } from '../support/durable/World';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';
import { inFlowingTime } from '../support/VirtualTime';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const RUN = 'run';

/** Interrupts the run at each of the given writes, one process after another. The last process survives. */
async function live(
  store: RunStore,
  halts: readonly (readonly [number, 'before' | 'after'])[],
  durability: RunDurability = 'step',
): Promise<
  | {
      readonly world: World;
      readonly stored: StoredRun;
      readonly result: RunResult;
      readonly writes: number;
      readonly uncertain: ReadonlySet<string>;
      readonly hasLostCall: boolean;
    }
  | undefined
> {
  const world = new World(store);
  const uncertain = new Set<string>();
  let hasLostCall = false;
  for (const [at, moment] of halts) {
    const halting = haltingStore(world.store, at, moment);
    const loop = world.process(halting.store, halting.isHalted);
    const left = await store.load(RUN);
    const ended =
      left === undefined
        ? loop.execute('ann', {
            model: 'm',
            input: 'go',
            tools: TOOLS,
            executionId: RUN,
            maxIterations: 20,
            durability,
          })
        : loop.resume(RUN);
    ended.catch(() => undefined);
    if (left !== undefined) void world.attend(RUN);
    const outcome = await Promise.race([ended.then((result) => ({ result })), halting.halted.then(() => undefined)]);
    // The dead process still holds timers, and may be about to start the run.
    if (halting.isHalted()) setImmediate(() => void loop.cancel(RUN));
    const found = await store.load(RUN);
    if (found === undefined) return undefined;
    if (outcome !== undefined)
      return { world, stored: found, result: outcome.result, writes: halting.writes(), uncertain, hasLostCall };
    hasLostCall ||= found.run.isCalling;
    for (const id of uncertainCalls(found)) uncertain.add(id);
  }
  throw new Error('the last process has to live');
}

/** @param durability less than `step` forgets what the last requests contained */
function check(
  { world, stored, result, uncertain, hasLostCall }: NonNullable<Awaited<ReturnType<typeof live>>>,
  durability: RunDurability = 'step',
): void {
  const { requests, effects, events, reviewed } = world;
  checkMixedRun(stored, effects, durability === 'step' ? requests : []);
  expect(result.transcript).to.deep.equal(stored.run.transcript);
  expect([...reviewed].sort(), 'reviewed').to.deep.equal([...uncertain].sort());
  for (const [index, { seq }] of events.entries()) if (index > 0) expect(seq).to.be.greaterThan(events[index - 1]!.seq);
  // A process that dies right after recording the end emits no final event.
  const ends = events.filter(({ type }) => type === 'run:completed');
  expect(ends).to.have.length.at.most(1);
  if (ends.length === 1) expect(events.at(-1)).to.equal(ends[0]);
  expect(result.usage.estimated === true, 'usage is estimated').to.equal(hasLostCall);
}

const STORES: Readonly<Record<string, () => Promise<RunStore>>> = {
  memory: () => Promise.resolve(new MemoryRunStore()),
  documents: async () => {
    resetMeteor();
    const store = new DocumentRunStore(new MeteorDatabase(METEOR_PACKAGES));
    await store.ensureIndexes();
    return store;
  },
};

for (const [name, open] of Object.entries(STORES)) {
  /** Every write in memory, and everywhere in the full test run; otherwise a sample. */
  const step = IS_SOAK || name === 'memory' ? 1 : 5;
  describe(
    `an interrupted run (${name})`,
    inFlowingTime(() => {
      after(() => resetMeteor());

      const continues = async (durability: RunDurability): Promise<void> => {
        const stored = await live(await open(), [[Infinity, 'before']], durability);
        check(stored!, durability);
        expect(stored!.uncertain.size).to.equal(0);
        const uncertain = new Set<string>();
        let lostCalls = 0;
        for (let at = 1; at <= stored!.writes; at += step) {
          for (const moment of ['before', 'after'] as const) {
            const halts = [
              [at, moment],
              [Infinity, 'before'],
            ] as const;
            const lived = await live(await open(), halts, durability);
            if (lived === undefined) {
              // The run was never confirmed to its caller.
              expect([at, moment]).to.deep.equal([1, 'before']);
              continue;
            }
            try {
              check(lived, durability);
            } catch (error) {
              throw new Error(`stopped ${moment} write ${at}: ${String(error)}`, { cause: error });
            }
            for (const id of lived.uncertain) uncertain.add(id);
            if (lived.hasLostCall) lostCalls += 1;
          }
        }
        // Otherwise the interruptions missed the critical writes, as a sample of every fifth may.
        if (step === 1) expect(uncertain.size).to.be.at.least(4);
        if (step === 1 && durability === 'step') expect(lostCalls).to.be.at.least(4);
      };

      it('continues from each of its writes, whether or not the write took effect', async () => {
        await continues('step');
      });

      itInSoak('continues so when each turn is stored, or as little as possible', async () => {
        await continues('turn');
        await continues('end');
      });

      it(`continues however often it is interrupted (seed ${SEED})`, async () => {
        const random = seededRandom(SEED);
        for (let round = 0; round < (IS_SOAK ? 200 : 20 / step); round += 1) {
          const halts = Array.from(
            { length: 1 + Math.floor(random() * 5) },
            () => [2 + Math.floor(random() * 14), random() < 0.5 ? 'before' : 'after'] as const,
          );
          const lived = await live(await open(), [...halts, [Infinity, 'before']]);
          try {
            check(lived!);
          } catch (error) {
            throw new Error(`round ${round}, stopped at ${JSON.stringify(halts)}: ${String(error)}`, { cause: error });
          }
        }
      });
    }),
  );
}
