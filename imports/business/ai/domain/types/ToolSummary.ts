import type { ToolCallState } from '../entities/Tool';
import type { JsonObject } from './VendorTypes';

/** A registered tool, as clients may see it. */
export interface ToolSummary {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: JsonObject;
  readonly blocking: boolean;
  readonly needsApproval: boolean;
  readonly external: boolean;
  /** Calls so far, by state. */
  readonly counts: { readonly [S in ToolCallState]?: number };
}
