/** `ai.tokens.*`: users create, limit, rotate and revoke their API tokens, and admins those of others. */
import * as v from 'valibot';
import { budgetLimitsSchema } from '../../business/limits/application/budgetLimitsSchema';
import { usageReportSchema } from '../../business/usage/application/usageOperations';
import type { AuditRule } from '../../host/AuditRule';
import { defineOperation } from '../../host/defineOperation';
import { boolean, integer, object } from '../../host/schemas';
import { SCOPES } from '../auth/ApiPrincipal';
import type { TokenAdministration } from './TokenAdministration';
import { namedToken, TOKEN_FIELDS, tokenChange, tokenOwner, tokenRequest } from './tokenArguments';

export interface TokenServices {
  readonly tokens: TokenAdministration;
}

const MAX_GRACE_SECONDS = 30 * 86_400;
/** The last millisecond that a date can have. */
const MAX_TIME = 8.64e15;

const time = v.pipe(integer(0, MAX_TIME), v.description('Milliseconds since the epoch.'));
const amounts = v.looseObject({ calls: v.number(), tokens: v.number(), money: v.number() });
const used = v.looseObject({ used: amounts, held: amounts, resetsAt: v.number() });
const stored = v.looseObject({
  _id: v.string(),
  userId: v.string(),
  name: v.string(),
  scopes: v.array(v.picklist(SCOPES)),
  createdAt: v.number(),
  createdBy: v.optional(v.string()),
  isManaged: v.optional(v.literal(true)),
  changedAt: v.optional(v.number()),
  rotatedAt: v.optional(v.number()),
  previousExpiresAt: v.optional(v.number()),
  lastUsedAt: v.optional(v.number()),
  team: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  expiresAt: v.optional(v.number()),
  models: v.optional(v.array(v.string())),
  tools: v.optional(v.array(v.string())),
  budgets: v.optional(budgetLimitsSchema),
  rateLimits: v.optional(
    v.looseObject({
      requestsPerMinute: v.optional(v.number()),
      tokensPerMinute: v.optional(v.number()),
      parallel: v.optional(v.number()),
    }),
  ),
});
const token = v.looseObject({ ...stored.entries, usage: v.looseObject({ day: used, month: used }) });
const issued = v.looseObject({ id: v.string(), token: v.string() });

const OWNER = { field: 'userId', orActor: true } as const;
const AUDITED = { kind: 'token', id: 'id', owner: OWNER } as const satisfies Partial<AuditRule>;

export const TOKEN_OPERATIONS = [
  defineOperation({
    name: 'ai.tokens.list',
    summary: 'List API tokens',
    description:
      "One's own, or for administrators those of `userId`, or with `all` the newest 1,000 of everyone. The secrets are " +
      'not included. `defaultLifetime` is in milliseconds, or `never`. API tokens manage tokens only with the scope ' +
      '`admin`.',
    access: 'read',
    argument: object({ ...tokenOwner, all: v.optional(boolean) }),
    result: v.looseObject({
      tokens: v.array(token),
      defaultLifetime: v.union([v.number(), v.literal('never')]),
      isTruncated: v.optional(v.literal(true)),
    }),
    http: 'GET /api/tokens',
    reads: ['tokens', 'requests'],
    execute: ({ tokens }: TokenServices, { actor, argument }) => tokens.list(actor, argument),
  }),
  defineOperation({
    name: 'ai.tokens.create',
    summary: 'Issue an API token',
    description:
      'The result has its only copy. Without `expiresAt`, which may be `never`, it expires after ' +
      '[90 days](configuration.md). What is absent does not [limit](../guides/api-keys.md) it. Only administrators ' +
      'name another `userId` or set the team.',
    access: 'generate',
    argument: tokenRequest,
    example: { name: 'reports', scopes: ['read'], userId: 'bob' },
    result: issued,
    http: { address: 'POST /api/tokens', status: 201 },
    changes: ['tokens'],
    audit: {
      action: 'token.create',
      kind: 'token',
      createdId: 'id',
      owner: OWNER,
      changed: TOKEN_FIELDS,
      details: ['name', 'scopes', 'team'],
    },
    execute: ({ tokens }: TokenServices, { actor, argument }) => tokens.create(actor, argument),
  }),
  defineOperation({
    name: 'ai.tokens.update',
    summary: 'Change an API token',
    description:
      'Absent fields stay as they are, and `null` removes one. Users cannot change the limits that an administrator ' +
      'has set.',
    access: 'generate',
    argument: tokenChange,
    result: stored,
    http: 'POST /api/tokens/:id',
    changes: ['tokens'],
    audit: { action: 'token.update', ...AUDITED, changed: TOKEN_FIELDS },
    execute: ({ tokens }: TokenServices, { actor, argument }) => tokens.update(actor, argument),
  }),
  defineOperation({
    name: 'ai.tokens.rotate',
    summary: 'Give an API token a new secret',
    description:
      'The result has its only copy. The old one remains valid for `graceSeconds`, at most 30 days; by default it ends ' +
      'at once.',
    access: 'generate',
    argument: object({ ...namedToken, graceSeconds: v.optional(integer(0, MAX_GRACE_SECONDS), 0) }),
    result: issued,
    http: 'POST /api/tokens/:id/rotate',
    changes: ['tokens'],
    audit: { action: 'token.rotate', ...AUDITED, details: ['graceSeconds'] },
    execute: ({ tokens }: TokenServices, { actor, argument }) => tokens.rotate(actor, argument),
  }),
  defineOperation({
    name: 'ai.tokens.usage',
    summary: 'Report what an API token has used, by day and model',
    description:
      'By default in this month (UTC), and in at most 400 days; also of a token that was revoked. `report` is an ' +
      '[`ai.usage.report`](methods-and-publications.md#usage-reports). An API token may read its own.',
    access: 'read',
    argument: object({ ...namedToken, from: v.optional(time), to: v.optional(time) }),
    result: v.looseObject({ token, report: usageReportSchema }),
    http: 'GET /api/tokens/:id/usage',
    reads: ['tokens', 'requests'],
    execute: ({ tokens }: TokenServices, { actor, argument }) => tokens.usage(actor, argument),
  }),
  defineOperation({
    name: 'ai.tokens.revoke',
    summary: 'Revoke an API token',
    access: 'generate',
    argument: object(namedToken),
    result: v.looseObject({ deleted: v.literal(true) }),
    http: 'DELETE /api/tokens/:id',
    changes: ['tokens'],
    audit: { action: 'token.revoke', ...AUDITED, isSafe: true },
    execute: ({ tokens }: TokenServices, { actor, argument }) => tokens.revoke(actor, argument),
  }),
] as const;
