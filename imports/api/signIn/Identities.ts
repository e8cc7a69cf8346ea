/**
 * The people who have signed in at the OpenID provider, as it described them at the last time. Whether they may be
 * here, and with which rights, is decided whenever they do something, by the rules that hold then.
 */
import type { DocumentCollection, StoredDocument } from '../../database/DocumentCollection';
import type { User } from '../../business/ai/domain/types/Actor';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { decideSignIn } from './signInRules';
import type { Identity, SignInRules } from './signInRules';

export const IDENTITIES = 'ai_identities';

/** An identity stored under the id of its user. */
export interface StoredIdentity extends StoredDocument, Identity {
  /** Milliseconds since the epoch. */
  readonly signedInAt: number;
  /** A date, as expiring indexes require. */
  readonly expiresAt: Date;
}

/** Users that a search finds. */
const MAX_FOUND = 50;

/** Longer than sessions last, since runs may go on after them. */
const KEPT_MS = 90 * 86_400_000;

export class IdentityStore {
  private readonly identities: DocumentCollection<StoredIdentity>;

  constructor(identities: DocumentCollection<StoredIdentity>) {
    this.identities = identities;
  }

  /** Creates the collection's index. Idempotent. */
  async ready(): Promise<void> {
    await this.identities.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
    await this.identities.ensureIndex({ email: 1 });
  }

  async put(userId: string, { email, ...identity }: Identity, now: number): Promise<void> {
    const $set = { ...identity, signedInAt: now, expiresAt: new Date(now + KEPT_MS) };
    // An address of the last time does not stay.
    const modifier = email === undefined ? { $set, $unset: { email: true } as const } : { $set: { ...$set, email } };
    await this.identities.upsertMany([{ _id: userId, selector: {}, modifier }]);
  }

  find(userId: string, now: number): Promise<StoredIdentity | undefined> {
    return this.identities.findOne({ _id: userId, expiresAt: { $gt: new Date(now) } });
  }

  findAll(userIds: readonly string[], now: number): Promise<readonly StoredIdentity[]> {
    return this.identities.find({ _id: { $in: userIds }, expiresAt: { $gt: new Date(now) } });
  }

  startingWith(email: string, limit: number, now: number): Promise<readonly StoredIdentity[]> {
    return this.identities.find({ email: { $prefix: email }, expiresAt: { $gt: new Date(now) } }, { limit });
  }

  /** @returns how many there were */
  removeOfUser(userId: string): Promise<number> {
    return this.identities.remove({ _id: userId });
  }
}

export interface IdentitiesOptions {
  readonly store: IdentityStore;
  readonly issuer: string;
  readonly rules: SignInRules;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export class Identities {
  private readonly options: IdentitiesOptions;
  private readonly now: () => number;

  constructor(options: IdentitiesOptions) {
    this.options = options;
    this.now = options.now ?? Date.now;
  }

  /** Remembers the person of a sign-in. @returns undefined for somebody whom no rule admits */
  async admit(identity: Identity): Promise<ApiPrincipal | undefined> {
    const { store, rules } = this.options;
    const user = decideSignIn(identity, rules);
    if (user === undefined) return undefined;
    await store.put(user.userId, identity, this.now());
    return principalOf(user);
  }

  /** What the user of a session may do now; undefined for somebody whom the rules no longer admit. */
  async verify(userId: string): Promise<ApiPrincipal | undefined> {
    const user = await this.findUser(userId);
    return user === undefined ? undefined : principalOf(user);
  }

  readonly findUser = async (userId: string): Promise<User | undefined> => {
    const stored = await this.options.store.find(userId, this.now());
    return stored && this.userOf(stored);
  };

  readonly findNames = async (userIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const stored = await this.options.store.findAll(userIds, this.now());
    return new Map(
      stored.flatMap((identity) => {
        const { userId = '', name } = this.userOf(identity) ?? {};
        return name === undefined ? [] : [[userId, name] as const];
      }),
    );
  };

  readonly searchUsers = async (start: string): Promise<readonly string[]> => {
    const found = await this.options.store.startingWith(start.toLowerCase(), MAX_FOUND, this.now());
    return found.flatMap((identity) => this.userOf(identity)?.userId ?? []);
  };

  private userOf(stored: StoredIdentity): User | undefined {
    const { issuer, rules } = this.options;
    if (stored.issuer !== issuer) return undefined;
    const user = decideSignIn(stored, rules);
    return user?.userId === stored._id ? user : undefined;
  }
}

/** Users who are no admins have the rights of people who logged in. */
function principalOf({ userId, isAdmin }: User): ApiPrincipal {
  return isAdmin === true ? { userId, scopes: ['admin'] } : { userId };
}
