/** Meteor's accounts: authenticates HTTP requests by login token, and looks up users by id for the access rules. */
import type { IncomingMessage } from 'node:http';
import type { ApiPrincipal } from '../../api/auth/ApiPrincipal';
import { presentedToken } from '../../api/auth/presentedToken';
import { escapePattern } from '../../database/query/toMongoFilter';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { User } from '../../business/ai/domain/types/Actor';
import { installedPackage } from './installedPackage';
import type { MeteorAccounts, MeteorApp, StoredUser } from './MeteorPackages';

/** Looks up a user's roles. */
export type FindRoles = (userId: string) => Promise<readonly string[]> | readonly string[];

export interface MeteorUsersOptions {
  readonly Meteor: Pick<MeteorApp, 'users'>;
  readonly Accounts: MeteorAccounts;
  /** User ids and e-mail addresses; an address counts only if it is verified. */
  readonly admins: readonly string[];
  /** Users with one of these roles are admins, too. */
  readonly adminRoles?: readonly string[];
  /** Default: the global roles of the app's roles package; without one, `roles` of the user document. */
  readonly findRoles?: FindRoles | undefined;
  /** Performs a read of the app's database, unless it cannot be reached. Default: performs every read. */
  readonly whileReachable?: WhileReachable;
}

/** @throws StoreUnavailableError during an outage */
export type WhileReachable = <Result>(read: () => Promise<Result>) => Promise<Result>;

export class MeteorUsers {
  private readonly Meteor: Pick<MeteorApp, 'users'>;
  private readonly Accounts: LoginTokens;
  private readonly admins: ReadonlySet<string>;
  private readonly adminRoles: ReadonlySet<string>;
  private readonly findRoles: FindRoles | undefined;
  private readonly whileReachable: WhileReachable;

  constructor(options: MeteorUsersOptions) {
    const { Meteor, Accounts, admins, adminRoles = [], findRoles = findPackageRoles() } = options;
    this.whileReachable = options.whileReachable ?? ((read) => read());
    this.Meteor = Meteor;
    this.Accounts = Accounts as MeteorAccounts & LoginTokens;
    this.admins = new Set(admins.map(comparable));
    this.adminRoles = new Set(adminRoles);
    this.findRoles = findRoles;
  }

  readonly findUser = async (userId: string): Promise<User | undefined> => {
    if (userId === '') return undefined;
    const fields = { username: 1, emails: 1, 'profile.name': 1, roles: 1 } as const;
    const user = await this.whileReachable(() => this.Meteor.users.findOneAsync(userId, { fields }));
    return isMissing(user) ? undefined : this.toUser(user);
  };

  /** One query for all of them. An address that was not verified is called so. */
  readonly findNames = async (userIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const fields = { username: 1, emails: 1, 'profile.name': 1 } as const;
    const users = await this.whileReachable(() =>
      this.Meteor.users.find({ _id: { $in: [...userIds] } }, { fields }).fetchAsync(),
    );
    return new Map(
      users.flatMap((user): (readonly [string, string])[] => {
        const { _id, emails: [email] = [] } = user;
        const name = nameOf(user) ?? (email && `${email.address} (not verified)`);
        return name === undefined ? [] : [[_id, name]];
      }),
    );
  };

  /** Needs no other indexes than those of accounts-base. Names of profiles have none. */
  readonly searchUsers = async (start: string): Promise<readonly string[]> => {
    const named = ['username', 'emails.address'].flatMap((field) => startsWith(field, start));
    const options = { fields: { _id: 1 }, limit: MAX_FOUND } as const;
    const users = await this.whileReachable(() => this.Meteor.users.find({ $or: named }, options).fetchAsync());
    return users.map(({ _id }) => _id);
  };

  /** Accepts a Meteor login token, which `Accounts._storedLoginToken()` returns on a client, wherever an API token. */
  readonly authenticate = async (request: IncomingMessage): Promise<ApiPrincipal | undefined> => {
    const token = presentedToken(request);
    if (token === undefined) return undefined;
    const express = installedPackage('accounts-express') as AccountsExpress | undefined;
    const user = await (express === undefined ? this.findByToken(token) : this.findByMiddleware(express, token));
    if (user === undefined) return undefined;
    return omitUndefined({ userId: user.userId, scopes: user.isAdmin === true ? (['admin'] as const) : undefined });
  };

  private async findByMiddleware(express: AccountsExpress, token: string): Promise<User | undefined> {
    // It is asked about a request that has nothing but the token: it would accept a cookie, too.
    const request: MiddlewareRequest = { headers: { authorization: `Bearer ${token}` } };
    await this.whileReachable(
      () =>
        new Promise<void>((resolve, reject) => {
          const next = (error?: Error): void => (error === undefined ? resolve() : reject(error));
          void express.createAuthMiddleware()(request, {}, next);
        }),
    );
    return this.findUser(request.userId ?? '');
  }

  /** Before Meteor 3.5, only names with an underscore tell of tokens. */
  private async findByToken(token: string): Promise<User | undefined> {
    const hashedToken = this.Accounts._hashLoginToken(token);
    const user = await this.whileReachable(() =>
      this.Meteor.users.findOneAsync(
        { 'services.resume.loginTokens.hashedToken': hashedToken },
        { fields: { 'services.resume.loginTokens': 1, emails: 1, roles: 1 } },
      ),
    );
    const login = (user?.services as LoginServices | undefined)?.resume?.loginTokens?.find(
      (one) => one.hashedToken === hashedToken,
    );
    if (isMissing(user) || login === undefined || this.Accounts._tokenExpiration(login.when) < new Date())
      return undefined;
    return this.toUser(user);
  }

  private async toUser(user: StoredUser): Promise<User> {
    const { _id, roles: ownRoles } = user;
    const verified = verifiedOf(user);
    const found: unknown = this.findRoles === undefined ? (ownRoles ?? []) : await this.findRoles(_id);
    // Anything but a list of names grants nothing.
    const roles = isTextList(found) ? found : [];
    return omitUndefined({
      userId: _id,
      name: nameOf(user),
      isAdmin:
        [_id, ...verified].some((name) => this.admins.has(name)) || roles.some((role) => this.adminRoles.has(role)),
      roles,
    });
  }
}

/** Users that a search finds. */
const MAX_FOUND = 50;
/** Characters whose case varies, as in `Accounts`, which looks up user names and addresses in this way. */
const VARYING = 4;

/**
 * Matches texts that start like this in upper or lower case. An index serves regular expressions that are anchored and
 * mind the case: https://www.mongodb.com/docs/manual/reference/operator/query/regex/#index-use
 */
function startsWith(field: string, start: string): readonly object[] {
  const insensitive = { [field]: { $regex: `^${escapePattern(start)}`, $options: 'i' } };
  return casesOf(Array.from(start).slice(0, VARYING)).map((first) => ({
    $and: [{ [field]: { $regex: `^${escapePattern(first)}` } }, insensitive],
  }));
}

function casesOf(letters: readonly string[]): readonly string[] {
  return letters.reduce<readonly string[]>(
    (starts, letter) =>
      [...new Set([letter.toLowerCase(), letter.toUpperCase()])].flatMap((each) => starts.map((one) => one + each)),
    [''],
  );
}

function verifiedOf({ emails = [] }: StoredUser): readonly string[] {
  return emails.filter((email) => email.verified).map((email) => comparable(email.address));
}

/** Users write their profile themselves, so the id tells apart two who chose the same name. */
function nameOf(user: StoredUser): string | undefined {
  const { _id, username, profile } = user;
  return (
    username ?? verifiedOf(user)[0] ?? (typeof profile?.name === 'string' ? `${profile.name} (${_id})` : undefined)
  );
}

/** https://docs.meteor.com/packages/accounts-express, since Meteor 3.5 */
interface AccountsExpress {
  createAuthMiddleware(): (request: MiddlewareRequest, response: object, next: (error?: Error) => void) => unknown;
}

interface MiddlewareRequest {
  readonly headers: { readonly authorization: string };
  /** Set by the middleware. */
  readonly userId?: string | null;
}

/** `_tokenExpiration` is missing from the published types. */
interface LoginTokens {
  _hashLoginToken(token: string): string;
  _tokenExpiration(when: Date): Date;
}

/** The part of `services` that accounts-base writes; its own types leave it open. */
interface LoginServices {
  readonly resume?: { readonly loginTokens?: readonly { readonly hashedToken: string; readonly when: Date }[] };
}

/** `roles`, which Meteor contains from 3.1 on, or its predecessor `alanning:roles` 4, which have the same API. */
function findPackageRoles(): FindRoles | undefined {
  const installed = installedPackage('roles') ?? installedPackage('alanning:roles');
  const { Roles } = (installed ?? {}) as RolesPackage;
  return Roles === undefined ? undefined : (userId) => Roles.getRolesForUserAsync(userId);
}

interface RolesPackage {
  readonly Roles?: {
    /** Without a scope: global roles, with those that they inherit. */
    getRolesForUserAsync(userId: string): Promise<readonly string[]>;
  };
}

function isMissing(user: StoredUser | null | undefined): user is null | undefined {
  return (user ?? undefined) === undefined;
}

/** E-mail addresses are compared without case, as accounts-password does; ids are case-sensitive. */
function comparable(name: string): string {
  return name.includes('@') ? name.toLowerCase() : name;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
