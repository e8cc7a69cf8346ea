/** Reads what people choose for an API token: its name, team, tags, expiry and limits. */
import {
  integer,
  invalid,
  line,
  listOf,
  optional,
  optionalValue,
  readObject,
} from '../../business/ai/domain/arguments';
import type { ArgumentReader } from '../../business/ai/domain/arguments';
import type { ApiTokenLimits, RateLimits } from '../../business/ai/domain/types/ApiTokenLimits';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { budgetLimitsSchema } from '../../business/ai/application/operations/budgetLimitsSchema';
import { object, readArgument } from '../../host/schemas';
import type { ApiTokenFields } from '../auth/ApiTokenStore';

/** Fields that replace what a token has. `null` removes one. */
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

const MAX_NAME_LENGTH = 100;
export const MAX_TEAM_LENGTH = 64;
const MAX_TAGS = 20;
const MAX_TAG_LENGTH = 64;
const MAX_MODELS = 100;
const MAX_MODEL_LENGTH = 256;
const MAX_RATE = 1_000_000_000;
const MAX_TOOLS = 200;
const MAX_TOOL_LENGTH = 64;
const RATES = ['requestsPerMinute', 'tokensPerMinute', 'parallel'] as const satisfies readonly (keyof RateLimits)[];

/** Invisible characters could make one token look like another. */
const visibleLine =
  (maxLength: number): ArgumentReader<string> =>
  (value, path) => {
    const text = line(maxLength)(value, path);
    if (/\p{C}/u.test(text)) throw invalid(path, 'must consist of visible characters');
    return text;
  };

export const readTokenName = visibleLine(MAX_NAME_LENGTH);

const readRateLimits: ArgumentReader<RateLimits> = (value, path) => {
  const fields = readObject(value, RATES, path);
  const rates = RATES.map(
    (name) => [name, optionalValue(fields, name, integer(1, MAX_RATE), `${path}.${name}`)] as const,
  );
  return Object.fromEntries(rates.filter(([, rate]) => rate !== undefined));
};

const readModels: ArgumentReader<readonly string[]> = (value, path) => {
  const models = listOf(MAX_MODELS, visibleLine(MAX_MODEL_LENGTH))(value, path);
  if (models.length === 0) throw invalid(path, 'must name at least one model; leave it out to permit all');
  return [...new Set(models)];
};

/** An empty list permits no tool. */
const readTools: ArgumentReader<readonly string[]> = (value, path) => [
  ...new Set(listOf(MAX_TOOLS, visibleLine(MAX_TOOL_LENGTH))(value, path)),
];

/** @throws LLMInvalidRequestError, for an expiry in the past too */
export function readTokenFields(fields: JsonObject, now: number): Omit<ApiTokenFields, 'name'> {
  const expiresAt = optionalValue(fields, 'expiresAt', integer(0, Number.MAX_SAFE_INTEGER));
  if (expiresAt !== undefined && expiresAt <= now)
    throw invalid('expiresAt', 'must be a time in the future, in milliseconds since the epoch');
  const tags = optionalValue(fields, 'tags', listOf(MAX_TAGS, visibleLine(MAX_TAG_LENGTH)));
  return {
    ...optional(fields, 'team', visibleLine(MAX_TEAM_LENGTH)),
    ...(tags === undefined || tags.length === 0 ? {} : { tags: [...new Set(tags)] }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...readLimits(fields),
  };
}

function readLimits(fields: JsonObject): ApiTokenLimits {
  const budgets = optionalValue(
    fields,
    'budgets',
    (value) => readArgument(object({ budgets: budgetLimitsSchema }), { budgets: value }).budgets,
  );
  const rateLimits = optionalValue(fields, 'rateLimits', readRateLimits);
  return {
    ...optional(fields, 'models', readModels),
    ...optional(fields, 'tools', readTools),
    ...(budgets === undefined || isEmpty(budgets) ? {} : { budgets }),
    ...(rateLimits === undefined || isEmpty(rateLimits) ? {} : { rateLimits }),
  };
}

function isEmpty(limits: object): boolean {
  return Object.keys(limits).length === 0;
}
