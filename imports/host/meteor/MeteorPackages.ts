/**
 * Meteor's objects, as the app hands them in. Nothing of Bolide imports `meteor/*`, which only an app's own bundle can
 * resolve. The interfaces declare what is used, so that the objects of any Meteor from 3.1.1 on fit, with any types.
 */
import type { Server } from 'node:http';
import type { MeteorCheck, MeteorMatch, MeteorServer } from '../../business/ai/domain/interfaces/MeteorServer';
import type { MeteorMongo } from '../../database/meteor/MeteorMongo';

export interface MeteorPackages {
  /** `import { Meteor } from 'meteor/meteor'` */
  readonly Meteor: MeteorApp;
  /** `import { Mongo } from 'meteor/mongo'` */
  readonly Mongo: MeteorMongo;
  /** `import { WebApp } from 'meteor/webapp'` */
  readonly WebApp: MeteorWebApp;
  /** `import { Accounts } from 'meteor/accounts-base'` */
  readonly Accounts: MeteorAccounts;
  /**
   * `import { DDPRateLimiter } from 'meteor/ddp-rate-limiter'`. Default: the app's, which accounts-base brings along.
   * Without it, methods and subscriptions are not limited per connection, only by budgets.
   */
  readonly DDPRateLimiter?: MeteorRateLimiter | undefined;
  /**
   * `import { check, Match } from 'meteor/check'`. Default: the app's. Without the package, arguments are validated by
   * the operations alone; an app with `audit-argument-checks` has it.
   */
  readonly check?: MeteorCheck['check'] | undefined;
  /** See `check`. */
  readonly Match?: MeteorMatch | undefined;
}

/** The object `Meteor` on the server, with the collection of accounts-base. */
export interface MeteorApp extends MeteorServer {
  readonly isDevelopment: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly users: MeteorUserCollection;
  absoluteUrl(path?: string): string;
  /** Has observers look again at a collection. Missing from the published types. */
  readonly refresh?: (notification: { readonly collection: string }) => unknown;
  /** Returns `{ stop() }`, which the published types leave out. */
  onConnection(callback: (connection: MeteorConnection) => void): unknown;
}

export interface MeteorConnection {
  close(): void;
  onClose(callback: () => void): void;
}

export interface MeteorUserCollection {
  findOneAsync(selector: object | string, options?: object): Promise<StoredUser | null | undefined>;
  find(selector: object, options?: object): { fetchAsync(): Promise<readonly StoredUser[]> };
  updateAsync(selector: object, modifier: object): Promise<number>;
}

/** A user document. */
export interface StoredUser {
  readonly _id: string;
  readonly username?: string | undefined;
  readonly profile?: { readonly name?: unknown } | undefined;
  readonly emails?: readonly { readonly address: string; readonly verified: boolean }[] | undefined;
  /** If the app stores them there. */
  readonly roles?: unknown;
  readonly services?: unknown;
}

export interface MeteorWebApp {
  /** An Express application, which the types of older releases leave out. */
  readonly handlers?: unknown;
  /** Express itself, which the types of older releases leave out, too. */
  readonly express?: unknown;
  readonly httpServer: Pick<Server, 'on' | 'off' | 'close'>;
  /** What browsers load, by architecture. */
  readonly clientPrograms?: unknown;
}

export interface MeteorAccounts {
  /** `{ forbidClientAccountCreation }` is set; the types of some releases require further options. */
  readonly config: (options: never) => unknown;
  /** The listeners take what `docs.meteor.com` says; the published types differ. Each returns `{ stop() }`. */
  readonly onLogin?: (listener: never) => unknown;
  readonly onLoginFailure?: (listener: never) => unknown;
  readonly onLogout?: (listener: never) => unknown;
  /** The templates, whose name of the site is what people know the app by. */
  readonly emailTemplates?: { readonly siteName?: string } | undefined;
  _hashLoginToken(token: string): string;
}

export interface MeteorRateLimiter {
  addRule(matcher: object, numRequests: number, timeInterval: number): string;
  removeRule(ruleId: string): boolean;
}
