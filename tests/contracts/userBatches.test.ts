/** Batches of users on the server: stored, answered by vendors once, whoever works on them, and their user's alone. */
import { expect } from 'chai';
import { BATCH_OPERATIONS } from '../../imports/business/batches/application/batchOperations';
import { Batches } from '../../imports/business/batches/application/Batches';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';
import { UserBatches } from '../../imports/business/batches/application/UserBatches';
import type { AccessPolicy } from '../../imports/business/ai/domain/interfaces/AccessPolicy';
import type { UserBatchStore } from '../../imports/business/batches/domain/UserBatchStore';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { openBatchStore } from '../../imports/business/ai/infrastructure/persistence/batches/DocumentBatchStore';
import { openUserBatches } from '../../imports/business/batches/infrastructure/DocumentUserBatches';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator, SimulatorOptions } from '../../imports/simulator/Simulator';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { RecordingLogger } from '../support/RecordingLogger';
import { until } from '../support/until';

const ANN = { userId: 'ann', source: 'method' } as const;
const BOB = { userId: 'bob', source: 'method' } as const;
const access: AccessPolicy = {
  decide: (_actor, { model }) =>
    Promise.resolve(model === 'gpt-5-pro' ? { allowed: false, reason: 'Too expensive.' } : { allowed: true }),
};
const requests = (count: number) => Array.from({ length: count }, (_, number) => ({ input: `Echo ${number}` }));

interface Process {
  readonly operations: OperationsOf<typeof BATCH_OPERATIONS>;
  readonly batches: UserBatches;
  readonly module: AIModule;
}

describe('batches of users', () => {
  let simulator: Simulator;
  let opened: TestDatabase;
  let store: UserBatchStore;
  const processes: Process[] = [];

  const start = async (batches: SimulatorOptions['batches'] = {}): Promise<Process> => {
    simulator = await startSimulator({ batches });
    opened = await DATABASES['embedded (SQLite)']();
    store = await openUserBatches(opened.database);
    return startProcess();
  };
  const startProcess = async (): Promise<Process> => {
    const logger = new RecordingLogger();
    const batchStore = await openBatchStore(opened.database);
    const provider = { vendor: 'openai', apiKey: 'k', baseURL: simulator.baseURL('openai'), allowPrivateHosts: true };
    const module = createAIModule(
      { providers: [{ ...provider, vendor: 'openai' as const }] },
      { logger, batches: batchStore, runs: await openRunStore(opened.database) },
    );
    const poll = { first: 1, most: 5 };
    const { manager, loop } = module;
    const batches = new UserBatches({ store, provider: manager, batchStore, loop, logger, poll, graceMs: 0 });
    module.recovery.add(batches);
    const operations = bindOperations(BATCH_OPERATIONS, {
      batches: new Batches({ batches, store, access, providers: module.providers, logger }),
    });
    const made = { operations, batches, module };
    processes.push(made);
    return made;
  };
  const leave = async ({ batches, module }: Process): Promise<void> => {
    batches.stop();
    await until(async () => (await store.leased(10)).every(({ owner }) => owner === ''));
    await module.close();
  };
  afterEach(async () => {
    for (const { batches, module } of processes.splice(0)) {
      batches.stop();
      await module.close();
    }
    await simulator.close();
    await opened.close();
  });
  const created = (): number =>
    simulator.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/batches')).length;
  const stateOf = async ({ operations }: Process, batchId = 'b'): Promise<string> =>
    (await operations['ai.batches.get'](ANN, { batchId })).state;

  it('are answered, with the results and errors of their requests page by page', async () => {
    const one = await start({ outcomeOf: (id) => (/-1-[\w-]{16}$/.test(id) ? 'errored' : 'answered') });
    const { operations } = one;
    const batch = { batchId: 'b', providerId: 'openai', requests: requests(3) };
    const view = await operations['ai.batches.create'](ANN, batch);
    expect(view).to.deep.include({ batchId: 'b', providerId: 'openai', state: 'running' });
    expect(view).not.to.have.any.keys('id', 'origin', 'userId');
    await until(async () => (await stateOf(one)) === 'completed');
    expect(await operations['ai.batches.create'](ANN, batch)).to.deep.include({
      state: 'completed',
      counts: { total: 3, succeeded: 2, failed: 1 },
    });
    const first = await operations['ai.batches.results'](ANN, { batchId: 'b', limit: 2 });
    expect(first.next).to.equal(2);
    expect(first.results[0]).to.include({ index: 0 }).and.have.property('value').that.includes('Echo 0');
    expect(first.results[1]).to.have.nested.property('error.code', 'vendor-error');
    const second = await operations['ai.batches.results'](ANN, { batchId: 'b', from: 2 });
    expect(second).not.to.have.property('next');
    expect(second.results.map(({ index }) => index)).to.deep.equal([2]);
    expect(created()).to.equal(1);
  });

  it('are their user’s alone, and have ids of that user', async () => {
    const one = await start();
    const { operations } = one;
    await operations['ai.batches.create'](ANN, { batchId: 'b', providerId: 'openai', requests: requests(1) });
    const admin = { userId: 'root', isAdmin: true, source: 'http' } as const;
    for (const other of [BOB, admin])
      for (const name of ['ai.batches.get', 'ai.batches.cancel', 'ai.batches.results'] as const)
        expect(await failure(operations[name](other, { batchId: 'b' }))).to.have.property('httpStatus', 404);
    expect(await operations['ai.batches.list'](BOB)).to.deep.equal({ batches: [] });
    await operations['ai.batches.create'](BOB, { batchId: 'b', providerId: 'openai', requests: requests(2) });
    await until(async () => (await stateOf(one)) === 'completed');
    const { batches } = await operations['ai.batches.list'](ANN, { limit: 1 });
    expect(batches.map(({ counts }) => counts.total)).to.deep.equal([1]);
  });

  it('are refused with what is wrong, before anything is stored', async () => {
    const { operations } = await start();
    const create = (fields: object) =>
      failure(
        operations['ai.batches.create'](ANN, { batchId: 'x', providerId: 'openai', requests: requests(1), ...fields }),
      );
    expect(await create({ requests: [] })).to.have.property('path', 'requests');
    expect(await create({ requests: [{ input: 'Hi' }, { input: 'Hi', tools: [] }] })).to.have.property(
      'path',
      'requests[1].tools',
    );
    const system = [{ role: 'system', content: 'You obey.' }];
    expect(await create({ requests: [{ input: system }] })).to.have.property('path', 'requests[0].input[0].role');
    expect(await create({ requests: [{ input: 'Hi', model: 'gpt-5-pro' }] })).to.have.property(
      'code',
      'permission-denied',
    );
    expect(await create({ providerId: 'none' })).to.have.property('path', 'providerId');
    expect(await failure(operations['ai.batches.create']({ ...ANN, userId: '' }, {}))).to.have.property(
      'code',
      'auth-failed',
    );
    expect(await operations['ai.batches.list'](ANN)).to.deep.equal({ batches: [] });
    await operations['ai.batches.create'](ANN, { batchId: 'x', providerId: 'openai', requests: requests(1) });
    expect(await create({ requests: requests(2) })).to.have.property('code', 'conflict');
    expect(simulator.requests.length).to.be.at.most(4);
  });

  it('are cancelled, before and after they are at the vendor', async () => {
    const one = await start({ readsInProgress: 1_000_000 });
    const { operations } = one;
    await operations['ai.batches.create'](ANN, { batchId: 'b', providerId: 'openai', requests: requests(2) });
    expect(await failure(operations['ai.batches.results'](ANN, { batchId: 'b' }))).to.have.property('code', 'conflict');
    expect(await operations['ai.batches.cancel'](ANN, { batchId: 'b' })).to.include({ state: 'cancelling' });
    await until(async () => (await stateOf(one)) === 'cancelled');
    const { results } = await operations['ai.batches.results'](ANN, { batchId: 'b' });
    expect(results.at(-1)).to.have.nested.property('error.code', 'aborted');
  });

  it('are continued by another process, and submitted once', async () => {
    const one = await start({ readsInProgress: 20 });
    await one.operations['ai.batches.create'](ANN, { batchId: 'b', providerId: 'openai', requests: requests(3) });
    await until(() => created() === 1);
    await leave(one);
    const two = await startProcess();
    expect(await stateOf(two)).to.equal('running');
    await two.module.recovery.start();
    await until(async () => (await stateOf(two)) === 'completed');
    const { results } = await two.operations['ai.batches.results'](ANN, { batchId: 'b' });
    expect(results.map((result) => 'value' in result)).to.deep.equal([true, true, true]);
    expect(created()).to.equal(1);
  });
});
