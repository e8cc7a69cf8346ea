/** One answer as a vendor documents it, and what it means. */
import type { ResponseStatus } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, VendorName, WireName } from '../../../imports/business/ai/domain/types/VendorTypes';

export interface VendorShape {
  readonly name: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly whole: JsonObject;
  readonly status: ResponseStatus;
  readonly text: string;
  /** Texts of the answer that no request takes back. */
  readonly staysBehind: readonly string[];
}

/** What a shape says of itself where it is not an answer that is whole and goes back whole. */
export interface ShapeFacts {
  readonly fields?: JsonObject;
  readonly status?: ResponseStatus;
  readonly staysBehind?: readonly string[];
}
