/** What the HTTP API stores. */
import { authoredBy, ownedBy } from '../database/StoredCollection';
import type { StoredCollection } from '../database/StoredCollection';
import type { StoredApiToken } from './auth/ApiTokenStore';
import { API_TOKENS } from './auth/DocumentApiTokenStore';
import { CHATS } from './chat/ChatStore';
import { SESSIONS } from './dashboard/SessionStore';
import { IDENTITIES } from './signIn/Identities';
import { SIGN_IN_STATES } from './signIn/UsedStates';

/** Everything but what could be presented or guessed. */
const TOKEN_FIELDS = {
  _id: 1,
  userId: 1,
  name: 1,
  scopes: 1,
  'grant.client': 1,
  team: 1,
  tags: 1,
  models: 1,
  tools: 1,
  budgets: 1,
  rateLimits: 1,
  createdAt: 1,
  createdBy: 1,
  isManaged: 1,
  changedAt: 1,
  changedBy: 1,
  rotatedAt: 1,
  revokedAt: 1,
  expiresAt: 1,
  lastUsedAt: 1,
} as const satisfies Record<
  Exclude<keyof StoredApiToken, 'hash' | 'prefix' | 'previous' | 'grant'> | 'grant.client',
  1
>;

export const API_COLLECTIONS = [
  {
    name: CHATS,
    bound: 'account',
    content: { content: ['messages', 'fingerprint'], owner: { field: 'userId' } },
    kept: { by: 'chats', field: 'updatedAt' },
    sharesTexts: { field: 'messages', run: 'inputOf' },
    ofUsers: [{ kind: 'chats', owner: ownedBy('userId'), json: ['messages'], isRemovedByService: true }],
  },
  {
    name: API_TOKENS,
    bound: 'small',
    content: null,
    ofUsers: [
      { kind: 'apiTokens', owner: ownedBy('userId'), fields: TOKEN_FIELDS, isRemovedByService: true, isSmall: true },
      { ...authoredBy('createdBy', (userId) => ({ userId: { $ne: userId } })), isRemovedByService: true },
      { ...authoredBy('changedBy', (userId) => ({ userId: { $ne: userId } })), isRemovedByService: true },
    ],
  },
  {
    name: SESSIONS,
    bound: 'small',
    content: null,
    ofUsers: [
      {
        kind: 'sessions',
        owner: ownedBy('userId'),
        fields: { userId: 1, 'token.id': 1, createdAt: 1, usedAt: 1, endsAt: 1, expiresAt: 1 },
        isRemovedByService: true,
        isSmall: true,
      },
    ],
  },
  {
    name: IDENTITIES,
    bound: 'small',
    content: null,
    ofUsers: [
      {
        kind: 'identities',
        owner: { selector: (userId) => ({ _id: userId }) },
        isRemovedByService: true,
        isSmall: true,
      },
    ],
  },
  // Hashes of sign-ins.
  { name: SIGN_IN_STATES, bound: 'small', content: null, ofUsers: [] },
] as const satisfies readonly StoredCollection[];
