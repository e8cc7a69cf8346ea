import { isEmpty, isObject } from '../../../../domain/util/json';

/**
 * Returns a single object as a list of it: Google accepts it wherever it documents a list of objects, and its own
 * examples make use of that. https://ai.google.dev/gemini-api/docs/text-generation
 */
export function asList(value: unknown): unknown {
  return isObject(value) && !isEmpty(value) ? [value] : value;
}
