/** DocumentCollection that stores its documents' content sealed, each with the key of the user whose it is. */
import type {
  AggregateRow,
  Aggregation,
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
  Upsert,
} from '../../../database/DocumentCollection';
import { StoreError } from '../../../database/databaseErrors';
import type { ContentKey, ContentKeys } from './ContentKeys';
import type { ContentRule } from '../../../database/StoredCollection';
import type { DocumentSeal } from './DocumentSeal';

export interface SealedCollectionPorts {
  readonly rule: ContentRule;
  readonly seal: DocumentSeal;
  readonly keys: Pick<ContentKeys, 'ofUser'>;
  /** Undefined for a run that does not exist. */
  readonly ownerOfRun: (executionId: string) => Promise<string | undefined>;
  /** Whether content is sealed before it is stored, or only opened. */
  readonly isSealing: boolean;
}

/** Owns what belongs to no user: shared prompts, states of tasks, and what arrives for a run that is gone. */
const HOST = '';

export class SealedCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly inner: DocumentCollection<T>;
  private readonly ports: SealedCollectionPorts;

  constructor(inner: DocumentCollection<T>, ports: SealedCollectionPorts) {
    this.inner = inner;
    this.ports = ports;
  }

  async insert(document: T): Promise<void> {
    await this.inner.insert(await this.sealed(document));
  }

  async insertMany(documents: readonly T[]): Promise<void> {
    const sealed: T[] = [];
    for (const document of documents) sealed.push(await this.sealed(document));
    await this.inner.insertMany(sealed);
  }

  async findOne(selector: Selector, options?: Omit<FindOptions, 'limit'>): Promise<T | undefined> {
    this.checkSelector(selector);
    const found = await this.inner.findOne(selector, options);
    if (found === undefined) return undefined;
    const [opened] = await this.ports.seal.open([found]);
    return opened;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    this.checkSelector(selector);
    this.checkPaths(Object.keys(options.sort ?? {}));
    return this.ports.seal.open(await this.inner.find(selector, options));
  }

  async count(selector: Selector): Promise<number> {
    this.checkSelector(selector);
    return this.inner.count(selector);
  }

  async bytes(selector: Selector, texts: readonly string[]): Promise<number> {
    this.checkSelector(selector);
    return this.inner.bytes(selector, texts);
  }

  async aggregate(selector: Selector, aggregation: Aggregation): Promise<readonly AggregateRow[]> {
    this.checkSelector(selector);
    const { by = {}, unwind } = aggregation;
    const keys = Object.values(by).map((key) => (typeof key === 'string' ? key : key.path));
    this.checkPaths([...keys, ...(unwind === undefined ? [] : [unwind])]);
    return this.inner.aggregate(selector, aggregation);
  }

  async update(selector: Selector, modifier: Modifier, options?: { readonly multi?: boolean }): Promise<number> {
    this.checkSelector(selector);
    const { $set = {} } = modifier;
    if (!this.ports.isSealing || !this.hasContent($set)) return this.inner.update(selector, modifier, options);
    const { _id } = selector;
    if (typeof _id !== 'string') throw new StoreError('Sealed content can be changed only by the id of its document.');
    const key = await this.keyOf(_id, { ...selector, ...$set });
    // No document has this id.
    if (key === undefined) return 0;
    return this.inner.update(selector, { ...modifier, $set: this.ports.seal.sealFields(_id, $set, key) }, options);
  }

  async upsertMany(changes: readonly Upsert[]): Promise<{ readonly written: number; readonly inserted: number }> {
    if (!this.ports.isSealing) return this.inner.upsertMany(changes);
    const sealed: Upsert[] = [];
    for (const change of changes) {
      const { _id, selector, modifier } = change;
      const key = (await this.keyOf(_id, { ...selector, ...modifier.$set })) ?? (await this.ports.keys.ofUser(HOST));
      const $set = this.ports.seal.sealFields(_id, modifier.$set, key);
      sealed.push({ ...change, modifier: { ...modifier, $set } });
    }
    return this.inner.upsertMany(sealed);
  }

  async remove(selector: Selector): Promise<number> {
    this.checkSelector(selector);
    return this.inner.remove(selector);
  }

  async ensureIndex(...index: Parameters<DocumentCollection<T>['ensureIndex']>): Promise<void> {
    this.checkPaths(Object.keys(index[0]));
    await this.inner.ensureIndex(...index);
  }

  private async sealed(document: T): Promise<T> {
    if (!this.ports.isSealing) return document;
    const owner = await this.ownerIn(document as Readonly<Record<string, unknown>>);
    return this.ports.seal.sealDocument(document, await this.ports.keys.ofUser(owner ?? HOST));
  }

  /** @param fields what is known of the document */
  private async keyOf(_id: string, fields: Readonly<Record<string, unknown>>): Promise<ContentKey | undefined> {
    const owner = (await this.ownerIn(fields)) ?? (await this.storedOwner(_id));
    return owner === undefined ? undefined : this.ports.keys.ofUser(owner);
  }

  private async ownerIn(fields: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    const { owner } = this.ports.rule;
    if (owner === 'host') return HOST;
    const value = fields['field' in owner ? owner.field : owner.run];
    if (typeof value !== 'string') return undefined;
    return 'field' in owner ? value : ((await this.ports.ownerOfRun(value)) ?? HOST);
  }

  private async storedOwner(_id: string): Promise<string | undefined> {
    const { owner } = this.ports.rule;
    if (owner === 'host') return HOST;
    const fields = { ['field' in owner ? owner.field : owner.run]: 1 } as const;
    const found = await this.inner.findOne({ _id }, { fields });
    return found === undefined ? undefined : this.ownerIn(found as Readonly<Record<string, unknown>>);
  }

  private hasContent(fields: Readonly<Record<string, unknown>>): boolean {
    return Object.keys(fields).some((path) => this.ports.seal.touches(path));
  }

  /** A condition on content would match nothing. */
  private checkSelector(selector: Selector): void {
    for (const [name, condition] of Object.entries(selector))
      if (name === '$or' || name === '$and')
        for (const each of condition as readonly Selector[]) this.checkSelector(each);
      else this.checkPaths([name]);
  }

  private checkPaths(paths: readonly string[]): void {
    const path = paths.find((each) => this.ports.seal.touches(each));
    if (path !== undefined)
      throw new StoreError(`"${path}" is sealed content, so documents cannot be selected, sorted or grouped by it.`);
  }
}
