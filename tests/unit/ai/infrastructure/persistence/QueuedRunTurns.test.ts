import { expect } from 'chai';
import type {
  DocumentCollection,
  FindOptions,
  Selector,
} from '../../../../../imports/business/ai/domain/interfaces/DocumentCollection';
import { IndexedDocuments } from '../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/IndexedDocuments';
import { parseSelector } from '../../../../../imports/business/ai/infrastructure/persistence/databases/query/parseSelector';
import { QueuedRunTurns } from '../../../../../imports/business/ai/infrastructure/persistence/runs/QueuedRunTurns';
import type { RunDocument } from '../../../../../imports/business/ai/infrastructure/persistence/runs/runDocuments';

describe('the next queued run', () => {
  it('is found in the order of an index, without reading all that wait', async () => {
    const documents = new IndexedDocuments();
    const finds: (readonly [Selector, FindOptions])[] = [];
    const runs = {
      ensureIndex: async (keys: Readonly<Record<string, 1 | -1>>) => documents.ensureIndex(keys),
      update: async () => 0,
      find: async (selector: Selector, options: FindOptions) => {
        finds.push([selector, options]);
        return [{ _id: 'r', userId: 'ann', globalPriority: 0 }];
      },
    } as unknown as DocumentCollection<RunDocument>;
    const turns = new QueuedRunTurns(runs, {} as never);
    await turns.ensureIndexes();
    await turns.next({ now: 1, after: 'ann', except: ['x'], fullUsers: [], keys: [] });
    expect(finds).to.have.length(2);
    for (const [selector, options] of finds)
      expect(documents.candidates(parseSelector(selector), options).plan.isSorted, JSON.stringify(selector)).to.equal(
        true,
      );
  });
});
