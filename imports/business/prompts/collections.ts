/** What is stored of prompts. Those that everyone can use belong to the host. */
import { authoredBy, ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { PROMPTS } from './infrastructure/DocumentPromptStore';

export const PROMPT_COLLECTIONS = [
  {
    name: PROMPTS,
    bound: 'account',
    content: { content: ['versions'], owner: { field: 'owner' } },
    ofUsers: [
      { kind: 'prompts', owner: ownedBy('owner'), json: ['versions.*.content'] },
      authoredBy('userId', (userId) => ({ owner: { $ne: userId } })),
    ],
  },
] as const satisfies readonly StoredCollection[];
