import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import { fieldsOf } from '../../../domain/util/json';

/**
 * Tells programs without types that a constructor takes one object, and not one argument after another.
 * @param example the call as it should be
 * @throws LLMInvalidRequestError unless the object has one of the fields
 */
export function requireOptions(options: unknown, fields: readonly [string, ...string[]], example: string): void {
  const given = fieldsOf(options);
  if (fields.some((field) => field in given)) return;
  throw new LLMInvalidRequestError(
    `${fields.map((field) => `"${field}"`).join(' or ')} is missing. Pass one object: ${example}.`,
    { path: fields[0] },
  );
}
