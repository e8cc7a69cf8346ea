/**
 * What Anthropic refuses in the options of a request: thinking that can't be, parameters that a model lacks,
 * schemas it can't follow.
 */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { asArray, asObject, isArray, isGiven, isObject } from '../../json';
import { firstRefusal, refuse } from '../../validation/Refusal';
import type { Refusal, Rule } from '../../validation/Refusal';
import { blocksOf, thinks, wantedSchema } from './anthropicBody';
import type { AnthropicBody } from './anthropicBody';

interface Asked {
  readonly model: string;
  readonly body: AnthropicBody;
  readonly version: string | undefined;
}

const RULES: readonly Rule<Asked>[] = [
  toolNamesAreUnique,
  toolChoiceHasItsTool,
  thinkingFitsTheBudget,
  thinkingIsFree,
  samplingFitsTheVersion,
  samplingFitsTheModel,
  effortFitsTheModel,
  noPrefillOnNewModels,
  fewCacheMarks,
  answerSchemaIsSimple,
];

export function checkAnthropicOptions(
  model: string,
  body: AnthropicBody,
  version: string | undefined,
): Refusal | undefined {
  return firstRefusal(RULES, { model, body, version });
}

function toolNamesAreUnique({ body }: Asked): Refusal | undefined {
  const names = (body.tools ?? []).map((tool) => tool.name);
  return new Set(names).size < names.length ? refuse('tools: Tool names must be unique.') : undefined;
}

function toolChoiceHasItsTool({ body }: Asked): Refusal | undefined {
  const choice = body.tool_choice;
  if (!isGiven(choice) || choice?.type === 'none') return undefined;
  if ((body.tools ?? []).length === 0) return refuse('tool_choice: may only be specified while providing tools');
  const known = choice?.type !== 'tool' || (body.tools ?? []).some((tool) => tool.name === choice.name);
  return known ? undefined : refuse(`Tool '${choice.name ?? ''}' not found in provided tools`);
}

/** The budget is at least 1024 tokens and less than `max_tokens`. */
function thinkingFitsTheBudget({ body }: Asked): Refusal | undefined {
  const budget = body.thinking?.type === 'enabled' ? body.thinking.budget_tokens : undefined;
  if (budget === undefined) return undefined;
  if (budget < 1024) return refuse('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  return budget >= body.max_tokens ? refuse('`max_tokens` must be greater than `thinking.budget_tokens`.') : undefined;
}

/** Thinking goes neither with forced tools nor with another temperature than 1. */
function thinkingIsFree({ body }: Asked): Refusal | undefined {
  if (!thinks(body)) return undefined;
  if (body.tool_choice?.type === 'any' || body.tool_choice?.type === 'tool')
    return refuse('Thinking may not be enabled when tool_choice forces tool use.');
  if (isGiven(body.temperature) && body.temperature !== 1)
    return refuse('`temperature` may only be set to 1 when thinking is enabled.');
  return isGiven(body.top_k) ? refuse('`top_k` must be unset when thinking is enabled.') : undefined;
}

const SAMPLING = ['temperature', 'top_p', 'top_k'] as const;

/** From 2026-10-21 on the API has no sampling parameters. https://platform.claude.com/docs/en/api/versioning */
function samplingFitsTheVersion({ body, version = '' }: Asked): Refusal | undefined {
  const given = version >= '2026-10-21' ? SAMPLING.find((name) => isGiven(body[name])) : undefined;
  return given === undefined ? undefined : refuse(`${given}: Extra inputs are not permitted`);
}

/** From Opus 4.1 on a model takes `temperature` or `top_p`, from Opus 4.7 on no sampling parameters. */
function samplingFitsTheModel({ model, body }: Asked): Refusal | undefined {
  const given = SAMPLING.filter((name) => isGiven(body[name]));
  const version = versionOf(model);
  if (version >= 4.7 && given[0] !== undefined) return refuse(`\`${given[0]}\` is deprecated for this model.`);
  const both = given.includes('temperature') && given.includes('top_p');
  return both && (version >= 4.5 || model.includes('opus-4-1'))
    ? refuse('`temperature` and `top_p` cannot both be specified for this model. Please use only one.')
    : undefined;
}

/** anthropic-err400-a */
function effortFitsTheModel({ model, body }: Asked): Refusal | undefined {
  const effort = asObject(body.output_config).effort;
  return effort === 'xhigh' && versionOf(model) > 0 && versionOf(model) <= 4.6
    ? refuse("This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.")
    : undefined;
}

/** From 4.6 on the last message is the user's, unless a server tool's turn is continued. */
function noPrefillOnNewModels({ model, body }: Asked): Refusal | undefined {
  const last = body.messages.at(-1);
  if (last?.role !== 'assistant' || versionOf(model) < 4.6) return undefined;
  const continues = blocksOf(last).some((block) => block.type === 'server_tool_use');
  return continues
    ? undefined
    : refuse('This model does not support assistant message prefill. The conversation must end with a user message.');
}

const MOST_CACHE_MARKS = 4;

function fewCacheMarks({ body }: Asked): Refusal | undefined {
  const found = cacheMarks([body.system, body.tools, body.messages]);
  return found > MOST_CACHE_MARKS
    ? refuse(`A maximum of ${MOST_CACHE_MARKS} blocks with cache_control may be provided. Found ${found}.`)
    : undefined;
}

function cacheMarks(value: unknown): number {
  if (isArray(value)) return value.reduce<number>((sum, item) => sum + cacheMarks(item), 0);
  if (!isObject(value)) return 0;
  return (isGiven(value.cache_control) ? 1 : 0) + cacheMarks(value.content);
}

const UNSUPPORTED_BOUNDS: Readonly<Record<string, readonly string[]>> = {
  integer: ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'],
  number: ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'],
  string: ['minLength', 'maxLength'],
  array: ['maxItems', 'uniqueItems'],
};

/**
 * Output schemas: objects closed, no numeric or length bounds,
 * https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations.
 */
function answerSchemaIsSimple({ body }: Asked): Refusal | undefined {
  const schema = wantedSchema(body);
  const violation = schema === undefined ? undefined : outputViolation(schema);
  return violation === undefined ? undefined : refuse(`output_config.format.schema: ${violation}`);
}

function outputViolation(schema: JsonObject): string | undefined {
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
    .map(outputViolation)
    .find((found) => found !== undefined);
}

/** `claude-opus-4-7` is 4.7, `claude-sonnet-5` 5, `claude-3-5-haiku-20241022` 3.5; 0 for names without a version. */
function versionOf(model: string): number {
  const match = /^claude-(?:(?:opus|sonnet|haiku)-(\d+)(?:-(\d{1,2}))?(?![\d])|(\d+)(?:-(\d{1,2}))?-)/.exec(model);
  return Number(`${match?.[1] ?? match?.[3] ?? 0}.${match?.[2] ?? match?.[4] ?? 0}`);
}
