/**
 * Carries items of other wires through the Responses format, in the one field that clients send back unchanged: the
 * `encrypted_content` of a reasoning item. The wrapping is not encryption. It keeps an item together with its origin,
 * so that it is only ever returned to the vendor that produced it.
 */
import { fieldsOf } from '../../../domain/util/json';
import { generatedImageOf } from './generatedImage';
import type { GeneratedImage } from './generatedImage';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { ReasoningItem, VendorItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

const PREFIX = 'bolide.1.';

/** Wraps a reasoning item of another wire, or an item that the Responses format cannot express. */
export function wrapForeign(item: ReasoningItem | VendorItem): JsonObject {
  const image = generatedImageOf(item);
  if (item.type === 'vendor_item' && image !== undefined) return wrapImage(item, image);
  const readable = item.type === 'reasoning' ? item : undefined;
  return omitUndefined({
    type: 'reasoning',
    summary: readable?.summary.map(({ type, text }) => ({ type, text })) ?? [],
    content: readable?.content?.map(({ type, text }) => ({ type, text })),
    encrypted_content: PREFIX + Buffer.from(JSON.stringify(item)).toString('base64url'),
  });
}

/** Writes the image that clients read, https://developers.openai.com/api/docs/guides/tools-image-generation, once. */
function wrapImage(item: VendorItem, { mimeType, data }: GeneratedImage): JsonObject {
  const { data: _, ...blob } = fieldsOf(item.item.inlineData);
  const carried = { ...item, item: { ...item.item, inlineData: blob } };
  return {
    type: 'image_generation_call',
    result: data,
    output_format: mimeType.slice('image/'.length),
    encrypted_content: PREFIX + Buffer.from(JSON.stringify(carried)).toString('base64url'),
  };
}

/**
 * Returns the wrapped item as parsed JSON, or `undefined` for an item that is not wrapped.
 * @throws SyntaxError for a damaged wrapping
 */
export function unwrapForeign(raw: JsonObject): unknown {
  const content = raw.encrypted_content;
  if (typeof content !== 'string' || !content.startsWith(PREFIX)) return undefined;
  if (raw.type !== 'reasoning' && raw.type !== 'image_generation_call') return undefined;
  const carried: unknown = JSON.parse(Buffer.from(content.slice(PREFIX.length), 'base64url').toString());
  if (raw.type === 'reasoning') return carried;
  // A client that has removed the image has removed all.
  if (typeof raw.result !== 'string') return undefined;
  const { item, ...others } = fieldsOf(carried);
  const part = fieldsOf(item);
  return { ...others, item: { ...part, inlineData: { ...fieldsOf(part.inlineData), data: raw.result } } };
}
