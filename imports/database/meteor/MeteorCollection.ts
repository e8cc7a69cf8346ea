/** DocumentCollection over Meteor's own collection: observers, and so publications, see each write at once. */
import type {
  AggregateRow,
  Aggregation,
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
  Upsert,
} from '../DocumentCollection';
import { copyDocument } from '../query/copyDocument';
import { parseFindOptions } from '../query/findOptions';
import { parseAggregation } from '../query/parseAggregation';
import { parseIndex } from '../query/parseIndex';
import type { IndexOptions } from '../query/parseIndex';
import { parseModifier } from '../query/parseModifier';
import { parseSelector } from '../query/parseSelector';
import { toMongoFilter } from '../query/toMongoFilter';
import { fromBytesRows, toBytesPipeline } from '../query/bytesPipeline';
import { fromPipelineRow, toPipeline } from '../query/toPipeline';
import { toDatabaseError } from '../databaseErrors';
import type { StoreCircuit } from '../StoreCircuit';
import { upsertEach } from '../upsertEach';
import type { MeteorMongoCollection } from './MeteorMongo';

export class MeteorCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly name: string;
  private readonly collection: MeteorMongoCollection;
  private readonly circuit: StoreCircuit;
  private readonly onWritten: () => void;

  /** @param onWritten called after each write */
  constructor(name: string, collection: MeteorMongoCollection, circuit: StoreCircuit, onWritten: () => void) {
    this.name = name;
    this.onWritten = onWritten;
    this.collection = collection;
    this.circuit = circuit;
  }

  async insert(document: T): Promise<void> {
    const row = copyDocument<StoredDocument>(document);
    await this.write((collection) => collection.insertAsync(row));
  }

  async insertMany(documents: readonly T[]): Promise<void> {
    // Meteor has no method for many documents whose writes observers would see.
    for (const document of documents) await this.insert(document);
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    const checked = toFilter(selector);
    const checkedOptions = parseFindOptions(options);
    const rows = await this.execute((collection) => collection.find(checked, checkedOptions).fetchAsync());
    // The collection holds only documents that were inserted as T.
    return rows as readonly StoredDocument[] as readonly T[];
  }

  async count(selector: Selector): Promise<number> {
    const checked = toFilter(selector);
    return this.execute((collection) => collection.find(checked).countAsync());
  }

  async bytes(selector: Selector, texts: readonly string[]): Promise<number> {
    const pipeline = toBytesPipeline(parseSelector(selector), texts);
    return fromBytesRows(await this.execute((collection) => collection.rawCollection().aggregate(pipeline).toArray()));
  }

  async aggregate(selector: Selector, aggregation: Aggregation): Promise<readonly AggregateRow[]> {
    const checked = parseAggregation(aggregation);
    const pipeline = toPipeline(parseSelector(selector), checked);
    // Meteor's collection has no aggregate. Reading from the raw one is safe: observers need to see only writes.
    const rows = await this.execute((collection) => collection.rawCollection().aggregate(pipeline).toArray());
    return rows.map((row) => fromPipelineRow(row, checked));
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const checked = toFilter(selector);
    const change = parseModifier(modifier);
    return this.write((collection) => collection.updateAsync(checked, change, { multi: options.multi === true }));
  }

  async upsertMany(changes: readonly Upsert[]): Promise<{ readonly written: number; readonly inserted: number }> {
    const insert = (document: StoredDocument): Promise<void> => this.insert(document as T);
    return upsertEach({ insert, update: (selector, modifier) => this.update(selector, modifier) }, changes);
  }

  async remove(selector: Selector): Promise<number> {
    const checked = toFilter(selector);
    return this.write((collection) => collection.removeAsync(checked));
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = parseIndex(keys, options);
    await this.execute((collection) => collection.createIndexAsync(index.keys, index.options));
  }

  private async write<Result>(operation: (collection: MeteorMongoCollection) => Promise<Result>): Promise<Result> {
    const result = await this.execute(operation);
    this.onWritten();
    return result;
  }

  private execute<Result>(operation: (collection: MeteorMongoCollection) => Promise<Result>): Promise<Result> {
    return this.circuit.run(async () => {
      try {
        return await operation(this.collection);
      } catch (cause) {
        throw toDatabaseError(cause, this.name);
      }
    });
  }
}

function toFilter(selector: Selector): object {
  return toMongoFilter(parseSelector(selector));
}
