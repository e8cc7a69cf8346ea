/** The files, batches and cached contents that each vendor stores. */
import type { JsonObject, VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import type { BatchedOutcome } from './BatchBehaviour';

export interface StoredFile {
  readonly facts: JsonObject;
  readonly bytes: Buffer;
}

export interface BatchedRequest {
  readonly customId: string;
  readonly body: JsonObject;
}

export interface StoredBatch {
  readonly facts: JsonObject;
  readonly wire: WireName;
  readonly requests: readonly BatchedRequest[];
  /** How often it was read. */
  readonly reads: number;
  readonly isCancelling: boolean;
  /** Once it has ended: the results, one JSON text per line. */
  readonly results?: string;
}

export type CancellableOutcome = BatchedOutcome | 'cancelled';

/** A cached content of Gemini, stored under its name. */
export interface StoredCachedContent {
  readonly facts: JsonObject;
  readonly model: string;
  /** The fields of a request that it replaces. */
  readonly prompt: JsonObject;
  readonly tokens: number;
  /** The hash of the key that created it. */
  readonly keyHash: string;
  /** Unix time in milliseconds. */
  readonly expiresAt: number;
}

/** Oldest first. */
export class ObjectArchive {
  readonly files = new Map<string, StoredFile>();
  readonly batches = new Map<string, StoredBatch>();
  readonly cachedContents = new Map<string, StoredCachedContent>();

  static key(vendor: VendorName, id: string): string {
    return `${vendor} ${id}`;
  }

  /** Newest first. */
  static listed<T>(objects: ReadonlyMap<string, T>, vendor: VendorName): readonly T[] {
    return [...objects]
      .filter(([key]) => key.startsWith(`${vendor} `))
      .map(([, object]) => object)
      .reverse();
  }
}
