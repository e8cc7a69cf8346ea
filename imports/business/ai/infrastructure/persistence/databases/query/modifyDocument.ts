/** What a modifier makes of a document, as MongoDB does it. */
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { copyDocument } from './copyDocument';
import { isRecord } from './fieldPaths';
import { matchesSelector } from './matchDocument';
import type { CheckedModifier, Pulled } from './parseModifier';
import { refused } from '../../documents/refused';
import { isSameScalar } from './scalars';
import type { Scalar } from './scalars';

/**
 * A changed copy; the document stays as it is.
 * @throws LLMInvalidRequestError where a path leads through a value that has no fields, or a field is not of the
 *   type that the operator changes
 */
export function modifiedDocument<T extends StoredDocument>(document: T, modifier: CheckedModifier): T {
  const next = copyDocument(document);
  each(modifier.$set, (path, value) => change(next, path, () => value));
  each(modifier.$inc, (path, by) => change(next, path, (value) => increased(value, by, path)));
  each(modifier.$push, (path, value) => change(next, path, (list) => [...asList(list, path), value]));
  each(modifier.$addToSet, (path, value) => change(next, path, (list) => withElement(asList(list, path), value)));
  each(modifier.$pull, (path, value) => pull(next, path, value));
  each(modifier.$unset, (path) => {
    const holder = holderOf(next, path);
    if (holder !== undefined) Reflect.deleteProperty(holder.fields, holder.name);
  });
  return copyDocument(next);
}

function each<Value>(
  fields: Readonly<Record<string, Value>> | undefined,
  act: (path: string, value: Value) => void,
): void {
  for (const [path, value] of Object.entries(fields ?? {})) act(path, value);
}

function change(document: object, path: string, by: (value: unknown) => unknown): void {
  const { fields, name } = madeHolder(document, path);
  fields[name] = by(Object.hasOwn(fields, name) ? fields[name] : undefined);
}

/** The object that holds the last name of a path; objects that are missing on the way are made. */
function madeHolder(document: object, path: string): Holder {
  const parts = path.split('.');
  const name = parts.pop() ?? '';
  let fields = document as Record<string, unknown>;
  for (const part of parts) {
    if (!Object.hasOwn(fields, part)) fields[part] = {};
    const inner = fields[part];
    if (!isRecord(inner)) throw refused(path, `can't be made: ${part} is there and has no fields`);
    fields = inner;
  }
  return { fields, name };
}

interface Holder {
  readonly fields: Record<string, unknown>;
  readonly name: string;
}

/** The same for reading: nothing where the path ends early. */
function holderOf(document: object, path: string): Holder | undefined {
  const parts = path.split('.');
  const name = parts.pop() ?? '';
  let fields: unknown = document;
  for (const part of parts) {
    fields = isRecord(fields) && Object.hasOwn(fields, part) ? fields[part] : undefined;
  }
  return isRecord(fields) && Object.hasOwn(fields, name) ? { fields, name } : undefined;
}

function increased(value: unknown, by: number, path: string): number {
  if (value === undefined) return by;
  if (typeof value !== 'number') throw refused(path, 'is no number that $inc could change');
  return value + by;
}

function asList(value: unknown, path: string): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw refused(path, 'is no array');
  return value;
}

function withElement(list: readonly unknown[], value: Scalar): readonly unknown[] {
  return list.some((element) => isSameElement(element, value)) ? list : [...list, value];
}

/** A missing field counts as null, an element can't be missing. */
function isSameElement(element: unknown, value: Scalar): boolean {
  return element !== undefined && isSameScalar(element, value);
}

function pull(document: object, path: string, value: Pulled): void {
  const holder = holderOf(document, path);
  if (holder === undefined) return;
  holder.fields[holder.name] = asList(holder.fields[holder.name], path).filter((element) => !isPulled(element, value));
}

function isPulled(element: unknown, value: Pulled): boolean {
  if (value === null || typeof value !== 'object' || value instanceof Date) return isSameElement(element, value);
  return isRecord(element) && matchesSelector(element, value);
}
