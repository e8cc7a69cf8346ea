/** The Meteor object on the server: the parts that this app uses, without anything specific to Meteor 2. */
import type { Connection } from '../server/contexts';
import { clientOnly } from '../server/clientOnly';
import { MeteorError } from '../server/MeteorError';
import { callFromServer, current } from '../server/MethodInvocation';
import { registry } from '../server/registry';
import type { MethodHandler, PublishHandler } from '../server/registry';
import { Mongo } from './mongo';

export interface User {
  readonly _id: string;
  readonly username?: string;
  readonly emails?: readonly { readonly address: string; readonly verified: boolean }[];
  readonly roles?: readonly string[];
  readonly services?: object;
}

export const Meteor = {
  ...clientOnly,
  isServer: true,
  isClient: false,
  isDevelopment: true,
  isProduction: false,
  isTest: false,
  isAppTest: false,
  /** Tests replace its content. */
  settings: { public: {} } as { public: object; [key: string]: unknown },
  Error: MeteorError,

  methods(methods: Readonly<Record<string, MethodHandler>>): void {
    for (const [name, handler] of Object.entries(methods)) {
      if (typeof handler !== 'function') throw new Error(`Method '${name}' must be a function`);
      if (registry.methods.has(name)) throw new Error(`A method named '${name}' is already defined`);
      registry.methods.set(name, handler);
    }
  },

  /** Observers of the stub see every write of this process by themselves, and there is no other. */
  refresh(notification: { readonly collection: string }): Promise<void> {
    if (typeof notification.collection !== 'string') throw new Error('refresh needs a collection.');
    return Promise.resolve();
  },

  callAsync(name: string, ...args: readonly unknown[]): Promise<unknown> {
    return callFromServer(name, args);
  },

  /** The options only apply to clients. */
  applyAsync(
    name: string,
    args: readonly unknown[],
    _options: {
      readonly noRetry?: boolean;
      readonly wait?: boolean;
      readonly returnServerResultPromise?: boolean;
    } = {},
  ): Promise<unknown> {
    return callFromServer(name, args);
  },

  /** Meteor only logs a second publication with the same name; here it is an error. */
  publish(name: string, handler: PublishHandler): void {
    if (typeof name !== 'string') throw new Error('This stub does not support publications without a name.');
    if (registry.publications.has(name)) throw new Error(`duplicate publish named '${name}'`);
    registry.publications.set(name, handler);
  },

  /** The DDP server, with the handlers of methods and publications by name. */
  get server(): {
    readonly method_handlers: Readonly<Record<string, MethodHandler>>;
    readonly publish_handlers: Readonly<Record<string, PublishHandler>>;
  } {
    return {
      method_handlers: Object.fromEntries(registry.methods),
      publish_handlers: Object.fromEntries(registry.publications),
    };
  },

  /** Writes to the server's log. */
  _debug(...[context, error]: readonly unknown[]): void {
    registry.log.push({ context: String(context), error });
  },

  onConnection(callback: (connection: Connection) => void): { stop(): void } {
    registry.onConnection.add(callback);
    return { stop: () => registry.onConnection.delete(callback) };
  },

  /** The app has already started when tests run. */
  startup(callback: () => unknown): void {
    callback();
  },

  userId(): string | null {
    const caller = current.getStore();
    if (caller === undefined) throw new Error('Meteor.userId can only be invoked in method calls or publications.');
    return caller.userId;
  },

  async userAsync(): Promise<User | null> {
    const userId = Meteor.userId();
    return userId === null ? null : ((await Meteor.users.findOneAsync(userId)) ?? null);
  },

  /** The collection of accounts-base, created again after `resetMeteor()`. */
  get users(): Mongo.Collection<User> {
    if (users === undefined || !registry.collections.has('users')) users = new Mongo.Collection<User>('users');
    return users;
  },

  absoluteUrl(path = ''): string {
    return `http://localhost:3000/${path.replace(/^\//, '')}`;
  },

  defer(callback: () => unknown): void {
    setTimeout(callback, 0);
  },
};

let users: Mongo.Collection<User> | undefined;
