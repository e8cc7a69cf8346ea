/** A schema after conversion: how to describe it to a model, and how to validate what the model wrote. */
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { Violation } from './SchemaViolations';

export type Validated<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly violations: readonly Violation[] };

export interface ResolvedSchema<Output = unknown> {
  /** Describes a value before `validate`: the input of a schema that transforms. */
  readonly jsonSchema: JsonObject;
  /**
   * The schema's own validation, after that of the JSON Schema. It may be stricter, and transform the value. Absent for
   * a plain JSON Schema.
   */
  readonly validate?: (value: unknown) => Promise<Validated<Output>>;
  /** Whether answers that `validate` accepts are valid, since it may convert what violates the JSON Schema. */
  readonly converts?: true;
}
