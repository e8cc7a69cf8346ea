import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedDatabase } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { itInSoak } from '../../../../../../support/soak';

const DOCUMENTS = 4_000;
const FIELDS = 60;

function documentsFrom(first: number): { readonly _id: string }[] {
  return Array.from({ length: DOCUMENTS }, (_, number) => ({
    _id: `d${first + number}`,
    ...Object.fromEntries(
      Array.from({ length: FIELDS }, (_field, at) => [`f${at}`, { at: first + number + at + 0.5 }]),
    ),
  }));
}

function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

describe('NedbFile', () => {
  itInSoak('has each document in memory once', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-nedb-'));
    const database = await openEmbeddedDatabase({ directory });
    try {
      const rows = database.collection('rows');
      const start = usedHeap();
      const documents = documentsFrom(0);
      const size = usedHeap() - start;
      await rows.insertMany(documents);
      const before = usedHeap();
      await rows.insertMany(documentsFrom(DOCUMENTS));
      // A copy takes about twice the memory of these literals. Another one for NeDB would make it four times.
      expect(usedHeap() - before).to.be.lessThan(3.2 * size);
      expect(documents).to.have.length(DOCUMENTS);
    } finally {
      await database.close();
      await rm(directory, { recursive: true });
    }
  });
});
