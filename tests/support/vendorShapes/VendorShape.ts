/** A response as documented by a vendor, and the expected result of converting it. */
import type { ResponseStatus } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, VendorName, ServedWire } from '../../../imports/business/ai/domain/types/VendorTypes';

export interface VendorShape {
  readonly name: string;
  readonly vendor: VendorName;
  readonly wire: ServedWire;
  readonly body: JsonObject;
  readonly status: ResponseStatus;
  readonly text: string;
  /** Texts of the response that no request can send back. */
  readonly textsNotReturned: readonly string[];
}

/** Differences from a completed response that is sent back entirely. */
export interface ShapeOptions {
  readonly fields?: JsonObject;
  readonly status?: ResponseStatus;
  readonly textsNotReturned?: readonly string[];
}
