/** What is stored of memories. */
import { ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { MEMORIES } from './infrastructure/DocumentMemoryRecords';

export const MEMORY_COLLECTIONS = [
  {
    name: MEMORIES,
    bound: 'account',
    // A vector tells what its text is about.
    content: { content: ['text', 'vector'], owner: { field: 'userId' } },
    ofUsers: [{ kind: 'memories', owner: ownedBy('userId'), hidden: ['revision', 'vector', 'model'] }],
  },
] as const satisfies readonly StoredCollection[];
