/**
 * Converts requests to, and responses from, the Responses API. The domain model uses the same format, so only a few
 * things change: options that the API lacks, and content that only the vendor that created it can read.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
import { readItem } from './items';
import { serverToolsIn, toolModelsIn } from './serverTools';
import { toInput } from './request/input';
import { toToolChoice, toTools } from './request/tools';
import { hasItem } from '../shared/hasItem';
import { strictFormat } from '../shared/strictSchema';
import { quirksOfModel } from '../shared/quirksOfModel';
import { sharedFields } from '../shared/sharedFields';
import { samplingFields } from '../shared/samplingFields';
import { acceptedEffort } from '../shared/reasoningEffort';
import { reportedCost } from '../shared/reportedCost';
import { NO_USAGE, outputTextOf, positiveCounts, tokenCount } from '../../../domain/entities/Response';
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import { vendorError } from '../../../domain/errors/vendorErrors';
import { fieldsOf, isObject } from '../../../domain/util/json';
import { atOnce } from '../../../domain/util/slices';
import type { Slices } from '../../../domain/util/slices';
import type { OpenAI } from 'openai';
import type { ResponseContext, WireContext, WireRequest } from '../Wire';
import type { NormalizedOptions, ResponseFormat } from '../../../domain/types/LLMTypes';
import { BREAKPOINT, promptCacheKey, withExplicitBreakpoints } from '../shared/promptCache';
import type {
  Content,
  InputItem,
  LLMResponse,
  OutputItem,
  ResponseStatus,
  Usage,
} from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss, VendorQuirks } from '../../../domain/types/VendorTypes';
import type { Writable } from '../../../domain/types/Writable';

// Wire types

type RequestField = keyof OpenAI.Responses.ResponseCreateParams;

/** Options that are sent unchanged under their own name. */
const PASSTHROUGH_OPTIONS = [
  'instructions',
  'max_output_tokens',
  'previous_response_id',
  'metadata',
  'user',
] as const satisfies readonly (RequestField & keyof NormalizedOptions)[];

/** The API rejects a lower limit, which clients of other APIs send to find out whether a model answers. */
const MIN_OUTPUT_TOKENS = 16;

/** Fields of Open Responses, but not of OpenAI's API. https://www.openresponses.org */
const PENALTIES = ['presence_penalty', 'frequency_penalty'] as const;
const UNSUPPORTED_OPTIONS = ['top_k', 'seed', ...PENALTIES] as const;

const STATUSES: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'in_progress',
  'cancelled',
  'queued',
  'incomplete',
] satisfies ResponseStatus[]);

/** Without it, a vendor that does not store the response returns reasoning that cannot be sent back. */
const ENCRYPTED_REASONING = 'reasoning.encrypted_content' satisfies OpenAI.Responses.ResponseIncludable;

// To the wire

/** @throws UnsupportedFeatureError for a tool that the wire does not have */
export function toResponses(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest {
  return atOnce(responsesSlices(options, context, stream));
}

/** Converts like `toResponses`, a slice of the history at a time. */
export function* responsesSlices(
  options: NormalizedOptions,
  { quirks, ...vendorContext }: WireContext,
  stream: boolean,
): Slices<WireRequest> {
  const context: WireContext = { ...vendorContext, quirks: quirksOfModel(quirks, options.model) };
  const warnings: string[] = [];
  const losses: Loss[] = [];
  const nativeAsync = context.capabilities.supportsAsyncTools;
  const isBackground = options.background === true && context.quirks.supportsBackground === true;
  // What is generated in the background is read later.
  const store = isBackground || (options.store ?? options.previous_response_id !== undefined);
  const cached = withExplicitBreakpoints(options, context.quirks, withBreakpoint);
  const input = yield* toInput(cached.input, {
    vendor: context.vendor,
    stateless: !store,
    nativeAsync,
    partial:
      options.previous_response_id !== undefined ||
      (options.conversation ?? options.vendor?.openai_responses?.conversation ?? undefined) !== undefined ||
      hasItem(options.input, 'item_reference'),
  });

  const body: JsonObject = { model: options.model, input: input.items, store };
  if (isBackground) body.background = true;
  if (options.conversation !== undefined && context.quirks.supportsBackground === true)
    body.conversation = options.conversation;
  for (const option of PASSTHROUGH_OPTIONS) if (options[option] !== undefined) body[option] = options[option];
  Object.assign(body, samplingFields(options, context, warnings));
  const reasoning = options.reasoning && toReasoning(options.reasoning, options.model, context, warnings);
  if (reasoning !== undefined) body.reasoning = reasoning;
  if (options.max_output_tokens !== undefined && options.max_output_tokens < MIN_OUTPUT_TOKENS) {
    body.max_output_tokens = MIN_OUTPUT_TOKENS;
    warnings.push(`"max_output_tokens" was raised to ${MIN_OUTPUT_TOKENS}, the least that the Responses API accepts.`);
  }
  const impliedInclude = !store && context.capabilities.supportsReasoning ? [ENCRYPTED_REASONING] : undefined;
  if (impliedInclude !== undefined) body.include = impliedInclude;
  if (options.tools !== undefined)
    body.tools = toTools(options.tools, { vendor: context.vendor, quirks: context.quirks, nativeAsync }, warnings);
  if (options.tool_choice !== undefined)
    body.tool_choice = toToolChoice(options.tool_choice, options.tools ?? [], context.vendor);
  if (options.parallel_tool_calls !== undefined) {
    if (context.quirks.supportsParallelToolCalls) body.parallel_tool_calls = options.parallel_tool_calls;
    else warnings.push(`"parallel_tool_calls" was omitted: ${context.vendor} does not support it.`);
  }
  const format = options.response_format && toFormat(options.response_format, context, warnings, losses);
  if (format !== undefined) body.text = { format };
  const cacheKey = promptCacheKey(options, context.quirks);
  if (cacheKey !== undefined) body.prompt_cache_key = cacheKey;
  losses.push(...cached.losses);
  Object.assign(body, cached.fields);
  if (options.stop !== undefined) warnings.push('"stop" was omitted: the Responses API has no stop sequences.');
  const isOpen = context.quirks.hasOpenResponsesPenalties === true;
  if (isOpen) for (const option of PENALTIES) if (options[option] !== undefined) body[option] = options[option];
  for (const option of UNSUPPORTED_OPTIONS)
    if (options[option] !== undefined && body[option] === undefined)
      warnings.push(`"${option}" was omitted: the Responses API does not have it.`);
  if (stream) body.stream = true;
  Object.assign(body, sharedFields(options.vendor?.openai, context, 'responses'));
  addPassthroughFields(body, options.vendor?.openai_responses, stream);
  addPassthroughFields(body, options.vendor?.[context.vendor], stream);
  if (options.compact === true)
    return { body: pickCompactionFields(body), warnings, losses: [...input.losses, ...losses] };
  const { unsupportedFields } = context.quirks;
  for (const field of unsupportedFields) {
    // Omitting a default that the caller did not set needs no warning.
    const implied = field === 'store' ? options.store === undefined : body[field] === impliedInclude;
    if (body[field] !== undefined && !implied)
      warnings.push(`"${field}" was omitted: ${context.vendor} does not support it.`);
  }
  return {
    body: unsupportedFields.length === 0 ? body : without(body, unsupportedFields),
    warnings,
    losses: [...input.losses, ...losses],
  };
}

/** Models that don't reason, or whose effort is fixed, refuse an effort. */
function toReasoning(
  reasoning: NonNullable<NormalizedOptions['reasoning']>,
  model: string,
  context: WireContext,
  warnings: string[],
): NormalizedOptions['reasoning'] {
  const { effort, ...others } = reasoning;
  if (effort === undefined || effort === null) return reasoning;
  if (!context.quirks.unsupportedFields.includes('reasoning_effort'))
    return { ...reasoning, effort: acceptedEffort(effort, context, warnings) };
  warnings.push(`"reasoning.effort" was omitted: ${context.vendor} does not support it for "${model}".`);
  return Object.keys(others).length === 0 ? undefined : others;
}

/** The content of messages and of results takes marks; those of the assistant do not. */
function withBreakpoint(item: InputItem): InputItem | undefined {
  if (item.type === 'function_call_output') {
    const { output } = item;
    const parts = typeof output === 'string' ? [{ type: 'input_text', text: output } as const] : output;
    return parts.length === 0 ? undefined : { ...item, output: withLastMarked(parts) };
  }
  if (item.type !== 'message' || item.role === 'assistant' || item.content.length === 0) return undefined;
  return { ...item, content: withLastMarked(item.content) };
}

function withLastMarked<P extends Content>(parts: readonly P[]): readonly P[] {
  return parts.map((part, index) => (index === parts.length - 1 ? { ...part, ...BREAKPOINT } : part));
}

/** https://developers.openai.com/api/reference/resources/responses/methods/compact */
const COMPACTION_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'previous_response_id',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
] satisfies (keyof OpenAI.Responses.ResponseCompactParams)[]);

function pickCompactionFields(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([field]) => COMPACTION_FIELDS.has(field)));
}

function without(body: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([field]) => !fields.includes(field)));
}

/**
 * Merges the caller's `text` into ours, because the field holds more than the format. Drops `stream_options` from
 * requests without streaming, which vendors reject.
 */
function addPassthroughFields(body: JsonObject, fields: JsonObject | undefined, stream: boolean): void {
  if (fields === undefined) return;
  const { text, stream_options, ...rest } = fields;
  Object.assign(body, rest);
  if (text !== undefined) body.text = isObject(body.text) && isObject(text) ? { ...body.text, ...text } : text;
  if (stream_options !== undefined && stream) body.stream_options = stream_options;
}

function toFormat(
  format: ResponseFormat,
  context: WireContext,
  warnings: string[],
  losses: Loss[],
): JsonObject | undefined {
  const { quirks, vendor } = context;
  if (format.type !== 'json_schema')
    return format.type === 'text' ? format : jsonObject(format, quirks, warnings, vendor);
  switch (quirks.structuredOutput) {
    case 'json_schema':
      return {
        ...strictFormat(format, quirks, losses),
        name: format.name ?? 'response',
      };
    case 'json_object':
      warnings.push(`"json_schema" was replaced by "json_object": ${vendor} does not support it.`);
      return { type: 'json_object' };
    case 'none':
      warnings.push(`"response_format" was omitted: ${vendor} has no structured output.`);
      return undefined;
  }
}

function jsonObject(
  format: ResponseFormat & { type: 'json_object' },
  quirks: VendorQuirks,
  warnings: string[],
  vendor: string,
): JsonObject | undefined {
  if (quirks.structuredOutput !== 'none') return format;
  warnings.push(`"response_format" was omitted: ${vendor} has no structured output.`);
  return undefined;
}

// From the wire

/**
 * @throws LLMStreamError for a body that is not a response
 * @throws LLMError for a failed response, which is the error's `response`, or for an error with status 200
 */
export function fromResponses(body: unknown, context: ResponseContext): LLMResponse {
  const response = readResponse(body, context);
  if (response.status !== 'failed') return response;
  throw vendorError({
    ...errorDetails(context),
    body: isObject(body) && isObject(body.error) ? body.error : 'The response failed.',
    response,
  });
}

/** Like `fromResponses`, but also returns failed responses. */
export function readResponse(body: unknown, context: ResponseContext): LLMResponse {
  const wire = parseResponse(body, context);
  const warnings = [...context.warnings];
  const output = outputOf(wire, context);
  const status = statusOf(wire, output, warnings);
  const tokens = usageIn(wire.usage, warnings);
  const { server_tool_use } = serverToolsIn(wire);
  const usage = server_tool_use === undefined ? tokens : { ...tokens, server_tool_use };
  const vendor: Writable<LLMResponse['vendor']> = {
    name: context.vendor,
    wire: 'responses',
    finish_reason: typeof wire.status === 'string' ? wire.status : null,
    warnings,
    losses: context.losses,
  };
  if (context.requestId !== undefined) vendor.request_id = context.requestId;
  const response: Writable<LLMResponse> = {
    id: typeof wire.id === 'string' ? wire.id : (context.requestId ?? ''),
    object: 'response',
    created_at: typeof wire.created_at === 'number' ? wire.created_at : context.receivedAt,
    status,
    model: typeof wire.model === 'string' ? wire.model : context.model,
    output,
    output_text: outputTextOf(output),
    usage,
    vendor,
  };
  const details = status === 'incomplete' && status !== wire.status ? CONTENT_FILTER : incompleteDetails(wire);
  if (details !== undefined) response.incomplete_details = details;
  const error = errorIn(wire);
  if (error !== undefined) response.error = error;
  const previousId = wire.previous_response_id;
  if (typeof previousId === 'string' || previousId === null) response.previous_response_id = previousId;
  if (isMetadata(wire.metadata)) response.metadata = wire.metadata;
  vendor.fields = unmappedFields(response, wire);
  if (isObject(wire.usage)) {
    vendor.usage = wire.usage;
    Object.assign(vendor, reportedCost(wire.usage));
  }
  const toolModels = toolModelsIn(wire);
  if (toolModels.length > 0) vendor.tool_models = toolModels;
  return response;
}

const CONTENT_FILTER = { reason: 'content_filter' } as const;

/** Missing counts are zero. */
export function usageOf(usage: JsonObject): Usage {
  const inputs = fieldsOf(usage.input_tokens_details);
  const outputs = fieldsOf(usage.output_tokens_details);
  const input_tokens = tokenCount(usage.input_tokens);
  const output_tokens = tokenCount(usage.output_tokens);
  return {
    input_tokens,
    output_tokens,
    total_tokens: tokenCount(usage.total_tokens) || input_tokens + output_tokens,
    input_tokens_details: {
      cached_tokens: tokenCount(inputs.cached_tokens),
      cache_write_tokens: tokenCount(inputs.cache_write_tokens),
      ...positiveCounts({
        cache_write_12h_tokens: fieldsOf(inputs.cache_write_tokens_details).ttl_12h_tokens,
        audio_tokens: inputs.audio_tokens,
      }),
    },
    output_tokens_details: {
      reasoning_tokens: tokenCount(outputs.reasoning_tokens),
      ...positiveCounts({ audio_tokens: outputs.audio_tokens }),
    },
  };
}

function usageIn(usage: unknown, warnings: string[]): Usage {
  if (isObject(usage)) return usageOf(usage);
  warnings.push('The response reports no usage; its tokens count as zero.');
  return NO_USAGE;
}

function parseResponse(body: unknown, context: ResponseContext): JsonObject {
  if (!isObject(body)) throw invalidResponse(describeBody(body), context);
  if (Array.isArray(body.output) || body.object === 'response') return body;
  if (body.error !== undefined && body.error !== null) throw vendorError({ ...errorDetails(context), body });
  throw invalidResponse(
    `it has no "output"; its fields are: ${Object.keys(body).slice(0, 10).join(', ') || 'none'}`,
    context,
  );
}

function outputOf(wire: JsonObject, context: ResponseContext): readonly OutputItem[] {
  // A response that failed or has not started may have no output.
  if (!Array.isArray(wire.output)) {
    if (wire.output === undefined || wire.output === null) {
      if (wire.status === 'failed' || wire.status === 'queued' || wire.status === 'cancelled') return [];
    }
    throw invalidResponse('its "output" is not a list', context);
  }
  const origin = {
    wire: 'responses',
    vendor: context.vendor,
    model: typeof wire.model === 'string' ? wire.model : context.model,
  } as const;
  const source = { origin, invalid: (path: string, what: string) => invalidResponse(`${path} ${what}`, context) };
  return wire.output.map((item: unknown, index) => readItem(item, `output[${index}]`, source));
}

/** A refusal counts as a response cut short by the content filter, an unknown or missing status as completed. */
function statusOf(wire: JsonObject, output: readonly OutputItem[], warnings: string[]): ResponseStatus {
  const { status } = wire;
  if (wire.object === 'response.compaction' && status === undefined) return 'completed';
  if (typeof status !== 'string' || !STATUSES.has(status)) {
    warnings.push(
      typeof status === 'string'
        ? `Unknown status "${status}"; the response was treated as completed.`
        : 'The response has no status; it was treated as completed.',
    );
  } else if (status !== 'completed') return status as ResponseStatus;
  return output.some((item) => item.type === 'message' && item.content.some((part) => part.type === 'refusal'))
    ? 'incomplete'
    : 'completed';
}

function incompleteDetails({ incomplete_details: details }: JsonObject): LLMResponse['incomplete_details'] {
  if (details === null) return null;
  return isObject(details) && typeof details.reason === 'string' ? (details as { reason: string }) : undefined;
}

function errorIn({ error }: JsonObject): LLMResponse['error'] {
  if (error === null) return null;
  if (!isObject(error) || typeof error.code !== 'string' || typeof error.message !== 'string') return undefined;
  return error as { code: string; message: string };
}

function isMetadata(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** The fields of the body that the domain response does not hold with the same value. */
function unmappedFields(response: LLMResponse, wire: JsonObject): JsonObject {
  const unmapped: JsonObject = {};
  for (const field of Object.keys(wire)) {
    const value = wire[field];
    if (isMapped(field, response, value)) continue;
    if (field !== '__proto__') unmapped[field] = value;
    else Object.defineProperty(unmapped, field, { value, enumerable: true, writable: true, configurable: true });
  }
  return unmapped;
}

function isMapped(field: string, response: LLMResponse, value: unknown): boolean {
  switch (field) {
    case 'output':
      return Array.isArray(value);
    case 'usage':
      return isObject(value);
    case 'id':
    case 'object':
    case 'created_at':
    case 'status':
    case 'incomplete_details':
    case 'model':
    case 'error':
    case 'previous_response_id':
    case 'metadata':
      return response[field] === value;
    default:
      return false;
  }
}

function invalidResponse(what: string, context: ResponseContext): LLMStreamError {
  return new LLMStreamError(
    `The response of ${context.vendor} is not a Responses API body: ${what}.`,
    errorDetails(context),
  );
}

function errorDetails({ vendor, requestId }: ResponseContext): {
  readonly vendor: string;
  readonly requestId?: string;
} {
  return requestId === undefined ? { vendor } : { vendor, requestId };
}

function describeBody(body: unknown): string {
  if (typeof body === 'string') return `it is text that starts with ${JSON.stringify(body.trimStart().slice(0, 40))}`;
  if (Array.isArray(body)) return 'it is a list';
  return body === null || body === undefined ? 'it is empty' : `it is a ${typeof body}`;
}
