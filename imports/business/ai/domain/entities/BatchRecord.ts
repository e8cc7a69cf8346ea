/**
 * What is stored of a batch. It is written before and after each step at the vendor, so that a process that takes over
 * knows what may have happened. All functions are pure; times are milliseconds since the epoch.
 */
import type { VendorBatchCounts } from '../interfaces/VendorBatches';
import type { WireName } from '../types/VendorTypes';

export interface BatchRecord {
  readonly userId: string;
  /** The id by which the caller names the batch. */
  readonly batchId: string;
  /** Goes up with each change. */
  readonly revision: number;
  /** The process that works on it, until when. */
  readonly owner: string;
  readonly leasedUntil: number;
  readonly createdAt: number;
  /** How many requests it has. */
  readonly requests: number;
  /** The batches at the vendors. */
  readonly parts: readonly BatchPart[];
  /** Cancellation was requested. */
  readonly isCancelled?: true;
}

export interface BatchPart {
  /** By which it is found at the vendor. */
  readonly marker: string;
  readonly providerId: string;
  readonly wire: WireName;
  readonly model: string;
  /** The requests in it: first and last index of each run of neighbours. */
  readonly items: readonly (readonly [number, number])[];
  /** The uploaded file with its requests. */
  readonly fileId?: string;
  /** When creation was requested at the vendor, first and last. */
  readonly requestedAt?: number;
  readonly lastRequestedAt?: number;
  /** The vendor's id of it. */
  readonly vendorBatchId?: string;
  readonly counts?: VendorBatchCounts;
  /** Which requests' usage is counted: a bit for each index of the batch, in base64. */
  readonly counted?: string;
  readonly endedAt?: number;
}

export function rangesOf(indexes: readonly number[]): BatchPart['items'] {
  const ranges: [number, number][] = [];
  for (const index of indexes.toSorted((left, right) => left - right)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges;
}

export function hasItem({ items }: Pick<BatchPart, 'items'>, index: number): boolean {
  return items.some(([first, last]) => index >= first && index <= last);
}

export function sizeOf({ items }: Pick<BatchPart, 'items'>): number {
  return items.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

export function withPart(record: BatchRecord, part: BatchPart): BatchRecord {
  const isKnown = record.parts.some(({ marker }) => marker === part.marker);
  const parts = isKnown
    ? record.parts.map((each) => (each.marker === part.marker ? part : each))
    : [...record.parts, part];
  return { ...record, parts };
}

export function withoutPart(record: BatchRecord, { marker }: Pick<BatchPart, 'marker'>): BatchRecord {
  return { ...record, parts: record.parts.filter((each) => each.marker !== marker) };
}
