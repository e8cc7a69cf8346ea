/** Looks for a kind of item that few histories have. Each request asks that of the whole history, several times. */
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';

export function hasItem(items: readonly InputItem[], type: string): boolean {
  // Faster than `some`, until the compiler inlines that.
  for (let index = 0; index < items.length; index += 1) if (items[index]?.type === type) return true;
  return false;
}
