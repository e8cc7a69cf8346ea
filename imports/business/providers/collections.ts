/** What is stored of vendor accounts. Secrets are sealed by the operator's keys, whatever is set. */
import { keyOfWindow } from '../../database/FixedWindowLimiter';
import { ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { COLLECTIONS } from './infrastructure/factories/createProvidersModule';

/** Without what is sealed, and what it is sealed and found by. */
const CREDENTIAL_FIELDS = {
  providerId: 1,
  userId: 1,
  kind: 1,
  state: 1,
  reconnectReason: 1,
  scopes: 1,
  expiresAt: 1,
  updatedAt: 1,
} as const;

const OWN_PROVIDERS = { collection: COLLECTIONS.providers, ...ownedBy('owner') };

export const PROVIDER_COLLECTIONS = [
  {
    name: COLLECTIONS.providers,
    bound: 'small',
    content: null,
    ofUsers: [
      { kind: 'providers', owner: ownedBy('owner'), json: ['oauth'], isRemovedByService: true },
      {
        kind: 'accessEntries',
        owner: { selector: (userId) => ({ $or: [{ 'access.users': userId }, { 'access.roles': userId }] }) },
        // The others of the list are not theirs to learn.
        fields: { _id: 1, name: 1 },
        isRemovedByService: true,
        isSmall: true,
      },
    ],
  },
  {
    name: COLLECTIONS.credentials,
    bound: 'small',
    content: null,
    ofUsers: [
      {
        kind: 'credentials',
        owner: ownedBy('userId'),
        fields: CREDENTIAL_FIELDS,
        isRemovedByService: true,
        isSmall: true,
      },
      {
        kind: 'credentials',
        owner: { part: 'providerId', of: OWN_PROVIDERS, where: { userId: null } },
        fields: CREDENTIAL_FIELDS,
        isRemovedByService: true,
        isSmall: true,
      },
    ],
  },
  {
    name: COLLECTIONS.authorizations,
    bound: 'small',
    content: null,
    ofUsers: [
      {
        kind: 'authorizations',
        owner: ownedBy('userId'),
        fields: { providerId: 1, userId: 1, stage: 1, createdAt: 1, expiresAt: 1, usedAt: 1 },
        isRemovedByService: true,
        isSmall: true,
      },
    ],
  },
  {
    name: COLLECTIONS.usage,
    bound: 'small',
    content: null,
    ofUsers: [
      {
        kind: 'usageWindows',
        owner: { matches: (documentId, userId) => keyOfWindow(documentId)[1] === userId },
        isLimit: true,
        isRemovedByService: true,
        isSmall: true,
      },
    ],
  },
  // Data that concerns all users.
  { name: COLLECTIONS.changes, bound: 'operators', content: null, ofUsers: [] },
] as const satisfies readonly StoredCollection[];
