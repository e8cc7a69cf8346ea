/** What is stored of the server's own jobs. */
import { ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { SERVER_JOBS } from './infrastructure/DocumentServerJobs';

export const JOB_COLLECTIONS = [
  {
    name: SERVER_JOBS,
    bound: 'account',
    content: { content: ['work'], owner: { field: 'userId' } },
    ofUsers: [{ kind: 'serverJobs', owner: ownedBy('userId'), json: ['work'], hidden: ['owner', 'nextAt'] }],
  },
] as const satisfies readonly StoredCollection[];
