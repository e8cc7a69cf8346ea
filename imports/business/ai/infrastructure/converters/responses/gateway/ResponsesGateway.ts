/**
 * The server side of the Responses wire: reads a client's request as options, and writes a response as a Responses
 * body. https://platform.openai.com/docs/api-reference/responses, https://www.openresponses.org
 */
import { unwrapForeign, wrapForeign } from '../../shared/foreignReasoning';
import { generatedImageOf } from '../../shared/generatedImage';
import { locatedAnnotation } from '../../shared/locatedAnnotation';
import { usageOf } from '../ResponsesConverter';
import { readItem, wireForm } from '../items';
import { readToolChoice, readTools } from './readTools';
import { userMessage } from '../../../../domain/entities/Message';
import { NO_USAGE } from '../../../../domain/entities/Response';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { atOnce, inTurns, SLICE } from '../../../../domain/util/slices';
import type { Slices } from '../../../../domain/util/slices';
import type { OpenAI } from 'openai';
import type { NormalizedOptions, ResponseFormat } from '../../../../domain/types/LLMTypes';
import type {
  InputItem,
  LLMResponse,
  MessageItem,
  OutputItem,
  Usage,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** A client's request as domain options; `model` and `stream` as the client set them. */
export type ResponsesRequest = Omit<NormalizedOptions, 'model'> & {
  readonly model?: string;
  readonly stream?: boolean;
};

/** The options with the same name and meaning on the wire, and the type of their values. */
const PASSTHROUGH_FIELDS = {
  model: 'string',
  instructions: 'string',
  temperature: 'number',
  top_p: 'number',
  max_output_tokens: 'number',
  parallel_tool_calls: 'boolean',
  previous_response_id: 'string',
  store: 'boolean',
  reasoning: 'object',
  metadata: 'object',
  user: 'string',
  stream: 'boolean',
} as const satisfies Partial<Record<keyof OpenAI.Responses.ResponseCreateParams & keyof ResponsesRequest, string>>;

const MAPPED_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(PASSTHROUGH_FIELDS),
  'input',
  'text',
  'tools',
  'tool_choice',
]);

/**
 * Fields without a domain equivalent are stored under `vendor.openai_responses`. `store` defaults to true: on this
 * wire, a response can be continued unless the client disables it.
 * @throws LLMInvalidRequestError with the JSON path of the invalid value
 */
export function readResponsesRequest(body: unknown): ResponsesRequest {
  return atOnce(readRequest(body));
}

/** Reads like `readResponsesRequest`, but yields to other tasks between slices of a long input. */
export function readResponsesRequestInTurns(body: unknown): ResponsesRequest | Promise<ResponsesRequest> {
  return inTurns(readRequest(body));
}

function* readRequest(body: unknown): Slices<ResponsesRequest> {
  if (!isObject(body)) throw invalid('', 'is not a JSON object');
  const verbatim: [string, unknown][] = Object.entries(body).filter(
    ([field, value]) => !MAPPED_FIELDS.has(field) || (value === null && field !== 'input'),
  );
  const fields: JsonObject = { store: true };
  for (const [field, type] of Object.entries(PASSTHROUGH_FIELDS)) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    if (type === 'object' ? !isObject(value) : typeof value !== type) throw invalid(field, `is not a ${type}`);
    fields[field] = value;
  }
  if (isPresent(body.tools)) fields.tools = readTools(body.tools, invalid);
  if (isPresent(body.tool_choice)) {
    const choice = readToolChoice(body.tool_choice, invalid);
    if (choice.inner !== undefined) fields.tool_choice = choice.inner;
    if (choice.verbatim !== undefined) verbatim.push(['tool_choice', choice.verbatim]);
  }
  if (isPresent(body.text)) {
    const { format, others } = readText(body.text);
    if (format !== undefined) fields.response_format = format;
    if (others !== undefined) verbatim.push(['text', others]);
  }
  // The cast is safe: every field was checked above.
  const options = fields as unknown as Omit<ResponsesRequest, 'input' | 'vendor'>;
  return {
    ...options,
    input: yield* readInput(body.input),
    ...(verbatim.length === 0 ? {} : { vendor: { openai_responses: Object.fromEntries(verbatim) } }),
  };
}

/**
 * Writes the body for a client. A response that came over this wire is written as its vendor sent it, including
 * unknown fields; any other gets all fields that Open Responses requires.
 * @param echo the request's own fields that the response repeats; they override the defaults
 */
export function writeResponses(response: LLMResponse, echo: JsonObject = {}): JsonObject {
  const { vendor, output_text: _, output, usage, ...fields } = response;
  if (vendor.wire === 'responses')
    return { ...fields, output: output.map(wireForm), ...vendor.fields, ...usageField(response) };
  return {
    ...DEFAULT_FIELDS,
    completed_at: response.status === 'completed' ? response.created_at : null,
    ...echo,
    ...fields,
    output: output.map((item, index) => writeForeignItem(item, response, index)),
    usage,
  };
}

/** Writes an output item from another wire, with the required id and status, and with its `vendor` part. */
export function writeForeignItem(
  item: OutputItem,
  response: Pick<LLMResponse, 'id' | 'status' | 'output'>,
  index: number,
): JsonObject {
  const prefix = generatedImageOf(item) === undefined ? (ID_PREFIXES.get(item.type) ?? 'item') : 'ig';
  const id = `${prefix}_${response.id.replace(/^resp_/, '')}_${index}`;
  const cutShort = response.status === 'incomplete' && index === response.output.length - 1;
  const form =
    item.type === 'reasoning' || item.type === 'vendor_item'
      ? wrapForeign(item)
      : wireForm(item.type === 'message' ? withLocatedCitations(item) : item);
  return { id, status: cutShort ? 'incomplete' : 'completed', ...form, ...omitUndefined({ vendor: item.vendor }) };
}

/** Drops citations that the format can't express, such as pages of documents. */
function withLocatedCitations(item: MessageItem): MessageItem {
  const content = item.content.map((part) =>
    part.type === 'output_text' && part.annotations.length > 0
      ? {
          ...part,
          annotations: part.annotations.flatMap((annotation) => locatedAnnotation(annotation, 0, part.text.length)),
        }
      : part,
  );
  return { ...item, content };
}

const ID_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['function_call', 'fc'],
  ['reasoning', 'rs'],
  ['vendor_item', 'rs'],
  ['compaction', 'cmp'],
]);

/** Defaults of the fields that Open Responses requires in every response. */
export const DEFAULT_FIELDS = {
  background: false,
  error: null,
  frequency_penalty: 0,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: null,
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
} as const satisfies JsonObject;

/** The vendor's own usage, unless the counts have changed, for example by summing the calls of a run. */
function usageField({ vendor, usage }: LLMResponse): { readonly usage?: unknown } {
  const original = vendor.usage === undefined ? NO_USAGE : usageOf(vendor.usage);
  if (!sameCounts(original, usage)) return { usage };
  return vendor.usage === undefined ? {} : { usage: vendor.usage };
}

function sameCounts(a: Usage, b: Usage): boolean {
  return (
    a.input_tokens === b.input_tokens &&
    a.output_tokens === b.output_tokens &&
    a.total_tokens === b.total_tokens &&
    a.input_tokens_details.cached_tokens === b.input_tokens_details.cached_tokens &&
    a.input_tokens_details.cache_write_tokens === b.input_tokens_details.cache_write_tokens &&
    a.output_tokens_details.reasoning_tokens === b.output_tokens_details.reasoning_tokens
  );
}

function* readInput(input: unknown): Slices<readonly InputItem[]> {
  if (!isPresent(input)) return [];
  if (typeof input === 'string') return [userMessage(input)];
  if (!Array.isArray(input)) throw invalid('input', 'is neither a string nor a list');
  const items: InputItem[] = [];
  for (const [index, raw] of (input as readonly unknown[]).entries()) {
    if (index > 0 && index % SLICE === 0) yield;
    items.push(readInputItem(raw, `input[${index}]`));
  }
  return items;
}

function readInputItem(raw: unknown, path: string): InputItem {
  const item = isObject(raw) ? withoutNulls(raw) : raw;
  return readItem((isObject(item) ? unwrap(item, path) : undefined) ?? item, path, { invalid });
}

/** Clients fill in what they don't set with null, which vendors refuse. */
const OMITTED_IF_NULL: readonly string[] = ['id', 'status', 'namespace'];

function withoutNulls(item: JsonObject): JsonObject {
  if (!OMITTED_IF_NULL.some((field) => item[field] === null)) return item;
  return Object.fromEntries(
    Object.entries(item).filter(([field, value]) => value !== null || !OMITTED_IF_NULL.includes(field)),
  );
}

function unwrap(raw: JsonObject, path: string): unknown {
  try {
    return unwrapForeign(raw);
  } catch (cause) {
    throw invalid(`${path}.encrypted_content`, 'was modified after it was issued', cause);
  }
}

/** `format` has a domain equivalent; the other fields of `text` are specific to this wire. */
function readText(text: unknown): { readonly format?: ResponseFormat; readonly others?: JsonObject } {
  if (!isObject(text)) throw invalid('text', 'is not an object');
  const { format, ...others } = text;
  if (!isPresent(format)) return { others: text };
  if (!isObject(format)) throw invalid('text.format', 'is not an object');
  switch (format.type) {
    case 'text':
    case 'json_object':
      return { format: { ...format, type: format.type }, ...nonEmpty(others) };
    case 'json_schema': {
      const { schema } = format;
      if (!isObject(schema)) throw invalid('text.format.schema', 'is not an object');
      const nonNull = Object.fromEntries(Object.entries(format).filter(([, value]) => value !== null));
      const inner: ResponseFormat = { ...nonNull, type: format.type, schema };
      return Object.values(format).includes(null)
        ? { format: inner, others: text }
        : { format: inner, ...nonEmpty(others) };
    }
    default:
      return { others: text };
  }
}

function nonEmpty(others: JsonObject): { readonly others?: JsonObject } {
  return Object.keys(others).length === 0 ? {} : { others };
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function invalid(path: string, what: string, cause?: unknown): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`${path === '' ? 'The request' : `"${path}"`} ${what}.`, { path, cause });
}
