/** One recorded question and answer, as it is played. */
import type { VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';

export interface PlayedExchange {
  readonly caseId: string;
  readonly number: number;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly method: string;
  /** Path and query at the simulator, which is the recorded one under the host's own. */
  readonly path: string;
  readonly stream: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed; absent where the source kept only the answer. */
  readonly request?: unknown;
  readonly response: Buffer;
}

export interface PlayOptions {
  /** Folder that holds the recordings and their `index.json`. */
  readonly fixturesRoot: string;
  /** Sends bodies in pieces of this size. */
  readonly chunkBytes?: number;
}
