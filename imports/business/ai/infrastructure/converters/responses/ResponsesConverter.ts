/**
 * The Responses wire, out and back. The inner language is this wire's own, so what is converted is what a caller
 * may say and the wire may not, and what a host sealed for itself.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
import { readItem } from './items';
import { toInput } from './request/input';
import { toToolChoice, toTools } from './request/tools';
import { strictFormat } from '../shared/strictSchema';
import { NO_USAGE, outputTextOf } from '../../../domain/entities/Response';
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import { vendorError } from '../../../domain/errors/vendorErrors';
import { fieldsOf, isObject } from '../../../domain/json';
import type { OpenAI } from 'openai';
import type { ResponseContext, WireContext, WireRequest } from '../Wire';
import type { NormalizedOptions, ResponseFormat } from '../../../domain/types/LLMTypes';
import type { LLMResponse, OutputItem, ResponseStatus, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss, VendorQuirks } from '../../../domain/types/VendorTypes';

// The wire's types

type RequestField = keyof OpenAI.Responses.ResponseCreateParams;

/** Options that go out under their own name, as they are. */
const PASSTHROUGH_OPTIONS = [
  'instructions',
  'temperature',
  'top_p',
  'max_output_tokens',
  'previous_response_id',
  'reasoning',
  'metadata',
  'user',
] as const satisfies readonly (RequestField & keyof NormalizedOptions)[];

const STATUSES: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'in_progress',
  'cancelled',
  'queued',
  'incomplete',
] satisfies ResponseStatus[]);

/** Without it a host that stores nothing gives reasoning that cannot be sent back. */
const ENCRYPTED_REASONING = 'reasoning.encrypted_content' satisfies OpenAI.Responses.ResponseIncludable;

// Out

/** @throws UnsupportedFeatureError for a tool that the wire does not have */
export function toResponses(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest {
  const warnings: string[] = [];
  const losses: Loss[] = [];
  const nativeAsync = context.capabilities.supportsAsyncTools;
  const store = options.store ?? options.previous_response_id !== undefined;
  const input = toInput(options.input, {
    vendor: context.vendor,
    stateless: !store,
    nativeAsync,
    partial: options.previous_response_id !== undefined,
  });

  const body: JsonObject = { model: options.model, input: input.items, store };
  for (const option of PASSTHROUGH_OPTIONS) if (options[option] !== undefined) body[option] = options[option];
  const impliedInclude = !store && context.capabilities.supportsReasoning ? [ENCRYPTED_REASONING] : undefined;
  if (impliedInclude !== undefined) body.include = impliedInclude;
  if (options.tools !== undefined)
    body.tools = toTools(options.tools, { vendor: context.vendor, quirks: context.quirks, nativeAsync }, warnings);
  if (options.tool_choice !== undefined)
    body.tool_choice = toToolChoice(options.tool_choice, options.tools ?? [], context.vendor);
  if (options.parallel_tool_calls !== undefined) {
    if (context.quirks.supportsParallelToolCalls) body.parallel_tool_calls = options.parallel_tool_calls;
    else warnings.push(`${context.vendor} does not know parallel_tool_calls: it was left out`);
  }
  const format = options.response_format && toFormat(options.response_format, context, warnings, losses);
  if (format !== undefined) body.text = { format };
  if (options.stop !== undefined) warnings.push('the Responses API has no stop sequences: stop was left out');
  if (stream) body.stream = true;
  addPassthroughFields(body, options.vendor?.openai_responses, stream);
  addPassthroughFields(body, options.vendor?.[context.vendor], stream);
  const { unsupportedFields } = context.quirks;
  for (const field of unsupportedFields) {
    // What nobody asked for is not missed.
    const implied = field === 'store' ? options.store === undefined : body[field] === impliedInclude;
    if (body[field] !== undefined && !implied)
      warnings.push(`${context.vendor} does not know ${field}: it was left out`);
  }
  return {
    body: Object.fromEntries(Object.entries(body).filter(([field]) => !unsupportedFields.includes(field))),
    warnings,
    losses: [...input.losses, ...losses],
  };
}

/**
 * `text` holds more than the format, so a caller's own `text` joins it; `stream_options` is refused without a
 * stream.
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
  if (format.type !== 'json_schema')
    return format.type === 'text' ? format : jsonObject(format, context.quirks, warnings, context.vendor);
  switch (context.quirks.structuredOutput) {
    case 'json_schema':
      return {
        ...strictFormat(format, context.quirks.supportsStrictSchemas !== false, losses),
        name: format.name ?? 'response',
      };
    case 'json_object':
      warnings.push(`${context.vendor} does not know json_schema: json_object was asked for instead`);
      return { type: 'json_object' };
    case 'none':
      warnings.push(`${context.vendor} has no structured output: response_format was left out`);
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
  warnings.push(`${vendor} has no structured output: response_format was left out`);
  return undefined;
}

// Back

/**
 * @throws LLMStreamError for a body that is not a response, with what is wrong
 * @throws LLMError for a failed response or a 200 that holds an error; `.response` is the failed one
 */
export function fromResponses(body: unknown, context: ResponseContext): LLMResponse {
  const response = readResponse(body, context);
  if (response.status !== 'failed') return response;
  throw vendorError({
    ...errorDetails(context),
    body: isObject(body) && isObject(body.error) ? body.error : 'the response failed',
    response,
  });
}

/** The same, with failed responses among those that it gives. */
export function readResponse(body: unknown, context: ResponseContext): LLMResponse {
  const wire = parseResponse(body, context);
  const warnings = [...context.warnings];
  const output = outputOf(wire, context);
  const status = statusOf(wire, output, warnings);
  const inner = {
    id: typeof wire.id === 'string' ? wire.id : (context.requestId ?? ''),
    object: 'response',
    created_at: typeof wire.created_at === 'number' ? wire.created_at : context.receivedAt,
    status,
    ...(status === 'incomplete' && status !== wire.status
      ? { incomplete_details: { reason: 'content_filter' } }
      : incompleteDetails(wire)),
    model: typeof wire.model === 'string' ? wire.model : context.model,
    ...errorIn(wire),
    ...(typeof wire.previous_response_id === 'string' || wire.previous_response_id === null
      ? { previous_response_id: wire.previous_response_id }
      : {}),
    ...(isMetadata(wire.metadata) ? { metadata: wire.metadata } : {}),
  } as const satisfies Partial<LLMResponse>;
  return {
    ...inner,
    output,
    output_text: outputTextOf(output),
    usage: usageIn(wire.usage, warnings),
    vendor: {
      name: context.vendor,
      wire: 'responses',
      finish_reason: typeof wire.status === 'string' ? wire.status : null,
      ...(context.requestId === undefined ? {} : { request_id: context.requestId }),
      warnings,
      losses: context.losses,
      fields: unmappedFields(inner, wire),
      ...(isObject(wire.usage) ? { usage: wire.usage } : {}),
    },
  };
}

/** Counts that are missing are zero. */
export function usageOf(usage: JsonObject): Usage {
  const inputs = fieldsOf(usage.input_tokens_details);
  const outputs = fieldsOf(usage.output_tokens_details);
  const input_tokens = count(usage.input_tokens);
  const output_tokens = count(usage.output_tokens);
  return {
    input_tokens,
    output_tokens,
    total_tokens: typeof usage.total_tokens === 'number' ? count(usage.total_tokens) : input_tokens + output_tokens,
    input_tokens_details: {
      cached_tokens: count(inputs.cached_tokens),
      cache_write_tokens: count(inputs.cache_write_tokens),
    },
    output_tokens_details: { reasoning_tokens: count(outputs.reasoning_tokens) },
  };
}

function usageIn(usage: unknown, warnings: string[]): Usage {
  if (isObject(usage)) return usageOf(usage);
  warnings.push('the answer carries no usage: its tokens count as zero');
  return NO_USAGE;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function parseResponse(body: unknown, context: ResponseContext): JsonObject {
  if (!isObject(body)) throw invalidResponse(describeBody(body), context);
  if (Array.isArray(body.output) || body.object === 'response') return body;
  if (body.error !== undefined && body.error !== null) throw vendorError({ ...errorDetails(context), body });
  throw invalidResponse(
    `it has no output; its fields are ${Object.keys(body).slice(0, 10).join(', ') || 'none'}`,
    context,
  );
}

function outputOf(wire: JsonObject, context: ResponseContext): readonly OutputItem[] {
  // A response that failed or has not begun may have no output.
  if (!Array.isArray(wire.output)) {
    if (wire.output === undefined || wire.output === null) {
      if (wire.status === 'failed' || wire.status === 'queued' || wire.status === 'cancelled') return [];
    }
    throw invalidResponse('its output is not a list', context);
  }
  const origin = {
    wire: 'responses',
    vendor: context.vendor,
    model: typeof wire.model === 'string' ? wire.model : context.model,
  } as const;
  const source = { origin, invalid: (path: string, what: string) => invalidResponse(`${path} ${what}`, context) };
  return wire.output.map((item: unknown, index) => readItem(item, `output[${index}]`, source));
}

/**
 * A refusal counts as an answer that the host's filter cut short. A word that is unknown or missing counts as
 * completed.
 */
function statusOf(wire: JsonObject, output: readonly OutputItem[], warnings: string[]): ResponseStatus {
  const status = wire.status;
  if (typeof status !== 'string' || !STATUSES.has(status)) {
    warnings.push(
      typeof status === 'string'
        ? `unknown status '${status}': it counts as completed`
        : 'the answer carries no status: it counts as completed',
    );
  } else if (status !== 'completed') return status as ResponseStatus;
  return output.some((item) => item.type === 'message' && item.content.some((part) => part.type === 'refusal'))
    ? 'incomplete'
    : 'completed';
}

function incompleteDetails(wire: JsonObject): Pick<LLMResponse, 'incomplete_details'> {
  const details = wire.incomplete_details;
  if (details === null) return { incomplete_details: null };
  return isObject(details) && typeof details.reason === 'string'
    ? { incomplete_details: details as { reason: string } }
    : {};
}

function errorIn(wire: JsonObject): Pick<LLMResponse, 'error'> {
  const { error } = wire;
  if (error === null) return { error: null };
  if (!isObject(error)) return {};
  return typeof error.code === 'string' && typeof error.message === 'string'
    ? { error: error as { code: string; message: string } }
    : {};
}

function isMetadata(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** What the wire said and the inner response does not say in the same way. */
function unmappedFields(inner: JsonObject, wire: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(wire).filter(([field, value]) => {
      if (field === 'output') return !Array.isArray(value);
      if (field === 'usage') return !isObject(value);
      return !(Object.hasOwn(inner, field) && inner[field] === value);
    }),
  );
}

function invalidResponse(what: string, context: ResponseContext): LLMStreamError {
  return new LLMStreamError(`not a Responses body: ${what}`, errorDetails(context));
}

function errorDetails({ vendor, requestId }: ResponseContext): {
  readonly vendor: string;
  readonly requestId?: string;
} {
  return requestId === undefined ? { vendor } : { vendor, requestId };
}

function describeBody(body: unknown): string {
  if (typeof body === 'string') return `a text that begins with ${JSON.stringify(body.trimStart().slice(0, 40))}`;
  if (Array.isArray(body)) return 'a list';
  return body === null || body === undefined ? 'nothing' : `a ${typeof body}`;
}
