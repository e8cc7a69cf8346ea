/** A person's answer to what a tool asks, with the defaults of its schema, and checked against it. */
import type { InputRequest } from '../../../domain/entities/Tool';
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import { isObject, jsonOrText } from '../../../domain/util/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { checkValue } from '../schema/checkSchema';

/**
 * Fills in the defaults of properties that are absent.
 * @param given an object, or its JSON
 * @returns what is not an object as it is
 */
export function valuesOf(schema: JsonObject | undefined, given: unknown): unknown {
  const values = typeof given === 'string' ? jsonOrText(given) : given;
  if (!isObject(values)) return values;
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) && property.default !== undefined && !Object.hasOwn(values, name)
      ? [[name, property.default] as const]
      : [],
  );
  return { ...values, ...Object.fromEntries(defaults) };
}

/** @throws LLMInvalidRequestError, whose `path` is `output`, with what is wrong */
export async function assertValues({ schema }: InputRequest, given: unknown, userId: string): Promise<void> {
  const values = valuesOf(schema, given);
  const violations = await violationsOf(schema, values, userId);
  if (violations.length === 0) return;
  throw new LLMInvalidRequestError(`The answer is not what the tool asks for. ${violations.join('; ')}`, {
    path: 'output',
  });
}

async function violationsOf(
  schema: JsonObject | undefined,
  values: unknown,
  userId: string,
): Promise<readonly string[]> {
  if (!isObject(values)) return ['$: must be an object'];
  if (schema === undefined) return [];
  const { violations } = await checkValue({ schema, untrusted: true, userId }, values);
  return violations.map(({ path, message }) => `${path}: ${message}`);
}
