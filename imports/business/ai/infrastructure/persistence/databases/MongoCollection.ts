/** DocumentCollection over the official MongoDB driver. */
import type { Collection, Document, Filter, UpdateFilter } from 'mongodb';
import type {
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
} from '../../../domain/interfaces/DocumentCollection';
import { copyDocument } from './query/copyDocument';
import { readFindOptions } from './query/findOptions';
import { readIndex } from './query/parseIndex';
import type { IndexOptions } from './query/parseIndex';
import { readModifier } from './query/parseModifier';
import { readSelector } from './query/parseSelector';
import { storeError } from './databaseErrors';

type Row = Document & StoredDocument;

/** Documents of type `T` are what was put in; another writer's documents come out as they are. */
export class MongoCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly collection: Collection<Row>;

  constructor(collection: Collection<Row>) {
    this.collection = collection;
  }

  async insert(document: T): Promise<void> {
    const row = copyDocument(document);
    await this.ask((collection) => collection.insertOne(row));
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    const filter = filterOf(selector);
    const { fields, ...rest } = readFindOptions(options);
    const rows = await this.ask((collection) =>
      collection.find(filter, { ...rest, ...(fields === undefined ? {} : { projection: fields }) }).toArray(),
    );
    // The boundary to the driver: what is in the collection was put there as T.
    return rows as readonly Document[] as readonly T[];
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const filter = filterOf(selector);
    // The driver's type of a modifier knows the fields of a row, which are not known here.
    const change = readModifier(modifier) as UpdateFilter<Row>;
    const { matchedCount } = await this.ask((collection) =>
      options.multi === true ? collection.updateMany(filter, change) : collection.updateOne(filter, change),
    );
    return matchedCount;
  }

  async remove(selector: Selector): Promise<number> {
    const filter = filterOf(selector);
    const { deletedCount } = await this.ask((collection) => collection.deleteMany(filter));
    return deletedCount;
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = readIndex(keys, options);
    await this.ask((collection) => collection.createIndex(index.keys, index.options));
  }

  private async ask<Answer>(question: (collection: Collection<Row>) => Promise<Answer>): Promise<Answer> {
    try {
      return await question(this.collection);
    } catch (cause) {
      throw storeError(cause, this.collection.collectionName);
    }
  }
}

function filterOf(selector: Selector): Filter<Row> {
  return readSelector(selector);
}
