/** Meteor's accounts: authenticates HTTP requests by login token, and looks up users by id for the access rules. */
import type { IncomingMessage } from 'node:http';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import type { ApiPrincipal } from '../../api/auth/ApiPrincipal';
import { presentedToken } from '../../api/auth/presentedToken';
import type { User } from '../../business/ai/domain/types/Actor';

/** Looks up a user's roles. */
export type FindRoles = (userId: string) => Promise<readonly string[]> | readonly string[];

export interface MeteorUsersOptions {
  /** User ids and e-mail addresses; an address counts only if it is verified. */
  readonly admins: readonly string[];
  /** Users with one of these roles are admins, too. */
  readonly adminRoles?: readonly string[];
  /** Default: the global roles of the app's roles package; without one, `roles` of the user document. */
  readonly findRoles?: FindRoles;
}

export class MeteorUsers {
  private readonly admins: ReadonlySet<string>;
  private readonly adminRoles: ReadonlySet<string>;
  private readonly findRoles: FindRoles | undefined;

  constructor({ admins, adminRoles = [], findRoles = findPackageRoles() }: MeteorUsersOptions) {
    this.admins = new Set(admins.map(comparable));
    this.adminRoles = new Set(adminRoles);
    this.findRoles = findRoles;
  }

  readonly findUser = async (userId: string): Promise<User | undefined> => {
    if (userId === '') return undefined;
    const user = await Meteor.users.findOneAsync(userId, {
      fields: { username: 1, emails: 1, 'profile.name': 1, roles: 1 },
    });
    return user === undefined ? undefined : this.toUser(user);
  };

  /** Accepts a Meteor login token, which `Accounts._storedLoginToken()` returns on a client, wherever an API token. */
  readonly authenticate = async (request: IncomingMessage): Promise<ApiPrincipal | undefined> => {
    const token = presentedToken(request);
    if (token === undefined) return undefined;
    const hashedToken = Accounts._hashLoginToken(token);
    const user = await Meteor.users.findOneAsync(
      { 'services.resume.loginTokens.hashedToken': hashedToken },
      { fields: { 'services.resume.loginTokens': 1, emails: 1, roles: 1 } },
    );
    const login = (user?.services as LoginServices | undefined)?.resume?.loginTokens?.find(
      (one) => one.hashedToken === hashedToken,
    );
    if (user === undefined || login === undefined || Accounts._tokenExpiration(login.when) < new Date())
      return undefined;
    return (await this.toUser(user)).isAdmin === true ? { userId: user._id, scopes: ['admin'] } : { userId: user._id };
  };

  private async toUser({ _id, username, emails = [], profile, roles: ownRoles }: StoredUser): Promise<User> {
    const verified = emails.filter((email) => email.verified).map((email) => comparable(email.address));
    // Users write their profile themselves, so the id tells apart two who chose the same name.
    const name =
      username ?? verified[0] ?? (typeof profile?.name === 'string' ? `${profile.name} (${_id})` : undefined);
    const found: unknown = this.findRoles === undefined ? (ownRoles ?? []) : await this.findRoles(_id);
    // Anything but a list of names grants nothing.
    const roles = isTextList(found) ? found : [];
    return {
      userId: _id,
      ...(name === undefined ? {} : { name }),
      isAdmin:
        [_id, ...verified].some((name) => this.admins.has(name)) || roles.some((role) => this.adminRoles.has(role)),
      roles,
    };
  }
}

interface StoredUser {
  readonly _id: string;
  readonly username?: string;
  readonly profile?: { readonly name?: unknown };
  readonly emails?: readonly { readonly address: string; readonly verified: boolean }[];
  /** If the app stores them there. */
  readonly roles?: unknown;
}

/** The part of `services` that accounts-base writes; its own types leave it open. */
interface LoginServices {
  readonly resume?: { readonly loginTokens?: readonly { readonly hashedToken: string; readonly when: Date }[] };
}

/** `roles`, which Meteor contains from 3.1 on, or its predecessor `alanning:roles` 4, which have the same API. */
function findPackageRoles(): FindRoles | undefined {
  const { Package: packages = {} } = globalThis as { Package?: Readonly<Record<string, RolesPackage | undefined>> };
  const roles = packages['roles']?.Roles ?? packages['alanning:roles']?.Roles;
  return roles === undefined ? undefined : (userId) => roles.getRolesForUserAsync(userId);
}

interface RolesPackage {
  readonly Roles?: {
    /** Without a scope: global roles, with those that they inherit. */
    getRolesForUserAsync(userId: string): Promise<readonly string[]>;
  };
}

/** E-mail addresses are compared without case, as accounts-password does; ids are case-sensitive. */
function comparable(name: string): string {
  return name.includes('@') ? name.toLowerCase() : name;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
