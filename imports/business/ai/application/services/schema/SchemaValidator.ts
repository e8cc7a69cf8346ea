/** Holds values against JSON Schemas that other people wrote, in bounded time and memory. */
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { compileSchema } from './SchemaCompiler';
import type { CompiledSchema } from './SchemaCompiler';
import { weigh } from './schemaComplexity';
import { violationOf } from './SchemaViolations';
import type { Violation } from './SchemaViolations';
import { finishesWithin } from './runWithTimeLimit';
import type { ErrorObject } from 'ajv';

export type { Violation } from './SchemaViolations';

const MOST_VIOLATIONS = 20;
/**
 * Nodes and characters from which on a value is checked for its first violation only, and against the clock where
 * the schema is not linear.
 */
const LARGE = 20_000;
/** Milliseconds for one check of a schema that may explode. */
const TIME_LIMIT = 100;

/**
 * How `value` breaks `schema`: at most 20 violations, none for a valid value. Draft 2020-12, or draft-07 where the
 * schema says so or is only valid there. Formats are checked, defaults are not filled in, and the value is not
 * changed.
 *
 * A check that can't be finished (a pattern that backtracks without end, endless recursion) is a violation.
 * @throws LLMInvalidRequestError for a schema that is broken, too large, or refers to another document; `path`
 *   says where
 */
export function validate(schema: JsonObject, value: unknown): readonly Violation[] {
  return faultsOf(schema, value)
    .slice(0, MOST_VIOLATIONS)
    .map(({ path, message }) => ({ path, message }));
}

/** A violation with its JSON pointer, and what stands there. */
export interface Fault extends Violation {
  readonly pointer: string;
  readonly data: unknown;
}

/** As `violationsOf`, all of them for a value that is not large. */
export function faultsOf(schema: JsonObject, value: unknown): readonly Fault[] {
  const compiled = compileSchema(schema);
  const large = weigh(value, LARGE) >= LARGE;
  const errors = errorsOf(compiled, value, large);
  if (errors === 'too-slow') return unchecked(value, `could not be checked against its schema within ${TIME_LIMIT} ms`);
  if (errors === 'too-deep')
    return unchecked(value, 'is nested too deeply to be checked, or its schema recurses without end');
  return errors.map((error) => ({ ...violationOf(error, value), pointer: error.instancePath, data: error.data }));
}

/** @throws LLMInvalidRequestError as `violationsOf` does */
export function assertSchema(schema: JsonObject): void {
  compileSchema(schema);
}

function errorsOf(
  compiled: CompiledSchema,
  value: unknown,
  large: boolean,
): readonly ErrorObject[] | 'too-slow' | 'too-deep' {
  const check = large ? compiled.first : compiled.all;
  const timed = compiled.risk === 'always' || (compiled.risk === 'size' && large);
  let errors: readonly ErrorObject[] = [];
  const run = (): void => {
    errors = check(value);
  };
  try {
    if (!timed) run();
    else if (!finishesWithin(TIME_LIMIT, run)) return 'too-slow';
    return errors;
  } catch (error) {
    if (error instanceof RangeError) return 'too-deep';
    throw error;
  }
}

function unchecked(value: unknown, message: string): readonly Fault[] {
  return [{ path: '$', message, pointer: '', data: value }];
}
