/**
 * Validates values against compiled JSON Schemas. A validation may take forever: `checkSchema.ts` decides which one
 * runs where, and for how long.
 */
import type { ErrorObject } from 'ajv';
import { isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { CompiledSchema } from './SchemaCompiler';
import { weigh } from './schemaComplexity';
import { violationOf } from './SchemaViolations';
import type { Violation } from './SchemaViolations';

export type { Violation } from './SchemaViolations';

export interface Verdict {
  /** At most 20; empty for a valid value. */
  readonly violations: readonly Violation[];
  /** A valid copy of an invalid value, if removing nulls makes it valid. */
  readonly repaired?: { readonly value: unknown };
  /** The validation did not finish. */
  readonly isUnfinished?: true;
}

const MAX_VIOLATIONS = 20;
/** Size, in nodes and characters, from which on only the first violation is reported. */
const LARGE = 20_000;
const MAX_ROUNDS = 8;

/**
 * Formats are checked, defaults are not filled in, and the value is not changed.
 * @param repair whether nulls that the schema rejects are removed from optional properties: models in strict mode
 *   must write every property, and write null for those they omit
 */
export function judge(schema: CompiledSchema, value: unknown, repair: boolean): Verdict {
  const check = weigh(value, LARGE) >= LARGE ? schema.first : schema.all;
  try {
    const errors = check(value);
    if (errors.length === 0) return { violations: [] };
    const repaired = repair ? withoutOptionalNulls(check, errors, value) : undefined;
    const violations = errors.slice(0, MAX_VIOLATIONS).map((error) => violationOf(error, value));
    return omitUndefined({ violations, repaired });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return unchecked('is nested too deeply to be validated, or its schema recurses infinitely');
  }
}

/** The verdict on a value whose validation did not finish. */
export function unchecked(message: string): Verdict {
  return { violations: [{ path: '$', message }], isUnfinished: true };
}

function withoutOptionalNulls(
  check: CompiledSchema['all'],
  first: readonly ErrorObject[],
  value: unknown,
): Verdict['repaired'] {
  let current: unknown;
  let errors = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const nulls = errors.filter(({ data, instancePath }) => data === null && instancePath !== '');
    if (nulls.length === 0) return undefined;
    if (round === 0) current = structuredClone(value);
    let removed = false;
    for (const { instancePath } of nulls) removed = removeProperty(current, instancePath) || removed;
    if (!removed) return undefined;
    errors = check(current);
    if (errors.length === 0) return { value: current };
  }
  return undefined;
}

/** @returns whether there was such a property; array elements are never removed */
function removeProperty(root: unknown, pointer: string): boolean {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop();
  let parent = root;
  for (const key of keys)
    parent = typeof parent === 'object' && parent !== null ? (parent as Record<string, unknown>)[key] : undefined;
  if (last === undefined || !isObject(parent) || parent[last] !== null) return false;
  return Reflect.deleteProperty(parent, last);
}
