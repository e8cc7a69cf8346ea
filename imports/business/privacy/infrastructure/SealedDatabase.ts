/** A database that stores users' content sealed. */
import { consoleLogger } from '../../../log/consoleLogger';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import { StoreError } from '../../../database/databaseErrors';
import type { DocumentDatabase, StoreOutage } from '../../../database/DocumentDatabase';
import { RUNS } from '../../ai/infrastructure/persistence/runs/runDocuments';
import type { ContentKeys } from './ContentKeys';
import type { ContentRule, StoredCollection } from '../../../database/StoredCollection';
import { DocumentSeal } from './DocumentSeal';
import { SealedCollection } from './SealedCollection';

export interface SealedDatabaseOptions {
  readonly collections: readonly StoredCollection[];
  readonly keys: ContentKeys;
  /** False opens what was sealed earlier, and stores in plain text. */
  readonly isSealing: boolean;
  /** Told once of each key that content needs and that was deleted. Default: the console. */
  readonly logger?: Pick<Logger, 'warn'>;
}

/** Owners of runs that are kept in memory. A run's owner never changes. */
const MAX_OWNERS = 10_000;
const MAX_REPORTED = 1_000;

export class SealedDatabase implements DocumentDatabase {
  readonly isExclusive: boolean;
  readonly sealsContent: boolean;
  private readonly inner: DocumentDatabase;
  private readonly options: SealedDatabaseOptions;
  private readonly rules: ReadonlyMap<string, ContentRule | null>;
  private readonly owners = new Map<string, string>();
  private readonly reported = new Set<string>();

  constructor(inner: DocumentDatabase, options: SealedDatabaseOptions) {
    this.inner = inner;
    this.options = options;
    this.rules = new Map(options.collections.map(({ name, content }) => [name, content]));
    this.isExclusive = inner.isExclusive;
    this.sealsContent = options.isSealing;
  }

  get outage(): StoreOutage | undefined {
    return this.inner.outage;
  }

  get lost(): DocumentDatabase['lost'] {
    return this.inner.lost;
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    const { keys, isSealing } = this.options;
    const rule = this.ruleOf(name);
    const inner = this.inner.collection<T>(name);
    if (rule === null) return inner;
    const ownerOfRun = (executionId: string): Promise<string | undefined> => this.ownerOfRun(executionId);
    return new SealedCollection(inner, { rule, seal: this.sealOf(name, rule), keys, ownerOfRun, isSealing });
  }

  /**
   * Opens a document, or some fields of one, that was read from the database itself, as observers do.
   * @returns undefined if it is unreadable because its key was deleted
   * @throws StoreError if content was altered, or its key does not open
   */
  readonly open = async <T extends StoredDocument>(name: string, document: T): Promise<T | undefined> => {
    const rule = this.ruleOf(name);
    if (rule === null) return document;
    const [opened] = await this.sealOf(name, rule).open([document]);
    return opened;
  };

  async onChange(names: readonly string[], callback: (name: string) => void): Promise<(() => void) | undefined> {
    return this.inner.onChange?.(names, callback);
  }

  async checkRoom(): Promise<void> {
    await this.inner.checkRoom?.();
  }

  async purge(): Promise<void> {
    await this.inner.purge?.();
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private ruleOf(name: string): ContentRule | null {
    const rule = this.rules.get(name);
    if (rule === undefined)
      throw new StoreError(`The collection "${name}" is not declared. Declare it with its feature's collections.`);
    return rule;
  }

  private sealOf(name: string, rule: ContentRule): DocumentSeal {
    return new DocumentSeal(name, rule, {
      keys: this.options.keys,
      onUnreadable: (collection, keyId) => this.report(collection, keyId),
    });
  }

  private async ownerOfRun(executionId: string): Promise<string | undefined> {
    const known = this.owners.get(executionId);
    if (known !== undefined) return known;
    const runs = this.inner.collection<StoredDocument & { readonly userId: string }>(RUNS);
    const run = await runs.findOne({ _id: executionId }, { fields: { userId: 1 } });
    if (run === undefined) return undefined;
    this.owners.set(executionId, run.userId);
    for (const oldest of this.owners.keys()) {
      if (this.owners.size <= MAX_OWNERS) break;
      this.owners.delete(oldest);
    }
    return run.userId;
  }

  private report(collection: string, keyId: string): void {
    if (this.reported.has(keyId) || this.reported.size >= MAX_REPORTED) return;
    this.reported.add(keyId);
    (this.options.logger ?? consoleLogger).warn(
      `Documents of ${collection} are left out, because the content key ${keyId} that they are sealed with was deleted.`,
    );
  }
}
