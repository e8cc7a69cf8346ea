/** One recorded request and response, ready for playback. */
import type { VendorName, ServedWire } from '../../business/ai/domain/types/VendorTypes';

export interface RecordedExchange {
  readonly caseId: string;
  readonly number: number;
  readonly vendor: VendorName;
  readonly wire: ServedWire;
  readonly method: string;
  /** Path and query at the simulator: the recorded one under the vendor's prefix. */
  readonly path: string;
  readonly stream: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed; absent where the source recorded only the response. */
  readonly request?: unknown;
  readonly response: Buffer;
}

export interface PlaybackOptions {
  /** The folder with the recordings and their `index.json`. */
  readonly fixturesRoot: string;
  /** Sends bodies in chunks of this size. */
  readonly chunkBytes?: number;
}
