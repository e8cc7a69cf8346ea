/**
 * Converts annotations (citations) between the chat wire, which nests their fields under their type, and the domain
 * model, which keeps them flat as the Responses API does.
 * https://platform.openai.com/docs/api-reference/chat/object#chat-object-choices
 */
import { without } from './vendorFields';
import { fieldsOf, isObject } from '../../../domain/util/json';
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
