/** DocumentCollection over the official MongoDB driver. */
import type { AnyBulkWriteOperation, Collection, Document, Filter, MongoBulkWriteError, UpdateFilter } from 'mongodb';
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
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

type Row = Document & StoredDocument;

/** Documents are assumed to be of type `T`; those of other writers are returned as they are. */
export class MongoCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly name: string;
  private readonly open: () => Collection<Row>;
  private readonly circuit: StoreCircuit;

  /** @param open returns the collection of the present client */
  constructor(name: string, open: () => Collection<Row>, circuit: StoreCircuit) {
    this.name = name;
    this.open = open;
    this.circuit = circuit;
  }

  async insert(document: T): Promise<void> {
    const row = copyDocument(document);
    await this.execute((collection) => collection.insertOne(row));
  }

  async insertMany(documents: readonly T[]): Promise<void> {
    const rows = documents.map((document) => copyDocument(document));
    // The driver rejects an empty list.
    if (rows.length > 0) await this.execute((collection) => collection.insertMany(rows));
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    const filter = toFilter(selector);
    const { fields, ...rest } = parseFindOptions(options);
    const rows = await this.execute((collection) =>
      collection.find(filter, omitUndefined({ ...rest, projection: fields })).toArray(),
    );
    // The collection holds only documents that were inserted as T.
    return rows as readonly Document[] as readonly T[];
  }

  async count(selector: Selector): Promise<number> {
    const filter = toFilter(selector);
    return this.execute((collection) => collection.countDocuments(filter));
  }

  async bytes(selector: Selector, texts: readonly string[]): Promise<number> {
    const pipeline = toBytesPipeline(parseSelector(selector), texts);
    return fromBytesRows(await this.execute((collection) => collection.aggregate(pipeline).toArray()));
  }

  async aggregate(selector: Selector, aggregation: Aggregation): Promise<readonly AggregateRow[]> {
    const checked = parseAggregation(aggregation);
    const pipeline = toPipeline(parseSelector(selector), checked);
    const rows = await this.execute((collection) => collection.aggregate(pipeline).toArray());
    return rows.map((row) => fromPipelineRow(row, checked));
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const filter = toFilter(selector);
    // The driver's type requires a row's fields, which are unknown here.
    const change = parseModifier(modifier) as UpdateFilter<Row>;
    const { matchedCount } = await this.execute((collection) =>
      options.multi === true ? collection.updateMany(filter, change) : collection.updateOne(filter, change),
    );
    return matchedCount;
  }

  async upsertMany(changes: readonly Upsert[]): Promise<{ readonly written: number; readonly inserted: number }> {
    const operations = changes.map(({ _id, selector, modifier }): AnyBulkWriteOperation<Row> => ({
      updateOne: {
        filter: toFilter({ ...selector, _id }),
        update: parseModifier(modifier) as UpdateFilter<Row>,
        upsert: true,
      },
    }));
    // The driver rejects an empty list.
    if (operations.length === 0) return { written: 0, inserted: 0 };
    const { matchedCount, upsertedCount } = await this.execute(async (collection) => {
      try {
        return await collection.bulkWrite(operations, { ordered: false });
      } catch (error) {
        // A document that does not match cannot be inserted, since its id is taken.
        if (isOnlyDuplicates(error)) return error.result;
        throw error;
      }
    });
    return { written: matchedCount + upsertedCount, inserted: upsertedCount };
  }

  async remove(selector: Selector): Promise<number> {
    const filter = toFilter(selector);
    const { deletedCount } = await this.execute((collection) => collection.deleteMany(filter));
    return deletedCount;
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = parseIndex(keys, options);
    await this.execute((collection) => collection.createIndex(index.keys, index.options, {}));
  }

  private execute<Result>(operation: (collection: Collection<Row>) => Promise<Result>): Promise<Result> {
    return this.circuit.run(async () => {
      try {
        return await operation(this.open());
      } catch (cause) {
        throw toDatabaseError(cause, this.name);
      }
    });
  }
}

function toFilter(selector: Selector): Filter<Row> {
  return toMongoFilter(parseSelector(selector));
}

const DUPLICATE_KEY = 11_000;

/** By its shape, because the driver is loaded on first use. */
function isOnlyDuplicates(error: unknown): error is MongoBulkWriteError {
  if (!(error instanceof Error) || !('writeErrors' in error) || !('result' in error)) return false;
  const failures = [error.writeErrors].flat() as readonly { readonly code?: unknown }[];
  return failures.length > 0 && failures.every(({ code }) => code === DUPLICATE_KEY);
}
