/**
 * Normalizes Responses requests, so that equivalent ones compare equal: a string for a single part, an omitted field
 * for its default, an omitted list for an empty one. All other differences remain.
 */
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';

/**
 * The API's defaults of omitted fields.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
const DEFAULTS: JsonObject = { store: true, stream: false };

export function meaningOfRequest(body: JsonObject): JsonObject {
  const fields = withoutNulls(body);
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([field, value]) => DEFAULTS[field] !== value)),
    input: meaningOfInput(body.input),
    ...(Array.isArray(fields.tools) ? { tools: fields.tools.map((tool: JsonObject) => withoutNulls(tool)) } : {}),
  };
}

function meaningOfInput(input: unknown): readonly JsonObject[] {
  if (typeof input === 'string') return meaningOfInput([{ role: 'user', content: input }]);
  return Array.isArray(input) ? input.map((item: JsonObject) => meaningOfItem(item)) : [];
}

export function meaningOfItem(item: JsonObject): JsonObject {
  const fields = withoutNulls(item);
  if (fields.type === 'reasoning')
    return Object.fromEntries(
      Object.entries(fields).filter(([field, value]) => !(field === 'content' && isEmpty(value))),
    );
  if (fields.type !== undefined && fields.type !== 'message') return fields;
  return {
    ...fields,
    type: 'message',
    content: meaningOfContent(fields.content, fields.role === 'assistant' ? 'output_text' : 'input_text'),
  };
}

function meaningOfContent(content: unknown, typeOfText: string): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: typeOfText, text: content }];
  return Array.isArray(content)
    ? content.map((part: JsonObject) => withoutNulls(Object.fromEntries(Object.entries(part).filter(isMeaningful))))
    : [];
}

/** Empty annotations and log probabilities mean the same as omitted ones. */
function isMeaningful([field, value]: [string, unknown]): boolean {
  return !((field === 'annotations' || field === 'logprobs') && isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
