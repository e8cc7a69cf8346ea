/**
 * Compiles schemas and validates values without holding the event loop. A program's own schemas are compiled in place,
 * and values are validated in place as long as that takes next to no time. Schemas of strangers are never compiled
 * here: a pool of threads does everything, within one limit of CPU time.
 */
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { BrokenSchemaError } from './BrokenSchemaError';
import { compileSchema, textOfSchema } from './SchemaCompiler';
import type { CompiledSchema } from './SchemaCompiler';
import { finishesWithin } from './runWithTimeLimit';
import { weigh } from './schemaComplexity';
import type { SchemaJob } from './schemaJob';
import { judge, unchecked } from './SchemaValidator';
import type { Verdict } from './SchemaValidator';
import { SchemaWorkers } from './SchemaWorkers';

export interface CheckedSchema {
  readonly schema: JsonObject;
  /** Whether a stranger brought the schema. */
  readonly untrusted: boolean;
  /** The user on whose behalf it is used. */
  readonly userId: string;
}

/** Size, in nodes and characters, up to which quadratic time does not matter. */
const SMALL = 2_000;
/** Milliseconds for a validation in place whose time may explode. */
const IN_PLACE_LIMIT_MS = 10;

let workers: SchemaWorkers | undefined;

/**
 * For a schema of the program's own.
 * @throws LLMInvalidRequestError for a schema that is invalid, too large, or refers to another document; `path` names
 *   the place
 */
export function assertSchema(schema: JsonObject): void {
  compiled(schema);
}

/**
 * Asserts the same of a schema from an untrusted source, in a worker thread.
 * @throws LLMInvalidRequestError as `assertSchema` does, and if compiling the schema takes too long
 */
export async function assertUntrustedSchema(schema: JsonObject, userId: string): Promise<void> {
  const result = await threads().run({ schema: textOf(schema) }, userId);
  if (result.kind === 'broken') throw requestError(result);
  if (result.kind === 'too-slow')
    throw requestError(
      new BrokenSchemaError(
        '$',
        `it could not be compiled within ${threads().timeLimitMs} ms of CPU time; make it smaller`,
      ),
    );
  if (result.kind === 'too-large')
    throw requestError(new BrokenSchemaError('$', 'compiling it takes too much memory; make it smaller'));
}

/**
 * The violations of a schema by a value. Draft 2020-12, or draft-07 if the schema declares it or is valid only there. A
 * validation that cannot be finished (a pattern with endless backtracking, infinite recursion) is a violation.
 * @param repair as in `judge`
 * @returns the verdict itself if it took no time, else a promise of it
 * @throws LLMInvalidRequestError as `assertSchema` does
 */
export function checkValue(checked: CheckedSchema, value: unknown, repair = false): Verdict | Promise<Verdict> {
  if (checked.untrusted) return checkInThread(checked, value, repair);
  const own = compiled(checked.schema);
  if (own.risk === 'none' || (own.risk === 'size' && weigh(value, SMALL) < SMALL)) return judge(own, value, repair);
  let verdict: Verdict | undefined;
  finishesWithin(IN_PLACE_LIMIT_MS, () => {
    verdict = judge(own, value, repair);
  });
  return verdict ?? checkInThread(checked, value, repair);
}

async function checkInThread({ schema, userId }: CheckedSchema, value: unknown, repair: boolean): Promise<Verdict> {
  const job: SchemaJob = { schema: textOf(schema), check: { value, repair } };
  const result = await threads().run(job, userId);
  switch (result.kind) {
    case 'judged':
      return result;
    case 'broken':
      throw requestError(result);
    case 'too-slow':
      return unchecked(`could not be checked against its schema within ${threads().timeLimitMs} ms of CPU time`);
    case 'too-large':
      return unchecked('could not be checked against its schema: that takes too much memory');
  }
}

/** @throws LLMInvalidRequestError */
function compiled(schema: JsonObject): CompiledSchema {
  try {
    return compileSchema(schema);
  } catch (error) {
    throw error instanceof BrokenSchemaError ? requestError(error) : error;
  }
}

/** @throws LLMInvalidRequestError */
function textOf(schema: JsonObject): string {
  try {
    return textOfSchema(schema);
  } catch (error) {
    throw error instanceof BrokenSchemaError ? requestError(error) : error;
  }
}

function requestError(broken: {
  readonly message: string;
  readonly path: string;
  readonly cause?: unknown;
}): LLMInvalidRequestError {
  const { message, path, cause } = broken;
  return new LLMInvalidRequestError(message, { path, cause });
}

function threads(): SchemaWorkers {
  workers ??= new SchemaWorkers();
  return workers;
}
