/** Short forms of the JSON Schemas that the descriptions of routes consist of. */
import type { Schema } from './RouteDescription';

export const TEXT: Schema = { type: 'string' };
export const NUMBER: Schema = { type: 'number' };
export const COUNT: Schema = { type: 'integer', minimum: 0 };
export const FLAG: Schema = { type: 'boolean' };
export const ANYTHING: Schema = {};
export const OBJECT: Schema = { type: 'object' };
export const TIME: Schema = { type: 'number', description: 'Milliseconds since the epoch.' };

export function described(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

export function oneOf(...values: readonly string[]): Schema {
  return { enum: values };
}

export function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

/** One of several forms. */
export function either(...forms: readonly Schema[]): Schema {
  return { anyOf: forms };
}

/** An object that may have other fields, too. */
export function objectOf(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const names = Object.keys(required);
  return {
    type: 'object',
    properties: { ...required, ...optional },
    ...(names.length === 0 ? {} : { required: names }),
  };
}
