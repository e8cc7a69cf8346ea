/** Annotations of any wire in OpenAI's form. https://platform.openai.com/docs/api-reference/responses/object */
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** OpenAI's annotations of files; files of other wires have no id that a client could use. */
const FILE_ANNOTATIONS: ReadonlySet<unknown> = new Set(['file_citation', 'container_file_citation', 'file_path']);

/** A URL citation needs a range within its part; if the wire gives none, it is the entire text of the final part. */
export function locatedAnnotation(annotation: JsonObject, from: number, to: number): readonly JsonObject[] {
  const { type, url, title, start_index, end_index } = annotation;
  if (type !== 'url_citation')
    return FILE_ANNOTATIONS.has(type) && typeof annotation.file_id === 'string' ? [annotation] : [];
  if (typeof url !== 'string') return [];
  const isLocated = Number.isInteger(start_index) && Number.isInteger(end_index);
  if (isLocated && from === 0 && typeof title === 'string') return [annotation];
  const range = isLocated
    ? { start_index: Number(start_index) + from, end_index: Number(end_index) + from }
    : { start_index: from, end_index: to };
  return [{ ...annotation, title: typeof title === 'string' ? title : '', ...range }];
}

/**
 * Whether OpenAI has no such citation: of a place, or of a file without an id, as Google's APIs and Claude have them
 * (`FileCitation` and `PlaceCitation` of `@google/genai`).
 */
export function isUnknownToOpenAI({ type, file_id }: JsonObject): boolean {
  return type === 'place_citation' || (type === 'file_citation' && file_id === undefined);
}
