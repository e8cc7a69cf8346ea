import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteDatabase } from '../../../../../imports/database/sqlite/SqliteDatabase';
import { QueuedRunTurns } from '../../../../../imports/business/ai/infrastructure/persistence/runs/QueuedRunTurns';
import { RUNS } from '../../../../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import type { RunDocument } from '../../../../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { explainedQueries } from '../../../../support/explainedQueries';

describe('the next queued run', () => {
  it('is found in the order of an index, without reading all that wait', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-turns-'));
    const database = await openSqliteDatabase({ directory });
    const runs = database.collection<RunDocument>(RUNS);
    const turns = new QueuedRunTurns(runs, {} as never);
    await turns.ensureIndexes();
    const waiting = { state: 'queued', owner: '', isDue: true, userId: 'bob', globalPriority: 0, priority: 0 };
    await runs.insert({ _id: 'r', createdAt: 1, ...waiting } as RunDocument);
    const steps = await explainedQueries(async () => {
      const turn = { now: 1, after: 'ann', except: ['x'], fullUsers: [], keys: [] };
      expect(await turns.next(turn)).to.have.property('executionId', 'r');
    });
    const reads = steps.filter((step) => !step.includes('INTEGER PRIMARY KEY'));
    // It reads the runs that become due, the first of all, and the first of the next user.
    expect(reads).to.have.length(3);
    for (const step of reads) expect(step).to.match(/^SEARCH ai_runs USING INDEX/);
    await database.close();
    await rm(directory, { recursive: true });
  });
});
