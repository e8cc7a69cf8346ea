/**
 * Converts all options except the input to fields of a chat completions request.
 * https://platform.openai.com/docs/api-reference/chat/create
 */
import { toChatTools } from './tools';
import { promptCacheKey } from '../../shared/promptCache';
import { acceptedEffort } from '../../shared/reasoningEffort';
import { samplingFields } from '../../shared/samplingFields';
import { strictFormat } from '../../shared/strictSchema';
import type { WireContext } from '../../Wire';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { NormalizedOptions, ResponseFormat } from '../../../../domain/types/LLMTypes';
import type { JsonObject, Loss, VendorQuirks } from '../../../../domain/types/VendorTypes';

export interface ChatParameters {
  readonly fields: JsonObject;
  /** An instruction for the prompt, for a format that no field expresses. */
  readonly instruction?: string;
}

const SAMPLING_FIELDS = ['seed', 'presence_penalty', 'frequency_penalty'] as const;

/** @throws UnsupportedFeatureError for an option whose omission would change the response */
export function toChatParameters(
  options: NormalizedOptions,
  context: WireContext,
  warnings: string[],
  losses: Loss[],
): ChatParameters {
  const { quirks, vendor } = context;
  const fields: JsonObject = {};
  const tools = options.tools ?? [];
  Object.assign(fields, toChatTools(tools, options.tool_choice, context, warnings));
  if (options.parallel_tool_calls !== undefined && fields.tools !== undefined) {
    if (quirks.supportsParallelToolCalls) fields.parallel_tool_calls = options.parallel_tool_calls;
    else warnings.push(`"parallel_tool_calls" was omitted: ${vendor} does not support it.`);
  }
  Object.assign(fields, samplingFields(options, context, warnings));
  for (const field of SAMPLING_FIELDS) if (options[field] !== undefined) fields[field] = options[field];
  if (options.top_k !== undefined) warnings.push('"top_k" was omitted: chat completions do not have it.');
  if (options.max_output_tokens !== undefined) fields[quirks.maxTokensField] = options.max_output_tokens;
  addStop(fields, options.stop, context);
  addReasoning(fields, options.reasoning, context, warnings);
  if (options.metadata !== undefined) {
    if (quirks.metadataNeedsStore === true && options.store !== true)
      warnings.push(`"metadata" was omitted: ${vendor} accepts it only with "store".`);
    else fields.metadata = options.metadata;
  }
  if (options.store !== undefined) fields.store = options.store;
  if (options.user !== undefined) fields.user = options.user;
  const cacheKey = promptCacheKey(options, quirks);
  if (cacheKey !== undefined) fields.prompt_cache_key = cacheKey;
  return options.response_format === undefined
    ? { fields }
    : withFormat(fields, options.response_format, tools.length > 0, context, losses);
}

/** Omitting stop sequences would let the model continue where it should stop. */
function addStop(fields: JsonObject, stop: readonly string[] | undefined, { quirks, vendor }: WireContext): void {
  if (stop === undefined || stop.length === 0) return;
  const limit = quirks.maxStopSequences ?? stop.length;
  if (stop.length > limit)
    throw new UnsupportedFeatureError(
      `${vendor} accepts at most ${limit} stop sequences, but "stop" has ${stop.length}.`,
      {
        path: 'stop',
      },
    );
  fields.stop = stop;
}

function addReasoning(
  fields: JsonObject,
  reasoning: NormalizedOptions['reasoning'],
  { quirks, vendor }: WireContext,
  warnings: string[],
): void {
  if (reasoning?.summary !== undefined && reasoning.summary !== null)
    warnings.push('"reasoning.summary" was omitted: chat completions do not summarize reasoning.');
  const effort = reasoning?.effort;
  if (effort === undefined || effort === null) return;
  // Reported elsewhere if the model takes no effort at all.
  const isTaken = !quirks.unsupportedFields.includes('reasoning_effort');
  fields.reasoning_effort = acceptedEffort(effort, { quirks, vendor }, isTaken ? warnings : []);
}

type FormatSupport = VendorQuirks['structuredOutput'];
const SUPPORT_LEVELS: readonly FormatSupport[] = ['none', 'json_object', 'json_schema'];

/**
 * The strictest format that the vendor supports. What it cannot enforce is requested in the prompt, and the caller
 * validates the response.
 */
function withFormat(
  fields: JsonObject,
  format: ResponseFormat,
  hasTools: boolean,
  { quirks, vendor }: WireContext,
  losses: Loss[],
): ChatParameters {
  if (format.type === 'text') return { fields: { ...fields, response_format: { type: 'text' } } };
  const withoutTools = SUPPORT_LEVELS.indexOf(quirks.structuredOutput);
  const supported = hasTools
    ? Math.min(withoutTools, SUPPORT_LEVELS.indexOf(quirks.structuredOutputWithTools ?? 'json_schema'))
    : withoutTools;
  const requested = SUPPORT_LEVELS.indexOf(format.type);
  const level = Math.min(requested, supported);
  if (level < requested) {
    const why =
      hasTools && supported < withoutTools
        ? `${vendor} does not support this format together with tools`
        : `${vendor} does not support this format`;
    losses.push({
      path: 'response_format',
      what: `enforcement of ${format.type}`,
      reason: `${why}; it was requested in the prompt instead.`,
    });
  }
  const sentFields =
    level === 0
      ? fields
      : { ...fields, response_format: level === 1 ? { type: 'json_object' } : jsonSchema(format, quirks, losses) };
  return level < requested ? { fields: sentFields, instruction: formatInstruction(format) } : { fields: sentFields };
}

function jsonSchema(format: ResponseFormat, quirks: VendorQuirks, losses: Loss[]): JsonObject {
  if (format.type !== 'json_schema') return format;
  const { name, description, schema, strict } = strictFormat(format, quirks, losses);
  return {
    type: 'json_schema',
    json_schema: omitUndefined({
      name: name ?? 'response',
      description,
      schema,
      strict: strict === undefined || strict === null ? undefined : strict,
    }),
  };
}

export function formatInstruction(format: ResponseFormat): string {
  const only = 'without code fences and without any other text';
  if (format.type !== 'json_schema') return `Answer with one JSON object, ${only}.`;
  const about = format.description === undefined ? '' : ` (${format.description})`;
  return `Give the final answer as JSON${about}, ${only}. It has to satisfy this JSON Schema:\n${JSON.stringify(format.schema)}`;
}
