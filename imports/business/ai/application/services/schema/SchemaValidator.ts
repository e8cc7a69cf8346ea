/** Validates values against untrusted JSON Schemas, in bounded time and memory. */
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
 * Size, in nodes and characters, from which on only the first violation is reported, under a time limit if the schema's
 * validation is not linear.
 */
const LARGE = 20_000;
/** Milliseconds for one validation by a schema whose time may explode. */
const TIME_LIMIT = 100;

/**
 * The violations of `schema` by `value`, at most 20; empty for a valid value. Draft 2020-12, or draft-07 if the schema
 * declares it or is valid only there. Formats are checked, defaults are not filled in, and the value is not changed.
 *
 * A validation that cannot be finished (a pattern with endless backtracking, infinite recursion) is a violation.
 * @throws LLMInvalidRequestError for a schema that is invalid, too large, or refers to another document; `path` names
 *   the place
 */
export function validate(schema: JsonObject, value: unknown): readonly Violation[] {
  return faultsOf(schema, value)
    .slice(0, MOST_VIOLATIONS)
    .map(({ path, message }) => ({ path, message }));
}

/** A violation with its JSON pointer and the value at that place. */
export interface Fault extends Violation {
  readonly pointer: string;
  readonly data: unknown;
}

/** Like `validate`, but with all violations unless the value is large. */
export function faultsOf(schema: JsonObject, value: unknown): readonly Fault[] {
  const compiled = compileSchema(schema);
  const large = weigh(value, LARGE) >= LARGE;
  const errors = errorsOf(compiled, value, large);
  if (errors === 'too-slow') return unchecked(value, `could not be checked against its schema within ${TIME_LIMIT} ms`);
  if (errors === 'too-deep')
    return unchecked(value, 'is nested too deeply to be validated, or its schema recurses infinitely');
  return errors.map((error) => ({ ...violationOf(error, value), pointer: error.instancePath, data: error.data }));
}

/** @throws LLMInvalidRequestError as `validate` does */
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
