/** The memories of one user in this process's memory, ready to be searched. */
import type MiniSearch from 'minisearch';
import type { MemoryEntry } from '../../ai/domain/interfaces/Memory';
import { wordsOf } from '../../ai/domain/util/words';
import type { MemoryHead, MemoryRecord } from './MemoryRecords';
import { decodeVector, similarity } from './vectors';

interface Indexed extends MemoryHead {
  readonly entry: MemoryEntry;
  readonly vector?: { readonly model: string; readonly values: Int8Array };
}

type Words = MiniSearch<{ readonly id: string; readonly text: string }>;

/** In a word search, results that score below this share of the best one are noise, such as common words. */
const LEAST_PART_OF_BEST = 0.2;
/** Bytes that the index of words takes for each character of text, at most. */
const BYTES_PER_CHARACTER = 12;
const BYTES_PER_ENTRY = 500;
/** The constant of reciprocal rank fusion (Cormack et al., SIGIR 2009): higher ones favour the first ranks less. */
const FUSION_CONSTANT = 60;

export class MemoryIndex {
  /** An estimate. */
  bytes = 0;
  private readonly words: Words;
  private readonly records = new Map<string, Indexed>();
  private readonly byText = new Map<string, string>();

  private constructor(words: Words) {
    this.words = words;
  }

  /** Loads the search library, which takes a moment the first time. */
  static async create(): Promise<MemoryIndex> {
    const { default: Search } = await import('minisearch');
    const words: Words = new Search({
      fields: ['text'],
      tokenize: wordsOf,
      processTerm: (term) => term,
      searchOptions: {
        prefix: (term) => term.length > 3,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      },
    });
    return new MemoryIndex(words);
  }

  get ids(): Iterable<string> {
    return this.records.keys();
  }

  has({ _id, revision }: MemoryHead): boolean {
    return this.records.get(_id)?.revision === revision;
  }

  entry(id: string): MemoryEntry | undefined {
    return this.records.get(id)?.entry;
  }

  find(text: string): MemoryEntry | undefined {
    const id = this.byText.get(text);
    return id === undefined ? undefined : this.entry(id);
  }

  put({ _id, text, createdAt, savedAt, revision, vector, model }: MemoryRecord): void {
    this.remove(_id);
    const values = vector === undefined ? undefined : decodeVector(vector);
    this.records.set(_id, {
      _id,
      savedAt,
      revision,
      entry: { id: _id, text, createdAt, savedAt },
      ...(values === undefined || model === undefined ? {} : { vector: { model, values } }),
    });
    this.byText.set(text, _id);
    this.words.add({ id: _id, text });
    this.bytes += sizeOf(text, values);
  }

  remove(id: string): void {
    const indexed = this.records.get(id);
    if (indexed === undefined) return;
    const { text } = indexed.entry;
    this.records.delete(id);
    if (this.byText.get(text) === id) this.byText.delete(text);
    this.words.remove({ id, text });
    this.bytes -= sizeOf(text, indexed.vector?.values);
  }

  /** Returns entries that have no vector of the model. */
  withoutVector(model: string, limit: number): readonly Indexed[] {
    const found: Indexed[] = [];
    for (const indexed of this.records.values()) {
      if (found.length === limit) break;
      if (indexed.vector?.model !== model) found.push(indexed);
    }
    return found;
  }

  /** @param meaning the vector of the query, and the model that made it @returns the best first */
  search(
    query: string,
    limit: number,
    meaning?: { readonly model: string; readonly vector: Int8Array },
  ): readonly MemoryEntry[] {
    const scores = new Map<string, number>();
    const add = (ids: readonly string[]): void => {
      for (const [rank, id] of ids.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (FUSION_CONSTANT + rank + 1));
    };
    // What one list ranks low can still be among the best of both.
    const depth = Math.max(50, limit * 4);
    add(this.byWords(query).slice(0, depth));
    if (meaning !== undefined) add(this.byMeaning(meaning.model, meaning.vector).slice(0, depth));
    return [...scores]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, limit)
      .flatMap(([id]) => this.entry(id) ?? []);
  }

  private byWords(query: string): readonly string[] {
    const found = this.words.search(query);
    const least = (found[0]?.score ?? 0) * LEAST_PART_OF_BEST;
    return found.flatMap(({ id, score }) => (score >= least ? [id as string] : []));
  }

  private byMeaning(model: string, vector: Int8Array): readonly string[] {
    const ranked: { readonly id: string; readonly score: number }[] = [];
    for (const { _id, vector: stored } of this.records.values())
      if (stored?.model === model) ranked.push({ id: _id, score: similarity(vector, stored.values) });
    return ranked
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)
      .map(({ id }) => id);
  }
}

function sizeOf(text: string, vector: Int8Array | undefined): number {
  return BYTES_PER_ENTRY + text.length * BYTES_PER_CHARACTER + (vector?.length ?? 0);
}
