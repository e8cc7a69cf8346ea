/**
 * The server side of the Messages API: reads requests of its clients and writes responses for them.
 * https://platform.claude.com/docs/en/api/messages
 */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { fieldsOf, isEmpty, isObject, isObjectList } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { toOutputItems } from '../response/blocks';
import { toContentBlocks } from '../request/contentBlocks';
import { toAnthropicUsage, stopReasonOf } from '../response/outcome';
import { generatedImageOf, omittedImage } from '../../shared/generatedImage';
import { readTool, readToolChoice } from './readTools';
import { readUserBlocks } from './readUserBlocks';
import type { GenerateOptions, ResponseFormat } from '../../../../domain/types/LLMTypes';
import type { InputItem, LLMResponse, OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';

export interface AnthropicClientRequest extends GenerateOptions {
  readonly stream?: boolean;
  readonly input: readonly InputItem[];
}

/**
 * Fields without a counterpart in `GenerateOptions` are stored verbatim in `vendor.anthropic`, as are `thinking`,
 * `output_config`, `top_k` and `metadata`, next to whatever other wires can use of them.
 * @throws LLMInvalidRequestError with the JSON path of the invalid field
 */
export function readAnthropicRequest(body: unknown): AnthropicClientRequest {
  if (!isObject(body)) throw invalid('body', 'must be an object');
  const {
    model,
    messages,
    system,
    tools,
    tool_choice,
    max_tokens,
    temperature,
    top_p,
    stop_sequences,
    stream,
    metadata,
    ...rest
  } = body;
  if (typeof model !== 'string' || model === '') throw invalid('model', 'must be the name of a model');
  if (!Array.isArray(messages)) throw invalid('messages', 'must be a list');
  const parsedTools = requireToolList(tools).map((tool, index) => readTool(tool, `tools[${index}]`));
  const choice = readToolChoice(tool_choice, parsedTools);
  const user = isObject(metadata) && typeof metadata.user_id === 'string' ? metadata.user_id : undefined;
  const limit = isPositive(max_tokens) ? { max_output_tokens: max_tokens } : undefined;
  const passthrough: JsonObject = {
    ...rest,
    ...omitUndefined({ tool_choice: choice.verbatim }),
    // 0 only fills the prompt cache and requests no output.
    ...(limit === undefined && max_tokens !== undefined ? { max_tokens } : {}),
    ...(metadata !== undefined && !(isObject(metadata) && user !== undefined && Object.keys(metadata).length === 1)
      ? { metadata }
      : {}),
  };
  const format = readResponseFormat(rest);
  const reasoning = readReasoning(rest);
  const stop = Array.isArray(stop_sequences) ? stop_sequences.filter((sequence) => typeof sequence === 'string') : [];
  return {
    model,
    input: [...readSystem(system), ...messages.flatMap((message, index) => readMessage(message, `messages[${index}]`))],
    ...(typeof system === 'string' && system !== '' ? { instructions: system } : {}),
    ...(parsedTools.length > 0 ? { tools: parsedTools } : {}),
    ...choice.fields,
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof top_p === 'number' ? { top_p } : {}),
    ...(isPositive(rest.top_k) ? { top_k: rest.top_k } : {}),
    ...limit,
    ...(stop.length > 0 ? { stop } : {}),
    ...omitUndefined({ response_format: format, reasoning, user }),
    ...(Object.keys(passthrough).length > 0 ? { vendor: { anthropic: passthrough } } : {}),
    ...(typeof stream === 'boolean' ? { stream } : {}),
  };
}

function requireToolList(tools: unknown): readonly unknown[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw invalid('tools', 'must be a list');
  return tools;
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function readSystem(system: unknown): readonly InputItem[] {
  if (system === undefined || system === null || typeof system === 'string') return [];
  if (!isObjectList(system)) throw invalid('system', 'must be a string or a list of blocks');
  return readUserBlocks('system', system, 'system');
}

/** The vendor of a client's history is unknown; its wire is not. */
const CLIENT_ORIGIN: Origin = { wire: 'anthropic_messages' };

function readMessage(message: unknown, path: string): readonly InputItem[] {
  if (!isObject(message)) throw invalid(path, 'must be an object');
  const { role, content, ...fields } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!isObjectList(blocks)) throw invalid(`${path}.content`, 'must be a string or a list of blocks');
  switch (role) {
    case 'user':
    case 'system':
      return withFields(readUserBlocks(role, blocks, `${path}.content`), fields);
    case 'assistant':
      return withFields(toOutputItems(blocks, { origin: CLIENT_ORIGIN, isTrusted: false }), fields);
    default:
      throw invalid(`${path}.role`, 'must be "user", "assistant" or "system"');
  }
}

/** Fields of the message itself are stored on the first message item that it was converted to. */
function withFields(items: readonly InputItem[], fields: JsonObject): readonly InputItem[] {
  if (Object.keys(fields).length === 0) return items;
  const index = items.findIndex((item) => item.type === 'message');
  return items.map((item, position) => (position === index ? { ...item, vendor: { anthropic: fields } } : item));
}

function readResponseFormat({ output_config, output_format }: JsonObject): ResponseFormat | undefined {
  const format = isObject(output_config) && output_config.format !== undefined ? output_config.format : output_format;
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.schema)) return undefined;
  return { type: 'json_schema', schema: format.schema, strict: true };
}

function readReasoning({ thinking, output_config }: JsonObject): GenerateOptions['reasoning'] {
  const { type, display, budget_tokens: budget } = fieldsOf(thinking);
  if (type === 'disabled' || type === 'between_tools') return { effort: 'none' };
  const { effort } = fieldsOf(output_config);
  const reasoning = omitUndefined({
    effort: typeof effort === 'string' ? effort : typeof budget === 'number' ? effortOf(budget) : undefined,
    summary: display === 'summarized' ? 'auto' : undefined,
  });
  return isEmpty(reasoning) ? undefined : reasoning;
}

function effortOf(budget: number): string {
  return budget <= 2048 ? 'low' : budget <= 8192 ? 'medium' : 'high';
}

function invalid(path: string, problem: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"${path}" ${problem}.`, { path });
}

/** Writes a response as a message. A response that came over this wire is written as the vendor sent it. */
export function writeAnthropic(response: LLMResponse): JsonObject {
  const { id, model, output, usage, vendor } = response;
  const isSameWire = vendor.wire === 'anthropic_messages';
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: output.flatMap((item) => toClientBlocks(item, isSameWire)),
  };
  if (!isSameWire)
    return { ...message, stop_reason: stopReasonOf(response), stop_sequence: null, usage: toAnthropicUsage(usage) };
  return { ...message, stop_reason: vendor.finish_reason, ...vendor.fields, ...omitUndefined({ usage: vendor.usage }) };
}

/** Vendor items of other wires are not shown to clients, except that images were left out. */
function toClientBlocks(item: OutputItem, isSameWire: boolean): readonly JsonObject[] {
  if (isSameWire) return toContentBlocks(item).blocks;
  switch (item.type) {
    case 'message':
    case 'function_call':
      return toContentBlocks(item).blocks;
    case 'reasoning': {
      const thinking = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join('\n\n');
      // The empty signature marks thinking that Anthropic did not produce.
      return thinking === '' ? [] : [{ type: 'thinking', thinking, signature: '' }];
    }
    default: {
      const image = generatedImageOf(item);
      return image === undefined ? [] : [{ type: 'text', text: omittedImage(image) }];
    }
  }
}
