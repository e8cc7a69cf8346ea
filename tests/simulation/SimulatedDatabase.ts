/** A database without files or network: the documents of each collection in a map, in order of insertion. */
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type {
  AggregateRow,
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
  Upsert,
} from '../../imports/database/DocumentCollection';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { upsertEach } from '../../imports/database/upsertEach';
import { compileSelector } from '../../imports/database/query/compileSelector';
import { copyDocument } from '../../imports/database/query/copyDocument';
import { projectFields } from '../../imports/database/query/findOptions';
import { modifyDocument } from '../../imports/database/query/modifyDocument';
import { parseModifier } from '../../imports/database/query/parseModifier';
import { parseSelector } from '../../imports/database/query/parseSelector';
import { TopDocuments } from '../../imports/database/query/TopDocuments';

export class SimulatedDatabase implements DocumentDatabase {
  readonly isExclusive = false;
  private readonly collections = new Map<string, SimulatedCollection<StoredDocument>>();

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    const existing = this.collections.get(name) ?? new SimulatedCollection<StoredDocument>(name);
    this.collections.set(name, existing);
    // The port says that everyone who uses a name agrees on the type.
    return existing as unknown as DocumentCollection<T>;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Each operation takes effect at once, so that those of several processes are atomic. */
class SimulatedCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly name: string;
  private readonly documents = new Map<string, T>();

  constructor(name: string) {
    this.name = name;
  }

  async insert(document: T): Promise<void> {
    if (this.documents.has(document._id))
      throw new ConflictError(`A document with the same key exists in ${this.name}.`);
    this.documents.set(document._id, copyDocument(document));
  }

  async insertMany(documents: readonly T[]): Promise<void> {
    for (const document of documents) await this.insert(document);
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, { sort, limit, fields }: FindOptions = {}): Promise<readonly T[]> {
    const found = new TopDocuments<T>(sort, limit);
    for (const document of this.matching(selector)) found.add(document);
    return found.toArray().map(
      (document) =>
        copyDocument({
          _id: document._id,
          ...projectFields(document, fields),
        }) as T,
    );
  }

  async count(selector: Selector): Promise<number> {
    return this.matching(selector).length;
  }

  bytes(): Promise<number> {
    throw new Error('The run engine measures nothing.');
  }

  aggregate(): Promise<readonly AggregateRow[]> {
    throw new Error('The run engine aggregates nothing.');
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const change = parseModifier(modifier);
    const found = this.matching(selector).slice(0, options.multi === true ? undefined : 1);
    for (const document of found) this.documents.set(document._id, modifyDocument(document, change));
    return found.length;
  }

  upsertMany(changes: readonly Upsert[]): Promise<{ readonly written: number; readonly inserted: number }> {
    return upsertEach(
      {
        // The caller says that it is such a document's content.
        insert: (document) => this.insert(document as T),
        update: (selector, modifier) => this.update(selector, modifier),
      },
      changes,
    );
  }

  async remove(selector: Selector): Promise<number> {
    const found = this.matching(selector);
    for (const { _id } of found) this.documents.delete(_id);
    return found.length;
  }

  /** No simulated run makes use of one. */
  ensureIndex(): Promise<void> {
    return Promise.resolve();
  }

  private matching(selector: Selector): readonly T[] {
    const isMatch = compileSelector(parseSelector(selector));
    const { _id } = selector;
    // What a process asks for most.
    const candidates = typeof _id === 'string' ? [this.documents.get(_id)] : [...this.documents.values()];
    return candidates.filter((document) => document !== undefined && isMatch(document)) as readonly T[];
  }
}
