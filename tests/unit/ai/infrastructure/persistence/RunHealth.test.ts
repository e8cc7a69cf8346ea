/** What operators are told about runs that do not get on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { UNOWNED } from '../../../../../imports/business/ai/domain/entities/Run';
import { openSqliteDatabase } from '../../../../../imports/database/sqlite/SqliteDatabase';
import { RUN_OWNERS, RUNS } from '../../../../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import type { RunDocument } from '../../../../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { RunHealth } from '../../../../../imports/business/ai/infrastructure/persistence/runs/RunHealth';

const NOW = 1_800_000_000_000;

describe('RunHealth', () => {
  it('counts runs by state, those without a living process, and the wait of the oldest that could start', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-health-'));
    const database = await openSqliteDatabase({ directory });
    const runs = database.collection<RunDocument>(RUNS);
    const owners = database.collection(RUN_OWNERS);
    const run = (_id: string, fields: object) =>
      runs.insert({ _id, userId: 'ann', requestId: _id, ...fields } as RunDocument);
    await owners.insertMany([
      { _id: 'alive', beats: 1, seenAt: new Date(NOW - 1_000) },
      // Not a process: something was left to all of them.
      { _id: UNOWNED, beats: 4, seenAt: new Date(NOW - 1_000) },
      { _id: 'dead', beats: 1, seenAt: new Date(NOW - 60_000) },
    ] as never);
    await run('a', { state: 'running', owner: 'alive', createdAt: 1 });
    await run('b', { state: 'running', owner: 'dead', createdAt: 1 });
    await run('c', { state: 'waiting', owner: 'gone', createdAt: 1 });
    // Parked.
    await run('d', { state: 'waiting', owner: '', createdAt: 1 });
    await run('e', { state: 'completed', owner: 'dead', createdAt: 1 });
    await run('f', { state: 'queued', owner: '', createdAt: NOW - 90_000, dueAt: NOW + 1 });
    await run('g', { state: 'queued', owner: '', createdAt: NOW - 30_000 });
    const counts = { approval: 0, review: 2, external: 0, parked: 1, tools: 0, failed: 0 };
    const inbox = { counts: () => Promise.resolve(counts) };
    const shared = { collection: database.collection.bind(database), isExclusive: false };
    expect(await new RunHealth(shared, inbox, () => NOW).read()).to.deep.equal({
      states: { queued: 2, running: 2, waiting: 2 },
      waiting: { ...counts, total: 3 },
      owners: 1,
      overdue: 2,
      oldestQueuedMs: 30_000,
    });
    // No other process can use an embedded database, so nothing is overdue.
    expect(await new RunHealth(database, inbox, () => NOW).read()).to.deep.include({ owners: 0, overdue: 0 });
    await database.close();
    await rm(directory, { recursive: true });
  });
});
