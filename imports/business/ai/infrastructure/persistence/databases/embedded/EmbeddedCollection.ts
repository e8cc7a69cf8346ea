/**
 * DocumentCollection over one NeDB file: writes one after another, so that what a selector found is what a modifier
 * changes.
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
import { valuesAt } from '../query/fieldPaths';
import { projected, readFindOptions, sorted } from '../query/findOptions';
import { matchesSelector } from '../query/matchDocument';
import { modifiedDocument } from '../query/modifyDocument';
import { readIndex } from '../query/parseIndex';
import type { IndexOptions } from '../query/parseIndex';
import { readModifier } from '../query/parseModifier';
import { readSelector } from '../query/parseSelector';
import type { CheckedSelector } from '../query/parseSelector';
import { refused } from '../../documents/refused';
import type { Lookup, NedbFile } from './NedbFile';
import { clashWith } from '../../UniqueRules';
import type { UniqueRule } from '../../UniqueRules';

export class EmbeddedCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly file: NedbFile;
  private readonly indexes = new Map<string, { readonly keys: readonly string[]; readonly options: IndexOptions }>();
  private lastWrite: Promise<unknown> = Promise.resolve();

  constructor(file: NedbFile) {
    this.file = file;
  }

  async insert(document: T): Promise<void> {
    const row = copyDocument(document);
    await this.inTurn(async () => {
      await this.refuseClash(row);
      await this.file.insert(row);
    });
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    const checked = readSelector(selector);
    const { sort, limit, fields } = readFindOptions(options);
    const found = sorted(await this.matching(checked), sort).slice(0, limit);
    // The boundary to the file: what is in it was put there as T.
    return found.map((row) => copyDocument({ _id: row._id, ...projected(row, fields) }) as T);
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const checked = readSelector(selector);
    const change = readModifier(modifier);
    return this.inTurn(async () => {
      const found = await this.matching(checked);
      const rows = options.multi === true ? found : found.slice(0, 1);
      for (const row of rows) {
        const next = modifiedDocument(row, change);
        await this.refuseClash(next);
        await this.file.replace(next);
      }
      return rows.length;
    });
  }

  async remove(selector: Selector): Promise<number> {
    const checked = readSelector(selector);
    return this.removeAll((row) => matchesSelector(row, checked), this.lookup(checked));
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = readIndex(keys, options);
    // NeDB has one index for a set of fields, whatever their order and direction.
    const fields = Object.keys(index.keys).toSorted();
    await this.inTurn(async () => {
      const name = fields.join();
      const known = this.indexes.get(name);
      if (known !== undefined) {
        if (isSameIndex(known.options, index.options)) return;
        throw refused('index', `on ${name} of ${this.file.name} is there with other options`);
      }
      await this.refuseTwins(fields, index.options);
      await this.file.buildIndex(fields, index.options);
      this.indexes.set(name, { keys: fields, options: index.options });
    });
  }

  /**
   * Removes what has expired; the database calls it about once a minute, as MongoDB does for itself.
   * @param now milliseconds since 1970
   * @returns how many documents are gone
   */
  async removeExpired(now: number): Promise<number> {
    const expiries = [...this.indexes.values()].flatMap(({ keys: [field], options: { expireAfterSeconds } }) =>
      field === undefined || expireAfterSeconds === undefined
        ? []
        : [{ parts: field.split('.'), before: now - expireAfterSeconds * 1000 }],
    );
    if (expiries.length === 0) return 0;
    return this.removeAll(
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
    await this.inTurn(() => this.file.compact());
  }

  /** Waits for the writes that were asked for. */
  async close(): Promise<void> {
    await this.inTurn(() => this.file.close());
  }

  private inTurn<Result>(write: () => Promise<Result>): Promise<Result> {
    const result = this.lastWrite.then(write);
    // The error belongs to the caller of this write, not of the next.
    this.lastWrite = result.catch(() => undefined);
    return result;
  }

  private matching(selector: CheckedSelector): Promise<readonly StoredDocument[]> {
    return this.file.select(this.lookup(selector), (row) => matchesSelector(row, selector));
  }

  private removeAll(isMeant: (row: StoredDocument) => boolean, lookup: Lookup): Promise<number> {
    return this.inTurn(async () => {
      const rows = await this.file.select(lookup, isMeant);
      await this.file.remove(rows);
      return rows.length;
    });
  }

  /** One field that narrows the search: `_id`, else an indexed one. */
  private lookup(selector: CheckedSelector): Lookup {
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

  private async refuseClash(row: StoredDocument): Promise<void> {
    const clashes = clashWith(row, this.uniqueRules());
    if (clashes !== undefined && (await this.file.select({}, clashes)).length > 0)
      throw new ConflictError(`a key is taken in ${this.file.name}`);
  }

  /** A unique index over documents that are there already. */
  private async refuseTwins(fields: readonly string[], options: IndexOptions): Promise<void> {
    if (options.unique !== true) return;
    const rules = [{ fields, isSparse: options.sparse === true }];
    for (const row of await this.file.select({}, () => true)) {
      const clashes = clashWith(row, rules);
      if (clashes !== undefined && (await this.file.select({}, clashes)).length > 0)
        throw new ConflictError(`documents in ${this.file.name} have the same key`);
    }
  }
}

function isSameIndex(left: IndexOptions, right: IndexOptions): boolean {
  return (
    left.unique === right.unique && left.sparse === right.sparse && left.expireAfterSeconds === right.expireAfterSeconds
  );
}
