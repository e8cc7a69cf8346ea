/** Meteor's accounts: authenticates HTTP requests by login token, and looks up users by id for the access rules. */
import type { IncomingMessage } from 'node:http';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import type { ApiPrincipal } from '../../api/auth/ApiPrincipal';
import { presentedToken } from '../../api/auth/presentedToken';
import type { User } from '../../business/ai/domain/types/Actor';

export class MeteorUsers {
  private readonly admins: ReadonlySet<string>;

  /** @param admins user ids and e-mail addresses; an address counts only if it is verified */
  constructor(admins: readonly string[]) {
    this.admins = new Set(admins.map(comparable));
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
    return this.toUser(user).isAdmin === true ? { userId: user._id, scopes: ['admin'] } : { userId: user._id };
  };

  private toUser({ _id, username, emails = [], profile, roles }: StoredUser): User {
    const verified = emails.filter((email) => email.verified).map((email) => comparable(email.address));
    // Users write their profile themselves, so the id tells apart two who chose the same name.
    const name =
      username ?? verified[0] ?? (typeof profile?.name === 'string' ? `${profile.name} (${_id})` : undefined);
    return {
      userId: _id,
      ...(name === undefined ? {} : { name }),
      isAdmin: [_id, ...verified].some((name) => this.admins.has(name)),
      roles: isTextList(roles) ? roles : [],
    };
  }
}

interface StoredUser {
  readonly _id: string;
  readonly username?: string;
  readonly profile?: { readonly name?: unknown };
  readonly emails?: readonly { readonly address: string; readonly verified: boolean }[];
  /** If the app uses roles. */
  readonly roles?: unknown;
}

/** The part of `services` that accounts-base writes; its own types leave it open. */
interface LoginServices {
  readonly resume?: { readonly loginTokens?: readonly { readonly hashedToken: string; readonly when: Date }[] };
}

/** E-mail addresses are compared without case, as accounts-password does; ids are case-sensitive. */
function comparable(name: string): string {
  return name.includes('@') ? name.toLowerCase() : name;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
