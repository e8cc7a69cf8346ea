/**
 * Responses requests reduced to what they mean, so that two ways to say the same compare equal: a text for one
 * part, a field left out for its default, no list for an empty one. Nothing else is forgiven.
 */
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';

/**
 * What the wire assumes where a request says nothing.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
const DEFAULTS: JsonObject = { store: true, stream: false };

export function meaningOfRequest(body: JsonObject): JsonObject {
  const said = withoutNulls(body);
  return {
    ...Object.fromEntries(Object.entries(said).filter(([field, value]) => DEFAULTS[field] !== value)),
    input: meaningOfInput(body.input),
    ...(Array.isArray(said.tools) ? { tools: said.tools.map((tool: JsonObject) => withoutNulls(tool)) } : {}),
  };
}

function meaningOfInput(input: unknown): readonly JsonObject[] {
  if (typeof input === 'string') return meaningOfInput([{ role: 'user', content: input }]);
  return Array.isArray(input) ? input.map((item: JsonObject) => meaningOfItem(item)) : [];
}

export function meaningOfItem(item: JsonObject): JsonObject {
  const said = withoutNulls(item);
  if (said.type === 'reasoning')
    return Object.fromEntries(
      Object.entries(said).filter(([field, value]) => !(field === 'content' && isEmpty(value))),
    );
  if (said.type !== undefined && said.type !== 'message') return said;
  return {
    ...said,
    type: 'message',
    content: meaningOfContent(said.content, said.role === 'assistant' ? 'output_text' : 'input_text'),
  };
}

function meaningOfContent(content: unknown, typeOfText: string): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: typeOfText, text: content }];
  return Array.isArray(content)
    ? content.map((part: JsonObject) => withoutNulls(Object.fromEntries(Object.entries(part).filter(isSaid))))
    : [];
}

/** A model's text without annotations or log probabilities has none. */
function isSaid([field, value]: [string, unknown]): boolean {
  return !((field === 'annotations' || field === 'logprobs') && isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
