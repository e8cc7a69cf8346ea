/** One piece of work of a schema worker: compile a schema and, if there is a value, judge it. */
import { BrokenSchemaError } from './BrokenSchemaError';
import { compileSchemaText } from './SchemaCompiler';
import { judge } from './SchemaValidator';
import type { Verdict } from './SchemaValidator';

export interface SchemaJob {
  /** The schema as text, written by `textOfSchema`. */
  readonly schema: string;
  /** Absent: the schema is only compiled. */
  readonly check?: { readonly value: unknown; readonly repair: boolean };
}

/** `broken`: the schema is invalid at `path`. */
export type SchemaJobResult =
  | ({ readonly kind: 'judged' } & Verdict)
  | { readonly kind: 'broken'; readonly path: string; readonly message: string };

export function runSchemaJob({ schema, check }: SchemaJob): SchemaJobResult {
  try {
    const compiled = compileSchemaText(schema);
    if (check === undefined) return { kind: 'judged', violations: [] };
    return { kind: 'judged', ...judge(compiled, check.value, check.repair) };
  } catch (error) {
    if (!(error instanceof BrokenSchemaError)) throw error;
    return { kind: 'broken', path: error.path, message: error.message };
  }
}
