/** Reads Google's lists of token counts by modality, whose names are in upper or lower case. */
import { isObjectList } from '../../../domain/util/json';

/** @param field the name of an entry's count */
export function countsByModality(
  list: unknown,
  field: 'tokenCount' | 'tokens',
): { readonly audio: number; readonly image: number } {
  const counts = { audio: 0, image: 0 };
  if (!isObjectList(list)) return counts;
  for (const { modality, [field]: tokens } of list) {
    const name = String(modality).toLowerCase();
    if ((name === 'audio' || name === 'image') && typeof tokens === 'number') counts[name] += tokens;
  }
  return counts;
}
