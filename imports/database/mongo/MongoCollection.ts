/** DocumentCollection over the official MongoDB driver. */
import type { AnyBulkWriteOperation, Collection, Document, MongoBulkWriteError, UpdateFilter } from 'mongodb';
import type {
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
  Upsert,
} from '../DocumentCollection';
import { copyDocument } from '../query/copyDocument';
import { parseFindOptions } from '../query/findOptions';
import type { parseIndex } from '../query/parseIndex';
import { parseModifier } from '../query/parseModifier';
import { MongoRequests, toFilter } from './MongoRequests';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

type Row = Document & StoredDocument;

/** Documents are assumed to be of type `T`; those of other writers are returned as they are. */
export class MongoCollection<T extends StoredDocument>
  extends MongoRequests<T, Collection<Row>>
  implements DocumentCollection<T>
{
  async insert(document: T): Promise<void> {
    const row = copyDocument(document);
    await this.execute((collection) => collection.insertOne(row));
  }

  async insertMany(documents: readonly T[]): Promise<void> {
    const rows = documents.map((document) => copyDocument(document));
    // The driver rejects an empty list.
    if (rows.length > 0) await this.execute((collection) => collection.insertMany(rows));
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

  protected rowsOf(collection: Collection<Row>, pipeline: object[]): Promise<readonly Document[]> {
    return collection.aggregate(pipeline).toArray();
  }

  protected createIndex(
    collection: Collection<Row>,
    { keys, options }: ReturnType<typeof parseIndex>,
  ): Promise<unknown> {
    return collection.createIndex(keys, options, {});
  }
}

const DUPLICATE_KEY = 11_000;

/** By its shape, because the driver is loaded on first use. */
function isOnlyDuplicates(error: unknown): error is MongoBulkWriteError {
  if (!(error instanceof Error) || !('writeErrors' in error) || !('result' in error)) return false;
  const failures = [error.writeErrors].flat() as readonly { readonly code?: unknown }[];
  return failures.length > 0 && failures.every(({ code }) => code === DUPLICATE_KEY);
}
