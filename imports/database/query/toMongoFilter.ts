/** Selectors as MongoDB reads them. */
import type { CheckedSelector } from './parseSelector';

/** Replaces `$prefix` by a regular expression that is anchored, so that it can use an index. */
export function toMongoFilter(selector: CheckedSelector): Record<string, unknown> {
  return Object.fromEntries(Object.entries(selector).map(([key, condition]) => [key, toCondition(condition)]));
}

function toCondition(condition: CheckedSelector[string]): unknown {
  if (Array.isArray(condition)) return condition.map(toMongoFilter);
  if (typeof condition !== 'object' || condition === null || !('$prefix' in condition)) return condition;
  const { $prefix, ...tests } = condition;
  return { ...tests, $regex: `^${escapePattern($prefix)}` };
}

/** MongoDB rejects a zero byte in a pattern. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&').replaceAll('\0', '\\x00');
}
