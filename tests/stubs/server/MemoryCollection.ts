/**
 * The in-memory database behind one Mongo.Collection: documents and indexes, queries and updates by
 * mingo, errors as thrown by the driver.
 */
import { Aggregator } from 'mingo';
import { compileQuery, update } from './mongoQueries.cjs';
import { EJSON } from '../meteor/ejson';
import { refuseImpossible } from './impossibleUpdates';
import { MongoServerError } from './MongoServerError';

export type Fields = Record<string, unknown>;
export type Doc = Fields & { readonly _id: string };

export interface FindSpec {
  readonly sort?: Readonly<Record<string, 1 | -1>> | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly projection?: Readonly<Record<string, 0 | 1>> | undefined;
}
export interface IndexSpec {
  readonly unique?: boolean;
  readonly sparse?: boolean;
  readonly expireAfterSeconds?: number;
}

/** One write, as observers are notified of it. */
export interface Change {
  readonly kind: 'insert' | 'update' | 'remove';
  /** The documents that it changed. */
  readonly ids: readonly string[];
  /** The write named its document by `_id`, so that only observers of that id or of no id are affected. */
  readonly isById: boolean;
}

export class MemoryCollection {
  readonly name: string;
  private readonly documents = new Map<string, Doc>();
  private readonly indexes = new Map<
    string,
    { readonly keys: Readonly<Record<string, 1 | -1>>; readonly options: IndexSpec }
  >();
  private readonly watchers = new Set<(change: Change) => void>();
  /** The number of observe handles, several of which may share an observer. */
  watching = 0;

  constructor(name: string) {
    this.name = name;
  }

  insert(document: Doc): void {
    if (this.documents.has(document._id)) throw duplicate(this.name, '_id_');
    this.put(document, undefined);
    this.notifyListeners({ kind: 'insert', ids: [document._id], isById: true });
  }

  select(filter: Fields, spec: FindSpec = {}): Doc[] {
    const cursor = compileQuery({}).find<Doc>(this.matching(filter), spec.projection ?? {});
    if (spec.sort !== undefined && Object.keys(spec.sort).length > 0) cursor.sort(spec.sort);
    if (spec.skip !== undefined) cursor.skip(spec.skip);
    // 0 means no limit, as in MongoDB.
    if (spec.limit !== undefined && spec.limit !== 0) cursor.limit(Math.abs(spec.limit));
    return EJSON.clone(cursor.all());
  }

  aggregate(pipeline: readonly Fields[]): Fields[] {
    return new Aggregator([...pipeline]).run<Fields>(EJSON.clone([...this.documents.values()]));
  }

  /** @returns the number of matched documents */
  update(filter: Fields, modifier: Fields, multi: boolean): number {
    const found = this.matching(filter).slice(0, multi ? undefined : 1);
    for (const document of found) {
      const next = EJSON.clone(document);
      refuseImpossible(next, modifier);
      const { $pull, $addToSet, ...others } = EJSON.clone(modifier);
      eachHolder(next, $pull, pull);
      eachHolder(next, $addToSet, addToSet);
      // mingo's type of a modifier depends on the fields of the documents.
      if (Object.keys(others).length > 0)
        update(next, others as Parameters<typeof update>[1], [], {}, { cloneMode: 'none' });
      if (next._id !== document._id)
        throw new MongoServerError(66, "Performing an update on the path '_id' would modify the immutable field '_id'");
      this.put(next, document);
    }
    if (found.length > 0) this.notifyListeners(changeOf('update', filter, found));
    return found.length;
  }

  remove(filter: Fields): number {
    const found = this.matching(filter);
    for (const { _id } of found) this.documents.delete(_id);
    if (found.length > 0) this.notifyListeners(changeOf('remove', filter, found));
    return found.length;
  }

  createIndex(keys: Readonly<Record<string, 1 | -1>>, options: IndexSpec): void {
    const name = Object.entries(keys).flat().join('_');
    const known = this.indexes.get(name);
    if (known !== undefined && !EJSON.equals(known.options, options)) {
      throw new MongoServerError(
        86,
        `An equivalent index already exists with the same name but different options. Requested index: ${name}`,
      );
    }
    const index = { keys, options };
    const taken = new Set<string>();
    for (const document of options.unique === true ? this.documents.values() : []) {
      for (const key of indexKeys(document, index)) {
        if (taken.has(key)) throw duplicate(this.name, name);
        taken.add(key);
      }
    }
    this.indexes.set(name, index);
  }

  /** The keys of the indexes, in which `_id` is implied. */
  get indexed(): readonly Readonly<Record<string, 1 | -1>>[] {
    return [...this.indexes.values()].map(({ keys }) => keys);
  }

  /** Removes expired documents, as MongoDB's TTL monitor does about once a minute. */
  expire(now: number): void {
    for (const { keys, options } of this.indexes.values()) {
      const [field] = Object.keys(keys);
      if (options.expireAfterSeconds === undefined || field === undefined) continue;
      this.remove({ [field]: { $lt: new Date(now - options.expireAfterSeconds * 1000) } });
    }
  }

  /** Calls the listener after every change. @returns unsubscribes */
  watch(onChange: (change: Change) => void): () => void {
    this.watchers.add(onChange);
    return () => this.watchers.delete(onChange);
  }

  private matching(filter: Fields): Doc[] {
    const query = compileQuery(filter);
    return [...this.documents.values()].filter((document) => query.test(document));
  }

  private put(document: Doc, old: Doc | undefined): void {
    if (EJSON.stringify(document).length > MAX_BYTES)
      throw new MongoServerError(old === undefined ? 10334 : 17419, 'The document is larger than 16 MiB.');
    for (const [name, index] of this.indexes) {
      if (index.options.unique !== true) continue;
      const keys = new Set(indexKeys(document, index));
      for (const other of this.documents.values()) {
        if (other !== old && indexKeys(other, index).some((key) => keys.has(key))) throw duplicate(this.name, name);
      }
    }
    this.documents.set(document._id, document);
  }

  private notifyListeners(change: Change): void {
    for (const watcher of this.watchers) watcher(change);
  }
}

function changeOf(kind: Change['kind'], filter: Fields, documents: readonly Doc[]): Change {
  return { kind, ids: documents.map(({ _id }) => _id), isById: typeof filter._id === 'string' };
}

const MAX_BYTES = 16 * 1024 * 1024;

function eachHolder(
  document: Fields,
  changes: unknown,
  change: (holder: Fields, name: string, operand: unknown) => void,
): void {
  for (const [path, operand] of Object.entries(isFields(changes) ? changes : {})) {
    const parts = path.split('.');
    const name = parts.pop() ?? '';
    // Only $addToSet creates missing parents.
    const holder = parts.reduce<unknown>(
      (value, part) => (isFields(value) ? (change === addToSet ? (value[part] ??= {}) : value[part]) : undefined),
      document,
    );
    if (isFields(holder)) change(holder, name, operand);
  }
}

/** Implemented here because mingo removes elements that lack the condition's fields. */
function pull(holder: Fields, name: string, condition: unknown): void {
  const list = holder[name];
  if (!Array.isArray(list)) return;
  const isOnFields = isFields(condition) && !Object.keys(condition).some((key) => key.startsWith('$'));
  const query = compileQuery(isOnFields ? condition : { element: condition });
  holder[name] = list.filter(
    (element: unknown) => !(isOnFields ? isFields(element) && query.test(element) : query.test({ element })),
  );
}

/** Implemented here because mingo does not add to an array that contains duplicates. */
function addToSet(holder: Fields, name: string, operand: unknown): void {
  const list: unknown = holder[name] ?? [];
  const elements: readonly unknown[] = isFields(operand) && Array.isArray(operand.$each) ? operand.$each : [operand];
  if (!Array.isArray(list)) return;
  for (const element of elements) if (!list.some((one) => EJSON.equals(one, element))) list.push(element);
  holder[name] = list;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/**
 * The keys of a document in an index: none if a sparse index omits it, one per element of an array;
 * a missing field counts as null.
 */
function indexKeys(
  document: Doc,
  index: { readonly keys: Readonly<Record<string, 1 | -1>>; readonly options: IndexSpec },
): string[] {
  const columns = Object.keys(index.keys).map((path) => valuesAt(document, path));
  if (index.options.sparse === true && columns.every((values) => values.every((value) => value === undefined)))
    return [];
  return columns
    .reduce<unknown[][]>((rows, values) => rows.flatMap((row) => values.map((value) => [...row, value ?? null])), [[]])
    .map((row) => EJSON.stringify(row));
}

function valuesAt(document: Doc, path: string): unknown[] {
  let value: unknown = document;
  for (const part of path.split('.')) value = isFields(value) ? value[part] : undefined;
  return Array.isArray(value) && value.length > 0 ? value : [value];
}

function duplicate(collection: string, index: string): MongoServerError {
  return new MongoServerError(
    11000,
    `E11000 duplicate key error collection: meteor.${collection} index: ${index} dup key`,
  );
}
