/** Converts the annotations of a text. https://ai.google.dev/api/interactions-api#Resource:Annotation */
import { isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { byteToIndex } from '../../shared/byteToIndex';

/** Their offsets are UTF-8 bytes of the text, and become UTF-16 code units. */
export function toAnnotations(annotations: readonly unknown[], text: string): readonly JsonObject[] {
  const indexOf = byteToIndex(text);
  return annotations.filter(isObject).map((annotation) => {
    const { start_index: start, end_index: end } = annotation;
    return {
      ...annotation,
      ...(typeof start === 'number' ? { start_index: indexOf(start) } : {}),
      ...(typeof end === 'number' ? { end_index: indexOf(end) } : {}),
    };
  });
}
