/** A process dies at each step of a vendor's batch. The next one ends it: submitted once, counted once. */
import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BUDGETS, budgetId } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import type { BudgetDocument } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { BatchChildOptions, BatchOutcomes } from '../support/batchChild';
import { bundleChild } from '../support/bundleChild';
import { SIMULATED_VENDORS } from '../support/simulatedProviders';
import { startTestMongo } from '../support/startTestMongo';

const VENDORS = SIMULATED_VENDORS.filter(({ name }) => ['OpenAI Responses', 'Anthropic', 'Google'].includes(name));

describe('batches of vendors whose process is killed', () => {
  let mongo: Awaited<ReturnType<typeof startTestMongo>>;
  let bundle: string;
  let simulator: Simulator;
  before(async () => {
    [mongo, bundle] = await Promise.all([startTestMongo(), bundleChild(join(__dirname, '../support/batchChild.ts'))]);
  });
  after(async () => {
    await mongo.stop();
    await rm(bundle);
  });
  beforeEach(async () => {
    simulator = await startSimulator({ batches: { readsInProgress: 2 }, historyLimit: 10_000 });
  });
  afterEach(() => simulator.close());

  type Child = ReturnType<typeof fork>;
  const startChild = (options: BatchChildOptions): Child => fork(bundle, [JSON.stringify(options)]);
  const outcomesOf = async (child: Child): Promise<BatchOutcomes> =>
    (await (once(child, 'message') as Promise<[BatchOutcomes]>))[0];
  const exited = async (child: Child): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  const created = (): number =>
    simulator.requests.filter(
      ({ method, path, status }) =>
        method === 'POST' && /batches$|batchGenerateContent$/.test(path) && (status ?? 0) < 300,
    ).length;
  const usedCalls = async (userId: string): Promise<unknown> => {
    const database = await openMongoDatabase(mongo.url);
    const account = await database.collection<BudgetDocument>(BUDGETS).findOne({ _id: budgetId(userId) });
    await database.close();
    return account?.day_calls;
  };
  const optionsFor = ({ vendor, wire, model }: (typeof VENDORS)[number], userId: string): BatchChildOptions => ({
    ...{ vendor, wire, model, userId, requests: 3 },
    mongoUrl: mongo.url,
    baseURL: simulator.baseURL(vendor),
  });

  for (const vendor of VENDORS)
    for (const moment of ['request', 'finish'] as const)
      it(`ends at every ${moment} of ${vendor.name}`, async () => {
        let step = 1;
        for (; step < 30; step += 1) {
          const options = optionsFor(vendor, `${vendor.vendor}-${moment}-${step}`);
          const before = created();
          const start = simulator.requests.length;
          const child = startChild(options);
          const kill = (): void => {
            if (simulator.requests.length - start >= step) child.kill('SIGKILL');
          };
          simulator.events.on(moment, kill);
          await exited(child);
          simulator.events.off(moment, kill);
          const wasKilled = child.signalCode === 'SIGKILL';
          if (!wasKilled) break;
          const outcomes = await outcomesOf(startChild(options));
          expect(outcomes.map((text) => /Echo \d/.exec(text)?.[0] ?? text)).to.deep.equal([
            'Echo 0',
            'Echo 1',
            'Echo 2',
          ]);
          expect(created() - before, `batches when killed at the ${moment} ${step}`).to.equal(1);
          expect(await usedCalls(options.userId), `calls when killed at the ${moment} ${step}`).to.equal(3);
        }
        expect(step).to.be.within(4, 29);
      });

  for (const vendor of VENDORS)
    it(`counts each request once if it dies among the results of ${vendor.name}`, async () => {
      for (const dieAfter of [1, 40, 70, 119]) {
        const options = { ...optionsFor(vendor, `${vendor.vendor}-${dieAfter}`), requests: 120 };
        await exited(startChild({ ...options, dieAfter }));
        expect(await outcomesOf(startChild(options))).to.have.length(120);
        expect(await usedCalls(options.userId)).to.equal(120);
      }
      expect(created()).to.equal(4);
    });
});
