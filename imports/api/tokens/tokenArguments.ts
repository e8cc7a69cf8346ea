/** What people choose for an API token: its name, scopes, team, tags, expiry and limits. */
import * as v from 'valibot';
import { budgetLimitsSchema } from '../../business/limits/application/budgetLimitsSchema';
import { identifier, integer, line, listOf, object, oneOf, textOr } from '../../host/schemas';
import { SCOPES } from '../auth/ApiPrincipal';
import type { Scope } from '../auth/ApiPrincipal';
import type { ApiTokenFields } from '../auth/ApiTokenStore';

const MAX_ID_LENGTH = 128;
const MAX_NAME_LENGTH = 100;
const MAX_TEAM_LENGTH = 64;
const MAX_TAGS = 20;
const MAX_TAG_LENGTH = 64;
const MAX_MODELS = 100;
const MAX_MODEL_LENGTH = 256;
const MAX_RATE = 1_000_000_000;
const MAX_TOOLS = 200;
const MAX_TOOL_LENGTH = 64;
const DEFAULT_SCOPES: readonly Scope[] = ['generate', 'read'];

/** Fields that replace what a token has. */
export const TOKEN_FIELDS = [
  'name',
  'team',
  'tags',
  'expiresAt',
  'models',
  'tools',
  'budgets',
  'rateLimits',
] as const satisfies readonly (keyof ApiTokenFields)[];

/** Invisible characters could make one token look like another. */
function visibleLine(maxLength: number) {
  return v.pipe(line(maxLength), v.regex(/^\P{C}*$/u, 'must consist of visible characters'));
}

const name = visibleLine(MAX_NAME_LENGTH);
const team = visibleLine(MAX_TEAM_LENGTH);
const tags = v.pipe(
  listOf(MAX_TAGS, visibleLine(MAX_TAG_LENGTH)),
  v.transform((given) => orNull(unique(given))),
);
const expiresAt = v.pipe(
  textOr(v.literal('never', 'must be a time or "never"'), integer(0, Number.MAX_SAFE_INTEGER)),
  v.description('Milliseconds since the epoch.'),
  v.transform((time) => (time === 'never' ? null : time)),
);
const models = v.pipe(
  listOf(MAX_MODELS, visibleLine(MAX_MODEL_LENGTH)),
  v.minLength(1, 'must name at least one model; leave it out to permit all'),
  v.transform(unique),
);
/** An empty list permits no tool. */
const tools = v.pipe(listOf(MAX_TOOLS, visibleLine(MAX_TOOL_LENGTH)), v.transform(unique));
const budgets = v.pipe(budgetLimitsSchema, v.transform(orNull));
const rate = v.optional(integer(1, MAX_RATE));
const rateLimits = v.pipe(
  object({ requestsPerMinute: rate, tokensPerMinute: rate, parallel: rate }),
  v.transform(orNull),
);

const userId = v.optional(identifier(MAX_ID_LENGTH));
export const namedToken = { id: identifier(MAX_ID_LENGTH), userId };
export const tokenOwner = { userId };

/** Fields of the output are null if there is to be no limit. */
export const tokenRequest = object({
  name,
  scopes: v.optional(
    v.pipe(listOf(SCOPES.length, oneOf(SCOPES)), v.minLength(1, `must be a list of some of: ${SCOPES.join(', ')}`)),
    [...DEFAULT_SCOPES],
  ),
  userId,
  team: v.optional(team),
  tags: v.optional(tags),
  expiresAt: v.optional(expiresAt),
  models: v.optional(models),
  tools: v.optional(tools),
  budgets: v.optional(budgets),
  rateLimits: v.optional(rateLimits),
});

/** Absent fields stay as they are, and `null` removes one. */
export const tokenChange = v.pipe(
  object({
    ...namedToken,
    name: v.optional(name),
    team: v.nullish(team),
    tags: v.nullish(tags),
    expiresAt: v.nullish(expiresAt),
    models: v.nullish(models),
    tools: v.nullish(tools),
    budgets: v.nullish(budgets),
    rateLimits: v.nullish(rateLimits),
  }),
  v.check(
    (change) => TOKEN_FIELDS.some((field) => change[field] !== undefined),
    `must have at least one of: ${TOKEN_FIELDS.join(', ')}`,
  ),
);

export type TokenRequest = v.InferOutput<typeof tokenRequest>;
export type TokenChange = v.InferOutput<typeof tokenChange>;

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}

/** Limits without any amount do not limit. */
function orNull<T extends object>(given: T): T | null {
  return Object.keys(given).length === 0 ? null : given;
}
