/** What the simulator remembers of one request; it grows until the exchange is over. */
import type { VendorName, WireName } from '../business/ai/domain/types/VendorTypes';

export interface RecordedRequest {
  /** Counts from 1 in the order of arrival. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly vendor: VendorName;
  /** Absent for requests that generate nothing (models, stored responses). */
  readonly wire?: WireName;
  /** Names in lower case; credentials are replaced by `[redacted]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the key that was sent, so that tests can tell keys apart without seeing them. */
  readonly keyHash?: string;
  /** Parsed JSON, or the text as it came. */
  readonly body: unknown;
  /** Who answered. */
  readonly answeredBy?: 'script' | 'recording' | 'model' | 'refusal' | 'endpoint';
  /** Why the request was refused, in the vendor's words. */
  readonly refusal?: string;
  readonly status?: number;
  /** The client left, or the connection broke, before the end of the answer. */
  readonly aborted: boolean;
  /** The whole answer was handed to the network. */
  readonly finished: boolean;
}
