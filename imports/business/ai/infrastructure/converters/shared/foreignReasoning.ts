/**
 * Carries items of other wires through the Responses format, in the one field that clients send back unchanged: the
 * `encrypted_content` of a reasoning item. The wrapping is not encryption. It keeps an item together with its origin,
 * so that it is only ever returned to the vendor that produced it.
 */
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { ReasoningItem, VendorItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

const PREFIX = 'bolide.1.';

/** Wraps a reasoning item of another wire, or an item that the Responses format cannot express. */
export function wrapForeign(item: ReasoningItem | VendorItem): JsonObject {
  const readable = item.type === 'reasoning' ? item : undefined;
  return omitUndefined({
    type: 'reasoning',
    summary: readable?.summary.map(({ type, text }) => ({ type, text })) ?? [],
    content: readable?.content?.map(({ type, text }) => ({ type, text })),
    encrypted_content: PREFIX + Buffer.from(JSON.stringify(item)).toString('base64url'),
  });
}

/**
 * Returns the wrapped item as parsed JSON, or `undefined` for an item that is not wrapped.
 * @throws SyntaxError for a damaged wrapping
 */
export function unwrapForeign(raw: JsonObject): unknown {
  const content = raw.encrypted_content;
  if (raw.type !== 'reasoning' || typeof content !== 'string' || !content.startsWith(PREFIX)) return undefined;
  return JSON.parse(Buffer.from(content.slice(PREFIX.length), 'base64url').toString());
}
