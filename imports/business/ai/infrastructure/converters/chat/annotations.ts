/**
 * Converts annotations (citations) between the chat wire, which nests their fields under their type, and the domain
 * model, which keeps them flat as the Responses API does.
 * https://platform.openai.com/docs/api-reference/chat/object#chat-object-choices
 */
import { locatedAnnotation } from '../shared/locatedAnnotation';
import { without } from './vendorFields';
import { fieldsOf, isObject } from '../../../domain/util/json';
import type { MessageItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** Exactly `{ type: t, t: { … } }`. Any other form could not be distinguished from a flat one on the way back. */
export function isNested(annotation: unknown): annotation is JsonObject & { readonly type: string } {
  if (!isObject(annotation) || typeof annotation.type !== 'string' || Object.keys(annotation).length !== 2)
    return false;
  const inner = annotation[annotation.type];
  return isObject(inner) && !('type' in inner) && !(annotation.type in inner);
}

export function fromChatAnnotation(annotation: JsonObject): JsonObject {
  if (!isNested(annotation)) return annotation;
  const inner = annotation[annotation.type];
  return { type: annotation.type, ...fieldsOf(inner) };
}

export function toChatAnnotation(annotation: JsonObject): JsonObject {
  const { type } = annotation;
  return typeof type === 'string' && !(type in annotation)
    ? { type, [type]: without(annotation, ['type']) }
    : annotation;
}

/**
 * Returns the citations of another wire: of URLs, which are the only ones that clients of this wire know, each with a
 * range in the entire content of the message.
 * @param from length of the texts before this message, which it shares its content with
 */
export function urlCitationsOf({ content }: MessageItem, from: number): readonly JsonObject[] {
  let start = from;
  return content.flatMap((part) => {
    if (part.type !== 'output_text') return [];
    const end = start + part.text.length;
    const located = part.annotations
      .filter(({ type }) => type === 'url_citation')
      .flatMap((annotation) => locatedAnnotation(annotation, start, end));
    start = end;
    return located.map(toChatAnnotation);
  });
}

export function textLengthOf({ content }: MessageItem): number {
  return content.reduce((length, part) => length + (part.type === 'output_text' ? part.text.length : 0), 0);
}
