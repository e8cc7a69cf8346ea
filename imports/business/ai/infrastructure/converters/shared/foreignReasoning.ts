/**
 * What was made over another wire, in the one place of the Responses format that clients send back untouched: a
 * reasoning item's `encrypted_content`. It is a wrapping, not a secret: it keeps origin and vendor words together,
 * so that they go back to their maker only.
 */
import type { ReasoningItem, VendorItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

const PREFIX = 'bolide.1.';

/**
 * A reasoning item of another wire, or an item that the format has no word for, as a reasoning item of the
 * Responses format.
 */
export function wrapForeign(item: ReasoningItem | VendorItem): JsonObject {
  const readable = item.type === 'reasoning' ? item : undefined;
  return {
    type: 'reasoning',
    summary: readable?.summary.map(({ type, text }) => ({ type, text })) ?? [],
    ...(readable?.content === undefined ? {} : { content: readable.content.map(({ type, text }) => ({ type, text })) }),
    encrypted_content: PREFIX + Buffer.from(JSON.stringify(item)).toString('base64url'),
  };
}

/**
 * What was wrapped, as it comes out of JSON; `undefined` for content that is not wrapped. @throws SyntaxError for a
 * broken wrapping
 */
export function unwrapForeign(raw: JsonObject): unknown {
  const content = raw.encrypted_content;
  if (raw.type !== 'reasoning' || typeof content !== 'string' || !content.startsWith(PREFIX)) return undefined;
  return JSON.parse(Buffer.from(content.slice(PREFIX.length), 'base64url').toString());
}
