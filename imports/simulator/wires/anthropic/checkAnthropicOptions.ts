/** Anthropic's rules for the options of a request: thinking, model-specific parameters, and output schemas. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { asArray, asObject, isArray, isGiven, isObject } from '../../json';
import { firstRejection, reject } from '../../validation/Rejection';
import type { Rejection, Rule } from '../../validation/Rejection';
import { namesLoadedBy } from '../../model/PromptCache';
import { blocksOf, isDeferred, isThinkingEnabled, outputSchema } from './anthropicBody';
import type { AnthropicBody } from './anthropicBody';

interface RequestOptions {
  readonly model: string;
  readonly body: AnthropicBody;
  readonly version: string | undefined;
}

const RULES: readonly Rule<RequestOptions>[] = [
  rejectDuplicateToolNames,
  rejectUnknownToolChoice,
  rejectDeferredTools,
  rejectInvalidThinkingBudget,
  rejectOptionsWithThinking,
  rejectSamplingInNewVersion,
  rejectSamplingOfModel,
  rejectUnsupportedEffort,
  rejectPrefill,
  rejectTooManyCacheBreakpoints,
  rejectUnsupportedOutputSchema,
];

export function checkAnthropicOptions(
  model: string,
  body: AnthropicBody,
  version: string | undefined,
): Rejection | undefined {
  return firstRejection(RULES, { model, body, version });
}

function rejectDuplicateToolNames({ body }: RequestOptions): Rejection | undefined {
  const names = (body.tools ?? []).map((tool) => tool.name);
  return new Set(names).size < names.length ? reject('tools: Tool names must be unique.') : undefined;
}

function rejectUnknownToolChoice({ body }: RequestOptions): Rejection | undefined {
  const choice = body.tool_choice;
  if (!isGiven(choice) || choice?.type === 'none') return undefined;
  if ((body.tools ?? []).length === 0) return reject('tool_choice: may only be specified while providing tools');
  const exists = choice?.type !== 'tool' || (body.tools ?? []).some((tool) => tool.name === choice.name);
  return exists ? undefined : reject(`Tool '${choice.name ?? ''}' not found in provided tools`);
}

/**
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool: its errors, and "A tool with
 * `defer_loading: true` can't also carry `cache_control`". The wording of the latter is not known.
 */
function rejectDeferredTools({ body }: RequestOptions): Rejection | undefined {
  const tools = body.tools ?? [];
  const deferred = tools.filter(isDeferred);
  if (deferred.length > 0 && deferred.length === tools.length)
    return reject('At least one tool must have defer_loading=false. All tools cannot be deferred.');
  const marked = deferred.find(({ cache_control }) => isGiven(cache_control));
  if (marked !== undefined)
    return reject(`tools: Tool '${marked.name}' cannot have both defer_loading=true and cache_control set.`);
  const names = new Set(tools.map(({ name }) => name));
  const unknown = body.messages
    .flatMap((message) => blocksOf(message).flatMap(namesLoadedBy))
    .find((name) => !names.has(name));
  return unknown === undefined ? undefined : reject(`Tool reference '${unknown}' not found in available tools`);
}

/** The budget is at least 1024 tokens and less than `max_tokens`. */
function rejectInvalidThinkingBudget({ body }: RequestOptions): Rejection | undefined {
  const budget = body.thinking?.type === 'enabled' ? body.thinking.budget_tokens : undefined;
  if (budget === undefined) return undefined;
  if (budget < 1024) return reject('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  return budget >= body.max_tokens ? reject('`max_tokens` must be greater than `thinking.budget_tokens`.') : undefined;
}

/** Thinking allows neither forced tools nor a temperature other than 1. */
function rejectOptionsWithThinking({ body }: RequestOptions): Rejection | undefined {
  if (!isThinkingEnabled(body)) return undefined;
  if (body.tool_choice?.type === 'any' || body.tool_choice?.type === 'tool')
    return reject('Thinking may not be enabled when tool_choice forces tool use.');
  if (isGiven(body.temperature) && body.temperature !== 1)
    return reject('`temperature` may only be set to 1 when thinking is enabled.');
  return isGiven(body.top_k) ? reject('`top_k` must be unset when thinking is enabled.') : undefined;
}

const SAMPLING = ['temperature', 'top_p', 'top_k'] as const;

/**
 * From version 2026-10-21 on, the API has no sampling parameters.
 * https://platform.claude.com/docs/en/api/versioning
 */
function rejectSamplingInNewVersion({ body, version = '' }: RequestOptions): Rejection | undefined {
  const given = version >= '2026-10-21' ? SAMPLING.find((name) => isGiven(body[name])) : undefined;
  return given === undefined ? undefined : reject(`${given}: Extra inputs are not permitted`);
}

/** From Opus 4.1 on, models accept either `temperature` or `top_p`; from Opus 4.7 on, no sampling parameters. */
function rejectSamplingOfModel({ model, body }: RequestOptions): Rejection | undefined {
  const given = SAMPLING.filter((name) => isGiven(body[name]));
  const version = versionOf(model);
  if (version >= 4.7 && given[0] !== undefined) return reject(`\`${given[0]}\` is deprecated for this model.`);
  const both = given.includes('temperature') && given.includes('top_p');
  return both && (version >= 4.5 || model.includes('opus-4-1'))
    ? reject('`temperature` and `top_p` cannot both be specified for this model. Please use only one.')
    : undefined;
}

/** anthropic-err400-a */
function rejectUnsupportedEffort({ model, body }: RequestOptions): Rejection | undefined {
  const effort = asObject(body.output_config).effort;
  return effort === 'xhigh' && versionOf(model) > 0 && versionOf(model) <= 4.6
    ? reject("This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.")
    : undefined;
}

/** From 4.6 on, the last message must be the user's, unless it continues a turn with a server tool. */
function rejectPrefill({ model, body }: RequestOptions): Rejection | undefined {
  const last = body.messages.at(-1);
  if (last?.role !== 'assistant' || versionOf(model) < 4.6 || isGiven(body.compaction)) return undefined;
  const continues = blocksOf(last).some((block) => block.type === 'server_tool_use');
  return continues
    ? undefined
    : reject('This model does not support assistant message prefill. The conversation must end with a user message.');
}

const MAX_CACHE_BREAKPOINTS = 4;

function rejectTooManyCacheBreakpoints({ body }: RequestOptions): Rejection | undefined {
  const found = countCacheBreakpoints([body.system, body.tools, body.messages]);
  return found > MAX_CACHE_BREAKPOINTS
    ? reject(`A maximum of ${MAX_CACHE_BREAKPOINTS} blocks with cache_control may be provided. Found ${found}.`)
    : undefined;
}

function countCacheBreakpoints(value: unknown): number {
  if (isArray(value)) return value.reduce<number>((sum, item) => sum + countCacheBreakpoints(item), 0);
  if (!isObject(value)) return 0;
  return (isGiven(value.cache_control) ? 1 : 0) + countCacheBreakpoints(value.content);
}

const UNSUPPORTED_BOUNDS: Readonly<Record<string, readonly string[]>> = {
  integer: ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'],
  number: ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'],
  string: ['minLength', 'maxLength'],
  array: ['maxItems', 'uniqueItems'],
};

/**
 * Output schemas must have closed objects, and no numeric or length bounds,
 * https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations.
 */
function rejectUnsupportedOutputSchema({ body }: RequestOptions): Rejection | undefined {
  const schema = outputSchema(body);
  const violation = schema === undefined ? undefined : findOutputViolation(schema);
  return violation === undefined ? undefined : reject(`output_config.format.schema: ${violation}`);
}

function findOutputViolation(schema: JsonObject): string | undefined {
  if (schema.type === 'object' && schema.additionalProperties !== false)
    return "For 'object' type, 'additionalProperties' must be explicitly set to false";
  const type = typeof schema.type === 'string' ? schema.type : '';
  const bound = UNSUPPORTED_BOUNDS[type]?.find((keyword) => keyword in schema);
  if (bound !== undefined) return `For '${type}' type, property '${bound}' is not supported`;
  const children = [
    ...Object.values(asObject(schema.properties)),
    ...Object.values(asObject(schema.$defs)),
    ...asArray(schema.anyOf),
    ...asArray(schema.allOf),
    schema.items,
  ];
  return children
    .filter(isObject)
    .map(findOutputViolation)
    .find((found) => found !== undefined);
}

/** `claude-opus-4-7` is 4.7, `claude-sonnet-5` 5, `claude-3-5-haiku-20241022` 3.5; 0 for names without a version. */
function versionOf(model: string): number {
  const match = /^claude-(?:(?:opus|sonnet|haiku)-(\d+)(?:-(\d{1,2}))?(?![\d])|(\d+)(?:-(\d{1,2}))?-)/.exec(model);
  return Number(`${match?.[1] ?? match?.[3] ?? 0}.${match?.[2] ?? match?.[4] ?? 0}`);
}
