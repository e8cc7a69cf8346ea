/** The pool: owners take turns, threads are replaced, and what one job does harms no other. */
import { expect } from 'chai';
import { restore, stub } from 'sinon';
import { SchemaWorkers } from '../../../../../../imports/business/ai/application/services/schema/SchemaWorkers';
import type { SchemaJob } from '../../../../../../imports/business/ai/application/services/schema/schemaJob';
import { itInSoak } from '../../../../../support/soak';

const ENDLESS: SchemaJob = {
  schema: JSON.stringify({ pattern: '^(a+)+$' }),
  check: { value: `${'a'.repeat(60)}!`, repair: false },
};
const HARMLESS: SchemaJob = { schema: '{"type":"string"}', check: { value: 'x', repair: false } };

describe('schema workers', () => {
  let workers = new SchemaWorkers();
  afterEach(async () => {
    restore();
    await workers.close();
  });

  itInSoak('give one user no more than a share of the threads', async () => {
    workers = new SchemaWorkers({ timeLimitMs: 3_000 });
    const ended: string[] = [];
    const attack = Promise.all(
      Array.from({ length: 2 }, () =>
        workers.run(ENDLESS, 'mallory').then(({ kind }) => ended.push(`mallory ${kind}`)),
      ),
    );
    for (let count = 0; count < 5; count += 1) ended.push(`alice ${(await workers.run(HARMLESS, 'alice')).kind}`);
    await attack;
    expect(ended).to.deep.equal([...new Array<string>(5).fill('alice judged'), 'mallory too-slow', 'mallory too-slow']);
  });

  it('give a job its CPU time, however busy the machine is with other things', async () => {
    // The process is not given any.
    const usage = stub(process, 'cpuUsage').returns({ user: 0, system: 0 });
    workers = new SchemaWorkers({ size: 1, timeLimitMs: 1 });
    expect((await workers.run(HARMLESS, 'a')).kind).to.equal('judged');

    let looks = 0;
    usage.callsFake((before) => ({ user: before === undefined ? 0 : (looks += 1) * 100, system: 100 }));
    expect((await workers.run(ENDLESS, 'a')).kind).to.equal('too-slow');
    // 0.2, 0.3, 0.4 and 0.5 ms of one.
    expect(looks).to.equal(4);
  });

  it('serve owners in turns', async () => {
    workers = new SchemaWorkers({ size: 1 });
    const ended: string[] = [];
    const run = (owner: string): Promise<unknown> => workers.run(HARMLESS, owner).then(() => ended.push(owner));
    await Promise.all([run('a'), run('a'), run('a'), run('b'), run('c')]);
    expect(ended).to.deep.equal(['a', 'a', 'b', 'c', 'a']);
  });

  it('continue after a job that fills the memory', async () => {
    workers = new SchemaWorkers({ size: 1, heapMb: 24, timeLimitMs: 60_000 });
    const items = { anyOf: Array.from({ length: 1_000 }, (_, index) => ({ const: index })) };
    const hungry: SchemaJob = {
      schema: JSON.stringify({ items }),
      check: { value: new Array(9_000).fill('x'), repair: false },
    };
    expect((await workers.run(HARMLESS, 'a')).kind).to.equal('judged');
    expect((await workers.run(hungry, 'a')).kind).to.equal('too-large');
    expect((await workers.run(HARMLESS, 'a')).kind).to.equal('judged');
  });

  it('reject a value that is not plain data, and continue', async () => {
    workers = new SchemaWorkers({ size: 1 });
    const error = await workers
      .run({ ...HARMLESS, check: { value: () => 1, repair: false } }, 'a')
      .catch((thrown: unknown) => thrown);
    expect(error).to.have.property('name', 'DataCloneError');
    expect((await workers.run(HARMLESS, 'a')).kind).to.equal('judged');
  });
});
