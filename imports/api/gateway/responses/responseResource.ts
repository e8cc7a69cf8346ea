/**
 * Responses in the format of Open Responses: all 31 fields, including those repeated from the request. A response of a
 * provider that speaks the Responses API retains its further fields.
 * https://www.openresponses.org, release 2026-04-24, "ResponseResource"
 */
import type { LLMResponse, OutputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import {
  DEFAULT_FIELDS,
  writeResponses,
} from '../../../business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { isObject } from '../../../business/ai/domain/util/json';
import { conversationField } from '../conversations/Conversations';

/** Request fields that the response repeats, unless they are null. */
const ECHOED_FIELDS = [
  'background',
  'frequency_penalty',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'presence_penalty',
  'previous_response_id',
  'prompt_cache_key',
  'safety_identifier',
  'service_tier',
  'store',
  'temperature',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
] as const;

/** @param body a validated request @returns the fields that its response repeats */
export function echoRequest(body: JsonObject): JsonObject {
  const echoed = Object.fromEntries(
    ECHOED_FIELDS.flatMap((field) => (isPresent(body[field]) ? [[field, body[field]]] : [])),
  );
  return {
    ...echoed,
    ...conversationField(body),
    ...(isObject(body.reasoning) ? { reasoning: completeReasoning(body.reasoning) } : {}),
    ...(isObject(body.text) ? { text: completeText(body.text) } : {}),
    ...(isPresent(body.tool_choice) ? { tool_choice: completeToolChoice(body.tool_choice) } : {}),
    ...(Array.isArray(body.tools) ? { tools: body.tools.map(completeTool) } : {}),
  };
}

/** A response as it is sent to its client. */
export function toResponseResource(response: LLMResponse, echo: JsonObject): JsonObject {
  const conforming = conform(response, echo);
  if (response.vendor.wire !== 'responses') return writeResponses(conforming, echo);
  return { ...DEFAULT_FIELDS, usage: null, completed_at: null, ...echo, ...writeResponses(conforming) };
}

/** A response without output: queued, in progress or failed. */
export function emptyResource(
  echo: JsonObject,
  facts: {
    readonly id: string;
    readonly created_at: number;
    readonly status: string;
    readonly model: string;
    readonly error?: JsonObject;
  },
): JsonObject {
  return { ...DEFAULT_FIELDS, usage: null, completed_at: null, ...echo, object: 'response', output: [], ...facts };
}

/**
 * Adapts fields whose format differs from Open Responses. Missing fields are filled in when the response is
 * written.
 */
export function conform(response: LLMResponse, echo: JsonObject): LLMResponse {
  const { vendor, output } = response;
  if (vendor.wire !== 'responses') return response;
  const { fields } = vendor;
  return {
    ...response,
    output: output.map(withStatus),
    vendor: fields === undefined ? vendor : { ...vendor, fields: conformingFields(fields, echo) },
  };
}

/** OpenAI omits the status of reasoning, which the items of all other vendors have. */
export function withStatus(item: OutputItem): OutputItem {
  return item.type === 'reasoning' && item.status === undefined ? { ...item, status: 'completed' } : item;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Drops nulls of fields that must not be null, so that the request's value or the default applies. */
export function conformingFields(fields: JsonObject, echo: JsonObject): JsonObject {
  const rest = Object.fromEntries(
    Object.entries(fields).filter(([field, value]) => value !== null || !isNeverNull(field)),
  );
  return {
    ...rest,
    ...(isObject(rest.reasoning) ? { reasoning: completeReasoning(rest.reasoning) } : {}),
    ...(isObject(rest.text) ? { text: completeText(withRequestedName(rest.text, echo)) } : {}),
    ...(isPresent(rest.tool_choice) ? { tool_choice: completeToolChoice(rest.tool_choice) } : {}),
    ...(Array.isArray(rest.tools) ? { tools: rest.tools.map(completeTool) } : {}),
  };
}

/** xAI omits the name of the format that it repeats. */
function withRequestedName(text: JsonObject, { text: requestedText }: JsonObject): JsonObject {
  const name = isObject(requestedText) && isObject(requestedText.format) ? requestedText.format.name : undefined;
  return name === undefined || !isObject(text.format) || text.format.type !== 'json_schema'
    ? text
    : { ...text, format: { name, ...text.format } };
}

function isNeverNull(field: string): boolean {
  return field in DEFAULT_FIELDS && DEFAULT_FIELDS[field as keyof typeof DEFAULT_FIELDS] !== null;
}

function completeReasoning(reasoning: JsonObject): JsonObject {
  return { ...reasoning, effort: reasoning.effort ?? null, summary: reasoning.summary ?? null };
}

/** The schema is not repeated: the specification allows only null. */
function completeText({ format, verbosity, ...others }: JsonObject): JsonObject {
  return {
    ...others,
    ...(isPresent(verbosity) ? { verbosity } : {}),
    format: !isObject(format)
      ? { type: 'text' }
      : format.type === 'json_schema'
        ? { ...format, description: format.description ?? null, strict: format.strict ?? false, schema: null }
        : format,
  };
}

function completeToolChoice(choice: unknown): unknown {
  return isObject(choice) && choice.type === 'allowed_tools' ? { ...choice, mode: choice.mode ?? 'auto' } : choice;
}

function completeTool(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool;
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? null,
  };
}
