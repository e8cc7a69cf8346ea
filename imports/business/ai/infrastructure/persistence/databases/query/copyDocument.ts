/** Documents cross the border of a store as copies, and only such as all three stores give back unchanged. */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { checkFieldName, isPlainObject } from './fieldPaths';
import { refused } from '../../documents/refused';

/** Bytes; MongoDB's own limit is 16 MiB in its binary form, which is a little larger than this count. */
const MAX_DOCUMENT_BYTES = 15 * 1024 * 1024;
/** MongoDB ends at 100 levels. */
const MAX_DEPTH = 50;

/**
 * Scalars, plain objects and arrays of them. A field that is `undefined` is left out, half of a surrogate pair
 * becomes U+FFFD, -0 becomes 0: what a store's file or wire would do to them is done at the door.
 * @throws LLMInvalidRequestError with the path of what can't be kept
 */
export function copyDocument<T extends StoredDocument>(document: T): T {
  const id: unknown = document._id;
  if (typeof id !== 'string' || id === '' || id === '__proto__')
    throw refused('_id', 'is not a string that a store can keep');
  // The copy of an object has the fields of the object.
  return copyValue(document, 'document') as T;
}

/** The same for one value inside a document. */
export function copyValue(value: unknown, path: string): unknown {
  const budget = { bytes: MAX_DOCUMENT_BYTES };
  return copy(value, path, MAX_DEPTH, budget);
}

function copy(value: unknown, path: string, depth: number, budget: { bytes: number }): unknown {
  spend(budget, 16);
  switch (typeof value) {
    case 'string': {
      const text = value.toWellFormed();
      spend(budget, Buffer.byteLength(text));
      return text;
    }
    case 'number':
      if (!Number.isFinite(value)) throw refused(path, 'is not a finite number');
      return value === 0 ? 0 : value;
    case 'boolean':
      return value;
    default:
      break;
  }
  if (value === null) return null;
  if (value instanceof Date) {
    if (!Number.isFinite(value.getTime())) throw refused(path, 'is not a valid date');
    return new Date(value.getTime());
  }
  if (depth === 0) throw refused(path, 'is nested too deeply');
  if (Array.isArray(value))
    return Array.from(value, (element: unknown, at) => copy(element, `${path}[${at}]`, depth - 1, budget));
  if (!isPlainObject(value)) throw refused(path, 'is no scalar, plain object or array');
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    checkFieldName(name, path);
    if (field === undefined) continue;
    spend(budget, Buffer.byteLength(name));
    fields[name] = copy(field, `${path}.${name}`, depth - 1, budget);
  }
  return fields;
}

function spend(budget: { bytes: number }, bytes: number): void {
  budget.bytes -= bytes;
  if (budget.bytes < 0) throw new LLMInvalidRequestError(`a document takes at most ${MAX_DOCUMENT_BYTES} bytes`);
}
