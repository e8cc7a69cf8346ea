/** What is stored of users' batches. */
import { ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { BATCH_REQUESTS, USER_BATCHES } from './infrastructure/DocumentUserBatches';

export const BATCH_COLLECTIONS = [
  {
    name: USER_BATCHES,
    bound: 'account',
    content: null,
    ofUsers: [
      { kind: 'userBatches', owner: ownedBy('userId'), json: ['origin', 'error'], hidden: ['owner'], isSmall: true },
    ],
  },
  {
    name: BATCH_REQUESTS,
    bound: 'account',
    content: { content: ['request', 'result'], owner: { field: 'userId' } },
    ofUsers: [{ kind: 'batchRequests', owner: ownedBy('userId'), json: ['request', 'result'] }],
  },
] as const satisfies readonly StoredCollection[];
