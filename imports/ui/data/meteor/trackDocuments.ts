/**
 * The documents of a query as a reactive array. Documents that did not change stay the same objects, so that only what
 * shows a changed one is rendered again; many changes at once are one new array.
 */
import type { BrowserCursor } from './BrowserPackages';
import type { CollectionName } from './collections';
import type { MeteorSource } from './MeteorSource';
import { SharedSource } from './SharedSource';

export interface DocumentQuery<T> {
  readonly collection: CollectionName<T>;
  readonly selector?: object;
  readonly sort?: Readonly<Record<string, 1 | -1>>;
}

/** Observes while the computation runs. Computations with the same query share one observer. */
export function trackDocuments<T extends { readonly _id: string }>(
  source: MeteorSource,
  query: DocumentQuery<T>,
): readonly T[] {
  const key = `documents ${JSON.stringify(query)}`;
  return SharedSource.of(source, key, () => new SharedQuery<T>(source, key, query)).read();
}

class SharedQuery<T extends { readonly _id: string }> extends SharedSource<readonly T[]> {
  private readonly query: DocumentQuery<T>;
  private observer: { stop(): void } | undefined;
  private documents: T[] = [];
  private isStale = false;

  constructor(source: MeteorSource, key: string, query: DocumentQuery<T>) {
    super(source, key);
    this.query = query;
  }

  protected start(): void {
    let isInitial = true;
    const change = (apply: (documents: T[]) => void): void => {
      apply(this.documents);
      if (!isInitial) this.update();
    };
    this.documents = [];
    this.observer = this.cursor().observe({
      addedAt: (document, index) => change((documents) => documents.splice(index, 0, document)),
      changedAt: (document, _before, index) => change((documents) => documents.splice(index, 1, document)),
      removedAt: (_document, index) => change((documents) => documents.splice(index, 1)),
      movedTo: (document, from, to) =>
        change((documents) => {
          documents.splice(from, 1);
          documents.splice(to, 0, document);
        }),
    });
    isInitial = false;
    this.set([...this.documents]);
  }

  protected stop(): void {
    this.observer?.stop();
    this.observer = undefined;
  }

  protected peek(): readonly T[] {
    if (this.observer !== undefined) return (this.value ??= [...this.documents]);
    // Only browsers have these collections.
    return this.source.Meteor.isServer ? [] : this.cursor().fetch();
  }

  /** Documents arrive in batches, of which computations are told once. Reading does not wait for that. */
  private update(): void {
    this.value = undefined;
    if (this.isStale) return;
    this.isStale = true;
    queueMicrotask(() => {
      this.isStale = false;
      if (this.observer !== undefined) this.set(this.peek());
    });
  }

  private cursor(): BrowserCursor<T> {
    const { collection, selector = {}, sort } = this.query;
    return this.source.collection(collection).find(selector, sort === undefined ? {} : { sort });
  }
}
