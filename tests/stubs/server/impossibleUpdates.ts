/** Rejects the updates that MongoDB rejects because of the document's content, and that mingo ignores. */
import { MongoServerError } from './MongoServerError';

type Fields = Readonly<Record<string, unknown>>;

/** @throws MongoServerError with MongoDB's code */
export function refuseImpossible(document: Fields, modifier: Fields): void {
  for (const [operator, changes] of Object.entries(modifier)) {
    for (const path of Object.keys(changes as Fields)) {
      const { value, isBlocked } = lookUp(document, path);
      if (isBlocked && operator !== '$unset' && operator !== '$pull')
        throw new MongoServerError(28, `Cannot create field in element of path '${path}'`);
      if (value === undefined) continue;
      if (operator === '$inc' && typeof value !== 'number')
        throw new MongoServerError(14, `Cannot apply $inc to a value of non-numeric type: '${path}'`);
      if (LISTS.includes(operator) && !Array.isArray(value))
        throw new MongoServerError(2, `The field '${path}' must be an array`);
    }
  }
}

const LISTS = ['$push', '$addToSet', '$pull'];

/** Blocked: a parent exists and is not an object. */
function lookUp(document: Fields, path: string): { readonly value: unknown; readonly isBlocked: boolean } {
  let value: unknown = document;
  for (const part of path.split('.')) {
    if (value === undefined) return { value, isBlocked: false };
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
      return { value: undefined, isBlocked: true };
    value = (value as Fields)[part];
  }
  return { value, isBlocked: false };
}
