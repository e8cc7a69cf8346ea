/** What the simulator records of one request. The record is completed as the exchange proceeds. */
import type { VendorName, WireName } from '../business/ai/domain/types/VendorTypes';

export interface RecordedRequest {
  /** Counts from 1 in the order of arrival. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly vendor: VendorName;
  /** Absent for requests that generate nothing, such as models and stored responses. */
  readonly wire?: WireName;
  /** Names in lower case; credentials are replaced by `[redacted]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The SHA-256 of the key that was sent, so that tests can tell keys apart without seeing them. */
  readonly keyHash?: string;
  /** Parsed JSON, or the text as received. */
  readonly body: unknown;
  /** What produced the response. */
  readonly responseSource?: 'script' | 'recording' | 'model' | 'rejection' | 'endpoint';
  /** Why the request was rejected, in the vendor's words. */
  readonly rejection?: string;
  readonly status?: number;
  /** The client left, or the connection broke, before the end of the response. */
  readonly aborted: boolean;
  /** The complete response was handed to the network. */
  readonly finished: boolean;
}
