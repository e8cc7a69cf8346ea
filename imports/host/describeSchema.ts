/** The schemas of operations as JSON Schema. https://valibot.dev/guides/json-schema/ */
import { isObject } from '../business/ai/domain/util/json';
import type { JsonObject } from '../business/ai/domain/types/VendorTypes';
import type { ArgumentSchema } from './schemas';

/** What JSON Schema cannot express is left open. */
export function describeSchema(schema: ArgumentSchema): JsonObject {
  // Loaded with the first document that needs it. The npm package contains it, so it has no `require`.
  // oxlint-disable-next-line typescript/no-require-imports
  const valibot = require('@valibot/to-json-schema') as typeof import('@valibot/to-json-schema');
  const { $schema: _, ...described } = valibot.toJsonSchema(schema, {
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
    overrideAction({ valibotAction, jsonSchema }) {
      const { metadata } = valibotAction as { readonly metadata?: { readonly jsonSchema?: unknown } };
      return isObject(metadata?.jsonSchema) ? { ...jsonSchema, ...metadata.jsonSchema } : undefined;
    },
  });
  return described;
}
