/** Converts schemas of zod 3 to JSON Schema; those of zod 4 convert themselves. https://v3.zod.dev */
import type { zodToJsonSchema } from 'zod-to-json-schema';
import { isObject } from '../../../domain/util/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

type Zod3Schema = Parameters<typeof zodToJsonSchema>[0];

export function isZod3(schema: object): schema is Zod3Schema {
  return '_def' in schema && isObject(schema._def) && typeof schema._def.typeName === 'string';
}

/** The schema of the input, since that is what a model writes. */
export function describeZod3(schema: Zod3Schema): JsonObject {
  // Loaded with the first schema that needs it. The npm package contains it, so it has no `require`.
  // oxlint-disable-next-line typescript/no-require-imports
  const zod = require('zod-to-json-schema') as typeof import('zod-to-json-schema');
  return zod.zodToJsonSchema(schema, {
    // A model may add what zod removes.
    removeAdditionalStrategy: 'strict',
    allowedAdditionalProperties: undefined,
    pipeStrategy: 'input',
    applyRegexFlags: true,
    // Only a schema that contains itself needs references, and not every vendor follows them.
    $refStrategy: 'none',
    override: (_definition, { currentPath }, seen) =>
      seen !== undefined && isInside(currentPath, seen.path) ? { $ref: seen.path.join('/') } : zod.ignoreOverride,
  }) as JsonObject;
}

function isInside(path: readonly string[], outer: readonly string[]): boolean {
  return path.length > outer.length && outer.every((step, index) => step === path[index]);
}
