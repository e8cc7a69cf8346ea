/** Copies documents on their way into and out of a database, and accepts only what every database returns unchanged. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { StoredDocument } from '../DocumentCollection';
import { checkFieldName, invalidInput, isPlainObject } from './fieldPaths';
import { LargeText } from './LargeText';

/** MongoDB's limit is 16 MiB in its binary format, which takes slightly more than the bytes counted here. */
const MAX_DOCUMENT_BYTES = 15 * 1024 * 1024;
/** MongoDB's limit is 100 levels. */
const MAX_DEPTH = 50;

/**
 * Accepts scalars, plain objects and arrays of them. What a database's file or wire would change is changed here: an
 * `undefined` field is left out, half of a surrogate pair becomes U+FFFD, and -0 becomes 0.
 * @throws LLMInvalidRequestError with the path of what cannot be stored
 */
export function copyDocument<T extends StoredDocument>(document: T): T {
  const id: unknown = document._id;
  if (typeof id !== 'string' || id === '' || id === '__proto__')
    throw invalidInput('_id', 'must be a non-empty string other than "__proto__"');
  // The copy of an object has the fields of the object.
  return copyValue(document, 'document') as T;
}

/** Copies one value inside a document, by the same rules. */
export function copyValue(value: unknown, path: string): unknown {
  return copy(value, path, undefined, MAX_DEPTH, { bytes: MAX_DOCUMENT_BYTES });
}

/** @param key of the value in what has the path. Most values are scalars, whose paths only errors need */
function copy(
  value: unknown,
  path: string,
  key: string | number | undefined,
  depth: number,
  budget: { bytes: number },
): unknown {
  spend(budget, 16);
  switch (typeof value) {
    case 'string': {
      const text = value.toWellFormed();
      spend(budget, Buffer.byteLength(text));
      return text;
    }
    case 'number':
      if (!Number.isFinite(value)) throw invalidInput(pathOf(path, key), 'must be a finite number');
      return value === 0 ? 0 : value;
    case 'boolean':
      return value;
    default:
      return value === null ? null : copyObject(value, pathOf(path, key), depth, budget);
  }
}

function pathOf(path: string, key: string | number | undefined): string {
  if (key === undefined) return path;
  return typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
}

function copyObject(value: unknown, path: string, depth: number, budget: { bytes: number }): unknown {
  if (value instanceof Date) {
    if (!Number.isFinite(value.getTime())) throw invalidInput(path, 'must be a valid date');
    return new Date(value.getTime());
  }
  if (value instanceof LargeText) {
    spend(budget, value.bytes);
    return value;
  }
  if (depth === 0) throw invalidInput(path, 'is nested too deeply');
  if (Array.isArray(value))
    return Array.from(value, (element: unknown, at) => copy(element, path, at, depth - 1, budget));
  if (!isPlainObject(value)) throw invalidInput(path, 'must be a scalar, a plain object or an array');
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const bytes = bytesOfName(name, path);
    const field = value[name];
    if (field === undefined) continue;
    spend(budget, bytes);
    fields[name] = copy(field, path, name, depth - 1, budget);
  }
  return fields;
}

/** The bytes of names that have been checked: documents of a collection have the same ones. */
const knownNames = new Map<string, number>();
const MAX_KNOWN = 1_000;
const MAX_KNOWN_LENGTH = 64;

/** @throws LLMInvalidRequestError for a name that cannot be stored */
function bytesOfName(name: string, path: string): number {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  checkFieldName(name, path);
  const bytes = Buffer.byteLength(name);
  if (knownNames.size >= MAX_KNOWN) knownNames.clear();
  if (name.length <= MAX_KNOWN_LENGTH) knownNames.set(name, bytes);
  return bytes;
}

function spend(budget: { bytes: number }, bytes: number): void {
  budget.bytes -= bytes;
  if (budget.bytes < 0) throw new LLMInvalidRequestError(`A document is limited to ${MAX_DOCUMENT_BYTES} bytes.`);
}
