/** DocumentCollection over Meteor's own collection: observers, and so publications, see each write at once. */
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
import { MongoRequests, toFilter } from '../mongo/MongoRequests';
import type { StoreCircuit } from '../StoreCircuit';
import { upsertEach } from '../upsertEach';
import type { MeteorMongoCollection } from './MeteorMongo';

export class MeteorCollection<T extends StoredDocument>
  extends MongoRequests<T, MeteorMongoCollection>
  implements DocumentCollection<T>
{
  private readonly onWritten: () => void;

  /** @param onWritten called after each write */
  constructor(name: string, collection: MeteorMongoCollection, circuit: StoreCircuit, onWritten: () => void) {
    super(name, () => collection, circuit);
    this.onWritten = onWritten;
  }

  async insert(document: T): Promise<void> {
    const row = copyDocument<StoredDocument>(document);
    await this.write((collection) => collection.insertAsync(row));
  }

  async insertMany(documents: readonly T[]): Promise<void> {
    // Meteor has no method for many documents whose writes observers would see.
    for (const document of documents) await this.insert(document);
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

  /** Meteor's collection has no aggregate. Reading from the raw one is safe: observers need to see only writes. */
  protected rowsOf(
    collection: MeteorMongoCollection,
    pipeline: object[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return collection.rawCollection().aggregate(pipeline).toArray();
  }

  protected createIndex(
    collection: MeteorMongoCollection,
    { keys, options }: ReturnType<typeof parseIndex>,
  ): Promise<unknown> {
    return collection.createIndexAsync(keys, options);
  }

  private async write<Result>(operation: (collection: MeteorMongoCollection) => Promise<Result>): Promise<Result> {
    const result = await this.execute(operation);
    this.onWritten();
    return result;
  }
}
