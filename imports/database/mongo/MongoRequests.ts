/** What a collection of MongoDB does in the same way over the driver and over Meteor. */
import type { AggregateRow, Aggregation, FindOptions, Selector, StoredDocument } from '../DocumentCollection';
import { toDatabaseError } from '../databaseErrors';
import { fromBytesRows, toBytesPipeline } from '../query/bytesPipeline';
import { parseAggregation } from '../query/parseAggregation';
import { parseIndex } from '../query/parseIndex';
import type { IndexOptions } from '../query/parseIndex';
import { parseSelector } from '../query/parseSelector';
import { toMongoFilter } from '../query/toMongoFilter';
import { fromPipelineRow, toPipeline } from '../query/toPipeline';
import type { StoreCircuit } from '../StoreCircuit';

export abstract class MongoRequests<T extends StoredDocument, C> {
  private readonly name: string;
  private readonly open: () => C;
  private readonly circuit: StoreCircuit;

  /** @param open returns the collection of the present client */
  constructor(name: string, open: () => C, circuit: StoreCircuit) {
    this.name = name;
    this.open = open;
    this.circuit = circuit;
  }

  abstract find(selector: Selector, options?: FindOptions): Promise<readonly T[]>;
  protected abstract rowsOf(collection: C, pipeline: object[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  protected abstract createIndex(collection: C, index: ReturnType<typeof parseIndex>): Promise<unknown>;

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async bytes(selector: Selector, texts: readonly string[]): Promise<number> {
    const pipeline = toBytesPipeline(parseSelector(selector), texts);
    return fromBytesRows(await this.execute((collection) => this.rowsOf(collection, pipeline)));
  }

  async aggregate(selector: Selector, aggregation: Aggregation): Promise<readonly AggregateRow[]> {
    const checked = parseAggregation(aggregation);
    const pipeline = toPipeline(parseSelector(selector), checked);
    const rows = await this.execute((collection) => this.rowsOf(collection, pipeline));
    return rows.map((row) => fromPipelineRow(row, checked));
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = parseIndex(keys, options);
    await this.execute((collection) => this.createIndex(collection, index));
  }

  protected execute<Result>(operation: (collection: C) => Promise<Result>): Promise<Result> {
    return this.circuit.run(async () => {
      try {
        return await operation(this.open());
      } catch (cause) {
        throw toDatabaseError(cause, this.name);
      }
    });
  }
}

export function toFilter(selector: Selector): Record<string, unknown> {
  return toMongoFilter(parseSelector(selector));
}
