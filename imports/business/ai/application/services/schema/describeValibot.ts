/** Converts schemas of valibot to JSON Schema. https://valibot.dev/guides/json-schema/ */
import type { toJsonSchema } from '@valibot/to-json-schema';
import type { JsonObject } from '../../../domain/types/VendorTypes';

type ValibotSchema = Parameters<typeof toJsonSchema>[0];

/**
 * The schema of the input, since that is what a model writes. What JSON Schema cannot express is left open, since the
 * schema's own validation follows.
 */
export function describeValibot(schema: object): JsonObject {
  // Loaded with the first schema that needs it. The npm package contains it, so it has no `require`.
  // oxlint-disable-next-line typescript/no-require-imports
  const valibot = require('@valibot/to-json-schema') as typeof import('@valibot/to-json-schema');
  return valibot.toJsonSchema(schema as ValibotSchema, {
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
    overrideAction({ valibotAction, jsonSchema }) {
      // A pattern of JSON Schema has no flags, so it would reject what the expression accepts.
      const expression = 'requirement' in valibotAction ? valibotAction.requirement : undefined;
      if (!(expression instanceof RegExp) || !/[ims]/.test(expression.flags)) return undefined;
      const { pattern: _, ...open } = jsonSchema;
      return open;
    },
  }) as JsonObject;
}
