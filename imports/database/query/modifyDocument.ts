/** Applies a modifier to a document, by MongoDB's rules. */
import type { StoredDocument, Scalar } from '../DocumentCollection';
import { copyDocument } from './copyDocument';
import { invalidInput, isRecord } from './fieldPaths';
import { compileSelector } from './compileSelector';
import { readTexts } from './LargeText';
import type { CheckedModifier, Pulled } from './parseModifier';
import { isSameScalar } from './scalars';

/**
 * Returns a modified copy.
 * @throws LLMInvalidRequestError for a path through a value without fields, or a field of a type that the operator
 *   does not apply to
 */
export function modifyDocument<T extends StoredDocument>(document: T, modifier: CheckedModifier): T {
  const next = copyDocument(document);
  forEachField(modifier.$set, (path, value) => changeField(next, path, () => value));
  forEachField(modifier.$inc, (path, by) => changeField(next, path, (value) => increment(value, by, path)));
  forEachField(modifier.$push, (path, value) => changeField(next, path, (list) => [...toList(list, path), value]));
  forEachField(modifier.$addToSet, (path, value) =>
    changeField(next, path, (list) => addToSet(toList(list, path), value)),
  );
  forEachField(modifier.$pull, (path, value) => pull(next, path, value));
  forEachField(modifier.$unset, (path) => {
    const holder = findParent(next, path);
    if (holder !== undefined) Reflect.deleteProperty(holder.fields, holder.name);
  });
  return copyDocument(next);
}

function forEachField<Value>(
  fields: Readonly<Record<string, Value>> | undefined,
  act: (path: string, value: Value) => void,
): void {
  for (const [path, value] of Object.entries(fields ?? {})) act(path, value);
}

function changeField(document: object, path: string, by: (value: unknown) => unknown): void {
  const { fields, name } = ensureParent(document, path);
  fields[name] = by(Object.hasOwn(fields, name) ? fields[name] : undefined);
}

/** The object that holds the path's last field. Creates the objects that are missing on the way. */
function ensureParent(document: object, path: string): Parent {
  const parts = path.split('.');
  const name = parts.pop() ?? '';
  let fields = document as Record<string, unknown>;
  for (const part of parts) {
    if (!Object.hasOwn(fields, part)) fields[part] = {};
    const inner = fields[part];
    if (!isRecord(inner)) throw invalidInput(path, `cannot be created: ${part} exists and has no fields`);
    fields = inner;
  }
  return { fields, name };
}

interface Parent {
  readonly fields: Record<string, unknown>;
  readonly name: string;
}

/** The same without creating anything: undefined if the path ends early. */
function findParent(document: object, path: string): Parent | undefined {
  const parts = path.split('.');
  const name = parts.pop() ?? '';
  let fields: unknown = document;
  for (const part of parts) {
    fields = isRecord(fields) && Object.hasOwn(fields, part) ? fields[part] : undefined;
  }
  return isRecord(fields) && Object.hasOwn(fields, name) ? { fields, name } : undefined;
}

function increment(value: unknown, by: number, path: string): number {
  if (value === undefined) return by;
  if (typeof value !== 'number') throw invalidInput(path, 'must be a number for $inc');
  return value + by;
}

function toList(value: unknown, path: string): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalidInput(path, 'must be an array');
  return value;
}

function addToSet(list: readonly unknown[], value: Scalar): readonly unknown[] {
  return list.some((element) => isSameElement(element, value)) ? list : [...list, value];
}

/** Elsewhere a missing field equals null; an array's element is never missing. */
function isSameElement(element: unknown, value: Scalar): boolean {
  return element !== undefined && isSameScalar(readTexts(element), value);
}

function pull(document: object, path: string, value: Pulled): void {
  const holder = findParent(document, path);
  if (holder === undefined) return;
  const isPulled = compilePulled(value);
  holder.fields[holder.name] = toList(holder.fields[holder.name], path).filter((element) => !isPulled(element));
}

function compilePulled(value: Pulled): (element: unknown) => boolean {
  if (value === null || typeof value !== 'object' || value instanceof Date)
    return (element) => isSameElement(element, value);
  const isMatch = compileSelector(value);
  return (element) => isRecord(element) && isMatch(element);
}
