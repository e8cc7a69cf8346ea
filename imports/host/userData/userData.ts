/**
 * What is stored about a user: the deletion of a user's data and its export are both made from this table. Each
 * collection of `SEALED_CONTENT` is here or in `IMPERSONAL_COLLECTIONS`.
 */
import type { StoredApiToken } from '../../api/auth/ApiTokenStore';
import { API_TOKENS } from '../../api/auth/DocumentApiTokenStore';
import { CHATS } from '../../api/chat/ChatStore';
import { SESSIONS } from '../../api/dashboard/SessionStore';
import { IDENTITIES } from '../../api/signIn/Identities';
import { SIGN_IN_STATES } from '../../api/signIn/UsedStates';
import { SCHEDULES } from '../../business/ai/infrastructure/jobs/ScheduleTimes';
import { AUDIT, AUDIT_FIELDS, AUDIT_KEYS } from '../../business/audit/infrastructure/DocumentAuditStore';
import { MCP_DEFINITIONS } from '../../business/mcp/infrastructure/DocumentMcpServers';
import { TOKEN_RATES } from '../../business/limits/infrastructure/DocumentRateStore';
import { keyOfWindow } from '../../database/FixedWindowLimiter';
import { RUN_EVENT_WATCHERS } from '../../business/ai/infrastructure/persistence/runs/DocumentRunEvents';
import { RUN_OWNERS } from '../../business/ai/infrastructure/persistence/runs/runDocuments';
import { authored, ownedBy } from '../../business/privacy/infrastructure/UserDocumentKind';
import type { UserDocumentKind } from '../../business/privacy/infrastructure/UserDocumentKind';
import { AI_USER_DOCUMENTS } from './userDocumentKinds';
import { COLLECTIONS } from '../../business/providers/infrastructure/factories/createProvidersModule';
import { CONTENT_KEYS } from '../../business/privacy/infrastructure/UserContentKeys';

/** Everything but what could be presented or guessed. */
const TOKEN_FIELDS = {
  _id: 1,
  userId: 1,
  name: 1,
  scopes: 1,
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
} as const satisfies Record<Exclude<keyof StoredApiToken, 'hash' | 'prefix' | 'previous'>, 1>;

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
/** Whose else a subject is, and who else did something to it, is not theirs to learn. */
const { subject: _subject, ...OWN_ACT_FIELDS } = { ...AUDIT_FIELDS, 'subject.kind': 1, 'subject.id': 1 } as const;
const {
  userId: _userId,
  tokenId: _tokenId,
  via: _via,
  address: _address,
  userAgent: _userAgent,
  ...OTHERS_ACT_FIELDS
} = OWN_ACT_FIELDS;

export const USER_DOCUMENTS = [
  ...AI_USER_DOCUMENTS,
  { kind: 'chats', collection: CHATS, owner: ownedBy('userId'), json: ['messages'] },
  { kind: 'apiTokens', collection: API_TOKENS, owner: ownedBy('userId'), fields: TOKEN_FIELDS, isSmall: true },
  authored(API_TOKENS, 'createdBy', (userId) => ({ userId: { $ne: userId } })),
  authored(API_TOKENS, 'changedBy', (userId) => ({ userId: { $ne: userId } })),
  {
    kind: 'sessions',
    collection: SESSIONS,
    owner: ownedBy('userId'),
    fields: { userId: 1, 'token.id': 1, createdAt: 1, usedAt: 1, endsAt: 1, expiresAt: 1 },
    isSmall: true,
  },
  {
    kind: 'identities',
    collection: IDENTITIES,
    owner: { selector: (userId) => ({ _id: userId }) },
    isSmall: true,
  },
  { kind: 'providers', ...OWN_PROVIDERS, owner: ownedBy('owner'), json: ['oauth'] },
  {
    kind: 'accessEntries',
    collection: COLLECTIONS.providers,
    owner: { selector: (userId) => ({ $or: [{ 'access.users': userId }, { 'access.roles': userId }] }) },
    // The others of the list are not theirs to learn.
    fields: { _id: 1, name: 1 },
    isSmall: true,
  },
  {
    kind: 'credentials',
    collection: COLLECTIONS.credentials,
    owner: ownedBy('userId'),
    fields: CREDENTIAL_FIELDS,
    isSmall: true,
  },
  {
    kind: 'credentials',
    collection: COLLECTIONS.credentials,
    owner: { part: 'providerId', of: OWN_PROVIDERS, where: { userId: null } },
    fields: CREDENTIAL_FIELDS,
    isSmall: true,
  },
  {
    kind: 'authorizations',
    collection: COLLECTIONS.authorizations,
    owner: ownedBy('userId'),
    fields: { providerId: 1, userId: 1, stage: 1, createdAt: 1, expiresAt: 1, usedAt: 1 },
    isSmall: true,
  },
  {
    kind: 'usageWindows',
    collection: COLLECTIONS.usage,
    owner: { matches: (documentId, userId) => keyOfWindow(documentId)[1] === userId },
    isSmall: true,
  },
  { kind: 'auditEntries', collection: AUDIT, owner: ownedBy('userId'), fields: OWN_ACT_FIELDS, isSmall: true },
  {
    // Acts of others on what the user owns.
    kind: 'auditEntries',
    collection: AUDIT,
    owner: { selector: (userId) => ({ 'subject.ownerId': userId, userId: { $ne: userId } }) },
    fields: OTHERS_ACT_FIELDS,
    isSmall: true,
  },
] as const satisfies readonly UserDocumentKind[];

export type UserDataKind = (typeof USER_DOCUMENTS)[number]['kind'];

/** Without anything of a user that could be exported. */
export const IMPERSONAL_COLLECTIONS: readonly string[] = [
  // Secrets. A deletion removes the user's.
  CONTENT_KEYS,
  // Records of processes, the app's own schedules, and data that concerns all users.
  RUN_OWNERS,
  RUN_EVENT_WATCHERS,
  SCHEDULES,
  COLLECTIONS.changes,
  AUDIT_KEYS,
  MCP_DEFINITIONS,
  // By ids of tokens, and hashes of sign-ins.
  TOKEN_RATES,
  SIGN_IN_STATES,
];
