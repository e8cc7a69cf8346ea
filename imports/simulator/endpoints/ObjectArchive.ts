/** The files and batches that each vendor stores. */
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';

export interface StoredFile {
  readonly facts: JsonObject;
  readonly bytes: Buffer;
}

export interface StoredBatch {
  readonly facts: JsonObject;
  /** The results, one JSON text per line. */
  readonly results: string;
}

/** Oldest first. */
export class ObjectArchive {
  readonly files = new Map<string, StoredFile>();
  readonly batches = new Map<string, StoredBatch>();

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
