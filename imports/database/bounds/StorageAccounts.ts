/**
 * Keeps what users' requests store below a bound: runs, chats, memories and whatever else stays until it is deleted or
 * expires. What a user has is counted in the database, and what is admitted since is added, so that requests are not
 * counted for. A count serves each process for a minute, in which answers and results of tools are stored as well.
 * Where the sum reaches the bound, it serves for some seconds, or until the user removes something: refusals are not
 * counted for, either.
 */
import { StorageFullError } from '../../business/ai/domain/errors/LLMErrors';
import type { StoredOfUser, UserStorage } from '../../business/ai/domain/interfaces/UserStorage';
import type { DocumentDatabase } from '../DocumentDatabase';
import type { Selector } from '../DocumentCollection';
import { ownedBy } from '../StoredCollection';
import type { PartOwnership, StoredCollection } from '../StoredCollection';

/** Milliseconds after which is counted again. */
const COUNT_LIFETIME = 60_000;
/** Milliseconds after which is counted again before a request is refused. */
const REFUSAL_LIFETIME = 10_000;
const MAX_ACCOUNTS = 10_000;
/** Bytes that a document takes beside what a request says, with its ids, times and counters: about as a run does. */
const BYTES_OF_DOCUMENT = 1_500;
/** Sealed content is base64. */
const SEALED = 4 / 3;
/** Documents whose parts are counted with one query. */
const WHOLES_TOGETHER = 1_000;

interface Account {
  readonly counted: StoredOfUser;
  /** Milliseconds since the epoch. */
  readonly countedAt: number;
  /** It was counted because a request did not fit. */
  readonly isForRefusal: boolean;
  /** Admitted since, and what was being stored then. */
  added: number;
}

interface Counted {
  readonly name: string;
  readonly kind: string;
  readonly owner: PartOwnership | { readonly selector: (userId: string) => Selector };
  readonly texts: readonly string[];
}

export class StorageAccounts implements UserStorage {
  private readonly database: Pick<DocumentDatabase, 'collection' | 'sealsContent'>;
  private readonly collections: readonly Counted[];
  private readonly limit: number;
  /** Accounts of the users who have sent requests most recently. */
  private readonly accounts = new Map<string, Account>();
  private readonly counts = new Map<string, Promise<Account>>();
  /** Bytes of the requests in progress, by user. */
  private readonly pending = new Map<string, number>();

  /** @param limit bytes of one user */
  constructor(
    database: Pick<DocumentDatabase, 'collection' | 'sealsContent'>,
    collections: readonly StoredCollection[],
    limit: number,
  ) {
    this.database = database;
    this.collections = collections.flatMap(countedOf);
    this.limit = limit;
  }

  async admit(userId: string, contentBytes: number): Promise<() => void> {
    const bytes = Math.ceil(contentBytes * (this.database.sealsContent === true ? SEALED : 1)) + BYTES_OF_DOCUMENT;
    let account = await this.accountOf(userId, false);
    if (account.counted.bytes + account.added + bytes > this.limit) account = await this.accountOf(userId, true);
    if (account.counted.bytes + account.added + bytes > this.limit) throw refusal(account.counted, bytes);
    account.added += bytes;
    this.pending.set(userId, (this.pending.get(userId) ?? 0) + bytes);
    let isPending = true;
    return () => {
      if (!isPending) return;
      isPending = false;
      const left = (this.pending.get(userId) ?? 0) - bytes;
      if (left > 0) this.pending.set(userId, left);
      else this.pending.delete(userId);
    };
  }

  released(userId: string): void {
    // Both may be of before the removal.
    this.accounts.delete(userId);
    this.counts.delete(userId);
  }

  async usageOf(userId: string): Promise<StoredOfUser> {
    const kinds = new Map<string, number>();
    for (const collection of this.collections) {
      const bytes = await this.bytesOf(collection, userId);
      if (bytes > 0) kinds.set(collection.kind, (kinds.get(collection.kind) ?? 0) + bytes);
    }
    const bytes = [...kinds.values()].reduce((sum, each) => sum + each, 0);
    const largestFirst = [...kinds].toSorted(([, one], [, other]) => other - one);
    return { bytes, limit: this.limit, kinds: Object.fromEntries(largestFirst) };
  }

  private async bytesOf({ name, owner, texts }: Counted, userId: string): Promise<number> {
    const documents = this.database.collection(name);
    if ('selector' in owner) return documents.bytes(owner.selector(userId), texts);
    const { part, of } = owner;
    const wholes = await this.database.collection(of.collection).find(of.selector(userId), { fields: { _id: 1 } });
    let bytes = 0;
    for (let from = 0; from < wholes.length; from += WHOLES_TOGETHER) {
      const ids = wholes.slice(from, from + WHOLES_TOGETHER).map(({ _id }) => _id);
      bytes += await documents.bytes({ [part]: { $in: ids } }, texts);
    }
    return bytes;
  }

  private accountOf(userId: string, isForRefusal: boolean): Account | Promise<Account> {
    const known = this.accounts.get(userId);
    const lifetime = isForRefusal ? REFUSAL_LIFETIME : COUNT_LIFETIME;
    const isOfUse = known !== undefined && (known.isForRefusal || !isForRefusal);
    if (isOfUse && Date.now() - known.countedAt < lifetime) return known;
    const running = this.counts.get(userId);
    if (running !== undefined) return running;
    const counting: Promise<Account> = this.count(userId, isForRefusal).finally(() => {
      if (this.counts.get(userId) === counting) this.counts.delete(userId);
    });
    this.counts.set(userId, counting);
    return counting;
  }

  private async count(userId: string, isForRefusal: boolean): Promise<Account> {
    const countedAt = Date.now();
    // What is being stored may be counted or not.
    const added = this.pending.get(userId) ?? 0;
    const before = this.accounts.get(userId)?.added ?? 0;
    const counted = await this.usageOf(userId);
    const since = (this.accounts.get(userId)?.added ?? 0) - before;
    const account = { counted, countedAt, isForRefusal, added: added + since };
    this.accounts.delete(userId);
    this.accounts.set(userId, account);
    for (const oldest of this.accounts.keys()) {
      if (this.accounts.size <= MAX_ACCOUNTS) break;
      this.accounts.delete(oldest);
    }
    return account;
  }
}

function countedOf({ name, bound, content, ofUsers: [documents] }: StoredCollection): readonly Counted[] {
  if (bound !== 'account' || documents === undefined) return [];
  const { kind, owner, json = [] } = documents;
  const texts = [...new Set([...(content?.content ?? []), ...json])];
  // Parts of other documents may have the owner's id themselves.
  if (content !== null && typeof content.owner === 'object' && 'field' in content.owner)
    return [{ name, kind, texts, owner: ownedBy(content.owner.field) }];
  if ('matches' in owner)
    throw new TypeError(`The documents of ${name} cannot be counted: they are found by their ids.`);
  return [{ name, kind, texts, owner }];
}

const MEGABYTE = 1_024 ** 2;

function refusal({ bytes, limit, kinds }: StoredOfUser, added: number): StorageFullError {
  const list = Object.entries(kinds)
    .slice(0, 3)
    .map(([kind, size]) => `${kind} ${inMegabytes(size)}`)
    .join(', ');
  return new StorageFullError(
    `What you have stored takes ${inMegabytes(bytes)} of ${inMegabytes(limit)}, and this request may add ` +
      `${inMegabytes(added)}${list === '' ? '' : `. You have: ${list}`}. Delete what you need no longer, or have ` +
      'STORAGE_MB_PER_USER raised.',
  );
}

function inMegabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MB`;
}
