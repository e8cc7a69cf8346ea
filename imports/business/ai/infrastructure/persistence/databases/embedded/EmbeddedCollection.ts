/**
 * DocumentCollection over one NeDB file. Writes run one after another, so that a modifier changes exactly the documents
 * that its selector found.
 */
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import type {
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
} from '../../../../domain/interfaces/DocumentCollection';
import { copyDocument } from '../query/copyDocument';
import { invalidInput, valuesAt } from '../query/fieldPaths';
import { projectFields, parseFindOptions, sortDocuments } from '../query/findOptions';
import { matchesSelector } from '../query/matchDocument';
import { modifyDocument } from '../query/modifyDocument';
import { parseIndex } from '../query/parseIndex';
import type { IndexOptions } from '../query/parseIndex';
import { parseModifier } from '../query/parseModifier';
import { parseSelector } from '../query/parseSelector';
import type { CheckedSelector } from '../query/parseSelector';
import { isSameScalar } from '../query/scalars';
import type { Scalar } from '../query/scalars';
import type { Lookup, NedbFile } from './NedbFile';

interface UniqueRule {
  readonly fields: readonly string[];
  readonly isSparse: boolean;
}

export class EmbeddedCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly file: NedbFile;
  private readonly indexes = new Map<string, { readonly keys: readonly string[]; readonly options: IndexOptions }>();
  private lastWrite: Promise<unknown> = Promise.resolve();

  constructor(file: NedbFile) {
    this.file = file;
  }

  async insert(document: T): Promise<void> {
    const row = copyDocument(document);
    await this.enqueue(async () => {
      await this.checkUniqueKeys(row);
      await this.file.insert(row);
    });
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    const checked = parseSelector(selector);
    const { sort, limit, fields } = parseFindOptions(options);
    const found = sortDocuments(await this.findMatching(checked), sort).slice(0, limit);
    // The file holds only documents that were inserted as T.
    return found.map((row) => copyDocument({ _id: row._id, ...projectFields(row, fields) }) as T);
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const checked = parseSelector(selector);
    const change = parseModifier(modifier);
    return this.enqueue(async () => {
      const found = await this.findMatching(checked);
      const rows = options.multi === true ? found : found.slice(0, 1);
      for (const row of rows) {
        const next = modifyDocument(row, change);
        await this.checkUniqueKeys(next);
        await this.file.replace(next);
      }
      return rows.length;
    });
  }

  async remove(selector: Selector): Promise<number> {
    const checked = parseSelector(selector);
    return this.removeMatching((row) => matchesSelector(row, checked), this.lookupFor(checked));
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = parseIndex(keys, options);
    // NeDB has one index per set of fields, whatever their order and direction.
    const fields = Object.keys(index.keys).toSorted();
    await this.enqueue(async () => {
      const name = fields.join();
      const existing = this.indexes.get(name);
      if (existing !== undefined) {
        if (isSameIndex(existing.options, index.options)) return;
        throw invalidInput('index', `on ${name} of ${this.file.name} already exists with other options`);
      }
      await this.checkStoredKeys(fields, index.options);
      await this.file.buildIndex(fields, index.options);
      this.indexes.set(name, { keys: fields, options: index.options });
    });
  }

  /**
   * Removes expired documents. The database calls this about once a minute, as MongoDB does on its own.
   * @param now milliseconds since the epoch
   * @returns how many documents were removed
   */
  async removeExpired(now: number): Promise<number> {
    const expiries = [...this.indexes.values()].flatMap(({ keys: [field], options: { expireAfterSeconds } }) =>
      field === undefined || expireAfterSeconds === undefined
        ? []
        : [{ parts: field.split('.'), before: now - expireAfterSeconds * 1000 }],
    );
    if (expiries.length === 0) return 0;
    return this.removeMatching(
      (row) =>
        expiries.some(({ parts, before }) =>
          valuesAt(row, parts)
            .flat()
            .some((value) => value instanceof Date && value.getTime() < before),
        ),
      {},
    );
  }

  async compact(): Promise<void> {
    await this.enqueue(() => this.file.compact());
  }

  /** Waits for pending writes. */
  async close(): Promise<void> {
    await this.enqueue(() => this.file.close());
  }

  private enqueue<Result>(write: () => Promise<Result>): Promise<Result> {
    const result = this.lastWrite.then(write);
    // The error belongs to the caller of this write, not to the caller of the next.
    this.lastWrite = result.catch(() => undefined);
    return result;
  }

  private findMatching(selector: CheckedSelector): Promise<readonly StoredDocument[]> {
    return this.file.select(this.lookupFor(selector), (row) => matchesSelector(row, selector));
  }

  private removeMatching(isMatch: (row: StoredDocument) => boolean, lookupFor: Lookup): Promise<number> {
    return this.enqueue(async () => {
      const rows = await this.file.select(lookupFor, isMatch);
      await this.file.remove(rows);
      return rows.length;
    });
  }

  /** A condition on one field by which NeDB narrows the search: `_id`, else an indexed field. */
  private lookupFor(selector: CheckedSelector): Lookup {
    for (const field of ['_id', ...[...this.indexes.values()].flatMap(({ keys }) => (keys.length === 1 ? keys : []))]) {
      const condition = Object.hasOwn(selector, field) ? selector[field] : undefined;
      if (condition === undefined || condition === null) continue;
      if (typeof condition !== 'object' || condition instanceof Date) return { [field]: condition };
      if ('$in' in condition && !condition.$in.includes(null)) return { [field]: { $in: condition.$in } };
    }
    return {};
  }

  private uniqueRules(): readonly UniqueRule[] {
    return [...this.indexes.values()]
      .filter(({ options }) => options.unique === true)
      .map(({ keys, options }) => ({ fields: keys, isSparse: options.sparse === true }));
  }

  private async checkUniqueKeys(row: StoredDocument): Promise<void> {
    const isConflict = conflictTest(row, this.uniqueRules());
    if (isConflict !== undefined && (await this.file.select({}, isConflict)).length > 0)
      throw new ConflictError(`A document with the same key exists in ${this.file.name}.`);
  }

  /** For a unique index that is created over existing documents. */
  private async checkStoredKeys(fields: readonly string[], options: IndexOptions): Promise<void> {
    if (options.unique !== true) return;
    const rules = [{ fields, isSparse: options.sparse === true }];
    for (const row of await this.file.select({}, () => true)) {
      const isConflict = conflictTest(row, rules);
      if (isConflict !== undefined && (await this.file.select({}, isConflict)).length > 0)
        throw new ConflictError(`Two documents in ${this.file.name} have the same key.`);
    }
  }
}

function isSameIndex(left: IndexOptions, right: IndexOptions): boolean {
  return (
    left.unique === right.unique && left.sparse === right.sparse && left.expireAfterSeconds === right.expireAfterSeconds
  );
}

/**
 * MongoDB treats a missing field and null as the same unique key, NeDB does not. So keys that contain null are checked
 * here, all others by NeDB.
 * @returns a test for stored documents that `document` cannot coexist with; undefined if NeDB's own check suffices
 */
function conflictTest(
  document: StoredDocument,
  rules: readonly UniqueRule[],
): ((other: StoredDocument) => boolean) | undefined {
  const keys = rules.flatMap((rule) => {
    const key = uniqueKeyOf(document, rule);
    return key?.includes(null) === true ? [{ rule, key }] : [];
  });
  if (keys.length === 0) return undefined;
  return (other) =>
    other._id !== document._id && keys.some(({ rule, key }) => isSameKey(uniqueKeyOf(other, rule), key));
}

/** Undefined for a document that a sparse index omits: one with none of its fields. */
function uniqueKeyOf(document: StoredDocument, rule: UniqueRule): readonly unknown[] | undefined {
  const values = rule.fields.map((field) => valuesAt(document, field.split('.'))[0]);
  return rule.isSparse && values.every((value) => value === undefined)
    ? undefined
    : values.map((value) => value ?? null);
}

function isSameKey(left: readonly unknown[] | undefined, right: readonly unknown[]): boolean {
  return left?.every((value, at) => isSameValue(value, right[at])) === true;
}

function isSameValue(left: unknown, right: unknown): boolean {
  return isScalar(right) && isSameScalar(left, right);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value !== 'object' || value instanceof Date;
}
