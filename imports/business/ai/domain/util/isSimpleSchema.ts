import type { SimpleSchemaLike } from '../types/Schemas';
import type { JsonObject } from '../types/VendorTypes';

/** Recognizes instances of SimpleSchema as the package itself does, and checks for the methods that are called. */
export function isSimpleSchema(schema: unknown): schema is SimpleSchemaLike {
  if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, '_schema')) return false;
  return ['clean', 'newContext', 'messageForError', 'objectKeys', 'schema', 'getObjectSchema'].every(
    (method) => typeof (schema as JsonObject)[method] === 'function',
  );
}
