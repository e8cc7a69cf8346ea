/** What is known of a schema once it was read: how to describe it to a model, and how to check what the model wrote. */
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { Violation } from './SchemaViolations';

export type Validated<Output> =
  { readonly ok: true; readonly value: Output } | { readonly ok: false; readonly violations: readonly Violation[] };

export interface ResolvedSchema<Output = unknown> {
  /** What a value looks like before `validate`: the input of a schema that transforms. */
  readonly jsonSchema: JsonObject;
  /** The schema's own check, after the JSON Schema's: it may say more, and convert. Absent for a plain JSON Schema. */
  readonly validate?: (value: unknown) => Promise<Validated<Output>>;
}
