/** Citations: the chat wire nests what the inner language, like the Responses format, writes flat. */
import { without } from './chatJson';
import { fieldsOf, isObject } from '../../../domain/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** `{ type: t, t: { … } }` and nothing else; anything else could not be told from a flat one on the way back. */
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
