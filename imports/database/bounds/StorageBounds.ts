/** How many bytes of each kind of documents are stored. */
import type { DocumentDatabase } from '../DocumentDatabase';
import { MAX_DOCUMENT_BYTES } from './documentBytes';

/** Bytes of one kind, in UTF-8. Each kind has the same bounds, and is counted for itself. */
export interface StorageBounds {
  /** For one user. The user's least recently used documents are removed first. */
  readonly perUser: number;
  /** For all users. Those who store the most lose first, down to the same size, so that nobody loses a fair share. */
  readonly total: number;
  /** Bytes of one document. Default: what databases allow. */
  readonly perDocument?: number;
}

const MEGABYTE = 1_024 ** 2;

/** Sealed content is base64, which takes a third more. */
const MAX_SEALED_BYTES = Math.floor((MAX_DOCUMENT_BYTES * 3) / 4);

const EMBEDDED_BOUNDS: StorageBounds = { perUser: 100 * MEGABYTE, total: 500 * MEGABYTE };
export const DATABASE_BOUNDS: StorageBounds = { perUser: 200 * MEGABYTE, total: 20_000 * MEGABYTE };

export function boundsFor(
  database: Pick<DocumentDatabase, 'isExclusive' | 'sealsContent'>,
  given: Partial<StorageBounds>,
): StorageBounds {
  return {
    ...(database.isExclusive ? EMBEDDED_BOUNDS : DATABASE_BOUNDS),
    ...(database.sealsContent === true ? { perDocument: MAX_SEALED_BYTES } : {}),
    ...given,
  };
}

/** @returns bytes of one user in the collections whose documents stay until they are deleted or expire */
export function accountBoundFor(
  { isExclusive }: Pick<DocumentDatabase, 'isExclusive'>,
  { perUser }: Partial<StorageBounds>,
): number {
  return perUser ?? (isExclusive ? 500 * MEGABYTE : 2_000 * MEGABYTE);
}

/** @returns the size to which the larger users shrink, so that all together have at most `total` */
export function fairShare(sizes: readonly number[], total: number): number {
  let left = total;
  const ascending = [...sizes].sort((one, other) => one - other);
  for (const [at, size] of ascending.entries()) {
    const share = left / (ascending.length - at);
    if (size > share) return Math.floor(share);
    left -= size;
  }
  return Infinity;
}
