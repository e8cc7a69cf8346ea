/**
 * Mongo.Collection on the server, as in Meteor 3: async methods only, one collection per name, plain
 * documents.
 */
import { EJSON } from '../meteor/ejson';
import { Random } from '../meteor/random';
import { Cursor, databaseAnswers, notOnServer } from './Cursor';
import { MemoryCollection } from './MemoryCollection';
import type { Doc, Fields, FindSpec, IndexSpec } from './MemoryCollection';
import { MeteorError } from './MeteorError';
import { registry } from './registry';
import { currentFence } from './WriteFence';

export type Selector = object | string | null | undefined;

export interface FindOptions {
  readonly sort?: Readonly<Record<string, 1 | -1>> | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly fields?: Readonly<Record<string, 0 | 1>> | undefined;
  readonly projection?: Readonly<Record<string, 0 | 1>> | undefined;
}

export class Collection<T extends { _id: string }> {
  readonly _name: string;
  private readonly memory: MemoryCollection;

  constructor(name: string, options: { readonly defineMutationMethods?: boolean } = {}) {
    if (typeof name !== 'string' || name === '')
      throw new Error('First argument to new Mongo.Collection must be a string');
    if (registry.collections.has(name)) throw new Error(`There is already a collection named "${name}"`);
    this._name = name;
    this.memory = registry.stored.get(name) ?? new MemoryCollection(name);
    registry.collections.set(name, this.memory);
    if (options.defineMutationMethods !== false) defineMutationMethods(name);
  }

  async insertAsync(document: Omit<T, '_id'> & { _id?: string }): Promise<string> {
    if (typeof document !== 'object' || Array.isArray(document)) throw new Error('insert requires an argument');
    if ('_id' in document && (typeof document._id !== 'string' || document._id === '')) {
      throw new Error('Meteor requires document _id fields to be non-empty strings or ObjectIDs');
    }
    const row = asBson({ _id: Random.id(), ...document }) as Doc;
    return this.write('insert', () => {
      this.memory.insert(row);
      return row._id;
    });
  }

  find(...args: readonly [selector?: Selector, options?: FindOptions]): Cursor<T> {
    const [selector, options = {}] = args;
    return new Cursor<T>(this.memory, args.length === 0 ? {} : rewritten(selector), specOf(options));
  }

  async findOneAsync(
    ...args: readonly [selector?: Selector, options?: Omit<FindOptions, 'limit'>]
  ): Promise<T | undefined> {
    const [selector, options = {}] = args;
    const cursor = new Cursor<T>(this.memory, args.length === 0 ? {} : rewritten(selector), {
      ...specOf(options),
      limit: 1,
    });
    const [first] = await cursor.fetchAsync();
    return first;
  }

  async updateAsync(selector: Selector, modifier: object, options: { readonly multi?: boolean } = {}): Promise<number> {
    const operators = Object.keys(modifier);
    if (operators.length === 0 || operators.some((operator) => !operator.startsWith('$')))
      throw new Error('This stub supports only modifiers, not replacements.');
    const filter = rewritten(selector);
    const change = asBson(modifier) as Fields;
    return this.write('update', () => this.memory.update(filter, change, options.multi === true));
  }

  async removeAsync(selector: Selector): Promise<number> {
    const filter = rewritten(selector);
    return this.write('remove', () => this.memory.remove(filter));
  }

  /** Meteor preserves only the message of the driver's error. */
  async createIndexAsync(keys: Readonly<Record<string, 1 | -1>>, options: IndexSpec = {}): Promise<void> {
    await databaseAnswers();
    try {
      this.memory.createIndex({ ...keys }, { ...options });
    } catch (error) {
      throw new MeteorError(
        `An error occurred when creating an index for collection "${this._name}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  async countDocuments(selector: Selector = {}): Promise<number> {
    return this.find(selector).countAsync();
  }

  insert(_document: unknown): never {
    throw notOnServer('insert');
  }
  findOne(_selector?: unknown): never {
    throw notOnServer('findOne');
  }
  update(_selector: unknown, _modifier: unknown): never {
    throw notOnServer('update');
  }
  remove(_selector: unknown): never {
    throw notOnServer('remove');
  }
  upsert(_selector: unknown, _modifier: unknown): never {
    throw notOnServer('upsert');
  }
  /** The write joins the current fence at once, and the observers that it invalidates join when it is done. */
  private async write<Result>(kind: 'insert' | 'update' | 'remove', change: () => Result): Promise<Result> {
    const committed = currentFence.getStore()?.beginWrite(`${kind} ${this._name}`);
    try {
      await databaseAnswers();
      return change();
    } finally {
      committed?.();
    }
  }

  /** A standalone server's, which notifies of nothing. */
  rawDatabase(): { command(): Promise<object>; watch(): never } {
    return {
      command: async () => {
        await databaseAnswers();
        return {};
      },
      watch: () => {
        throw new Error('The $changeStream stage is only supported on replica sets');
      },
    };
  }

  /** Observers don't see its writes, so it has no method that writes. */
  rawCollection(): { aggregate(pipeline: object[]): { toArray(): Promise<Fields[]> } } {
    return {
      aggregate: (pipeline) => {
        if (pipeline.some((stage) => '$out' in stage || '$merge' in stage))
          throw new Error('An aggregation must not be used to write.');
        return {
          toArray: async () => {
            await databaseAnswers();
            return this.memory.aggregate(asBson(pipeline) as Fields[]);
          },
        };
      },
    };
  }
}

/** A falsy selector, and a falsy `_id`, match nothing. */
function rewritten(selector: Selector): Fields {
  if (typeof selector === 'string') return { _id: selector };
  if (Array.isArray(selector)) throw new Error("Mongo selector can't be an array.");
  if (selector === null || selector === undefined) return { _id: Random.id() };
  const fields = asBson(selector) as Fields;
  return '_id' in selector && (selector._id === undefined || selector._id === null || selector._id === '')
    ? { _id: Random.id() }
    : fields;
}

/** `fields` takes precedence over `projection`. */
function specOf({ fields, projection, ...rest }: FindOptions): FindSpec {
  return { ...rest, projection: fields ?? projection };
}

/**
 * The selector as the driver sends it. Meteor opens the driver with `ignoreUndefined`, so `undefined` conditions are
 * dropped too.
 */
function asBson(value: unknown): unknown {
  return withoutUndefined(EJSON.clone(value));
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((element: unknown) => (element === undefined ? null : withoutUndefined(element)));
  if (typeof value !== 'object' || value === null || value instanceof Date || EJSON.isBinary(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, withoutUndefined(field)]])),
  );
}

/** Without allow rules, client writes are denied. */
function defineMutationMethods(name: string): void {
  for (const method of ['insert', 'update', 'remove', 'insertAsync', 'updateAsync', 'removeAsync']) {
    registry.methods.set(`/${name}/${method}`, () => {
      throw new MeteorError(403, 'Access denied');
    });
  }
}
