/** Names of fields: which ones a document may have, and how a dotted path finds its values. */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';

/** @throws LLMInvalidRequestError for a name that a store reads as something else: an operator, a path, a prototype */
export function checkFieldName(name: string, where: string): void {
  if (name === '' || name === '__proto__' || /[$.\0]/.test(name) || !name.isWellFormed()) {
    throw new LLMInvalidRequestError(
      `${where} has a field that a store can't keep: ${JSON.stringify(name.slice(0, 60))}`,
      { path: where },
    );
  }
}

/**
 * The parts of a dotted path. Positions in arrays are no part of the language, so a part of digits alone is refused.
 * @throws LLMInvalidRequestError
 */
export function splitPath(path: string, where: string): readonly string[] {
  const parts = path.split('.');
  for (const part of parts) {
    checkFieldName(part, where);
    if (/^\d+$/.test(part))
      throw new LLMInvalidRequestError(`${where} can't address a position in an array: ${path.slice(0, 60)}`, {
        path: where,
      });
  }
  return parts;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Objects that are data: not class instances, whose meaning a copy of the fields would lose. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * What a path leads to: one value, `undefined` where it ends early, or one for each object of an array on the way.
 * An array at the end is one value.
 */
export function valuesAt(value: unknown, parts: readonly string[]): readonly unknown[] {
  const [part, ...rest] = parts;
  if (part === undefined) return [value];
  if (Array.isArray(value)) return value.filter(isRecord).flatMap((element) => valuesAt(element, parts));
  return isRecord(value) && Object.hasOwn(value, part) ? valuesAt(value[part], rest) : [undefined];
}
