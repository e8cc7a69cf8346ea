/** What is stored of model calls. */
import { ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { REQUEST_BODIES, REQUESTS } from './infrastructure/DocumentRequestStore';

export const REQUEST_COLLECTIONS = [
  {
    name: REQUESTS,
    bound: 'entries',
    content: { content: ['error.message', 'annotations', 'warnings'], owner: { field: 'userId' } },
    ofUsers: [{ kind: 'requests', owner: ownedBy('userId'), hidden: ['words'], isSmall: true }],
  },
  {
    name: REQUEST_BODIES,
    bound: 'evicted',
    content: { content: ['request', 'response', 'exchanges'], owner: { field: 'userId' } },
    ofUsers: [
      {
        kind: 'requestBodies',
        owner: ownedBy('userId'),
        json: ['request', 'response', 'exchanges.*.request', 'exchanges.*.response'],
      },
    ],
  },
] as const satisfies readonly StoredCollection[];
