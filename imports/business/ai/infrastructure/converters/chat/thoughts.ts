/** Reads content parts that hold reasoning, as Mistral's models send it. https://docs.mistral.ai/capabilities/reasoning */
import { isText } from './vendorFields';
import { isList, isObject } from '../../../domain/util/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

export type Thought = JsonObject & { readonly thinking: readonly unknown[] };

export function isThought(part: unknown): part is Thought {
  return isObject(part) && part.type === 'thinking' && isList(part.thinking);
}

/** Returns '' for any other part. */
export function thoughtText(part: unknown): string {
  if (!isThought(part)) return '';
  return part.thinking.map((piece) => (isObject(piece) && isText(piece.text) ? piece.text : '')).join('');
}
