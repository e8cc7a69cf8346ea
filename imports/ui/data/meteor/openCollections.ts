/** The collections that the publications fill, with the types of their documents. */
import type { PublicProvider } from '../../../business/providers/domain/entities/PublicProvider';
import type { DeltaView, RunCountView, RunDetailView, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { BrowserPackages } from './BrowserPackages';
import type { CollectionName } from './collections';
import { DELTAS, MEMORIES, PROVIDERS, RUNS, STATS, TOOL_CALLS } from './collections';
import type { MemoryView } from './collections';
import { MeteorSource } from './MeteorSource';

/** What a client does with a `Mongo.Collection` that subscriptions fill. */
export interface PublishedCollection<T extends { readonly _id: string }> {
  find(selector?: PublishedSelector<T>, options?: PublishedOptions<T>): PublishedCursor<T>;
  findOne(selector?: PublishedSelector<T>, options?: PublishedOptions<T>): T | undefined;
}

/** An id, values of fields, or Mongo's operators. */
export type PublishedSelector<T> =
  | string
  | ({ readonly [F in keyof T]?: T[F] | Readonly<Record<`$${string}`, unknown>> } & Readonly<
      Record<`$${string}` | `${string}.${string}`, unknown>
    >);

export interface PublishedOptions<T> {
  readonly sort?: { readonly [F in keyof T]?: 1 | -1 };
  readonly fields?: { readonly [F in keyof T]?: 0 | 1 };
  readonly limit?: number;
  readonly skip?: number;
}

export interface PublishedCursor<T> {
  fetch(): T[];
  count(): number;
  map<R>(change: (document: T, index: number) => R): R[];
  forEach(visit: (document: T, index: number) => void): void;
  observe(callbacks: {
    readonly added?: (document: T) => void;
    readonly changed?: (document: T, before: T) => void;
    readonly removed?: (document: T) => void;
  }): { stop(): void };
}

/** By the publications that fill them: see docs/reference/methods-and-publications.md. */
export interface PublishedCollections {
  readonly RunsCollection: PublishedCollection<RunDetailView>;
  readonly ToolCallsCollection: PublishedCollection<ToolCallView>;
  readonly DeltasCollection: PublishedCollection<DeltaView>;
  readonly StatsCollection: PublishedCollection<RunCountView>;
  readonly MemoriesCollection: PublishedCollection<MemoryView>;
  readonly ProvidersCollection: PublishedCollection<PublicProvider>;
}

/**
 * Opens those that the app has not created itself: Meteor allows one `Mongo.Collection` per name.
 * @throws TypeError for a missing or wrong object, with its import
 */
export function openCollections(packages: BrowserPackages): PublishedCollections {
  const source = MeteorSource.of(packages);
  const open = <T extends { readonly _id: string }>(name: CollectionName<T>): PublishedCollection<T> =>
    // The same collection, of which the helpers need less.
    source.collection(name) as unknown as PublishedCollection<T>;
  return {
    RunsCollection: open(RUNS),
    ToolCallsCollection: open(TOOL_CALLS),
    DeltasCollection: open(DELTAS),
    StatsCollection: open(STATS),
    MemoriesCollection: open(MEMORIES),
    ProvidersCollection: open(PROVIDERS),
  };
}
