/** Recognizes values of `settings.example.json` that the operator has not replaced. */
import { isObject } from '../../business/ai/domain/util/json';

const PLACEHOLDERS: readonly RegExp[] = [/^(?:k1:|sk-)?replace-(?:with|this|me)\b/i, /^you@example\.com$/i];

/** @returns the paths of the placeholders in a value, such as `firstUser.password` and `admins[0]` */
export function findPlaceholders(value: unknown, path = ''): readonly string[] {
  if (typeof value === 'string') return PLACEHOLDERS.some((each) => each.test(value.trim())) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((each, index) => findPlaceholders(each, `${path}[${index}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    findPlaceholders(each, path === '' ? name : `${path}.${name}`),
  );
}
