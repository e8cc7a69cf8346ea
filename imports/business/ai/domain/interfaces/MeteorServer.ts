/** The parts of Meteor's server packages that methods and publications use. The app hands the packages in. */

/** The object `Meteor` of `meteor/meteor`. */
export interface MeteorServer {
  readonly Error: new (error: string, reason?: string, details?: never) => Error;
  methods(methods: Readonly<Record<string, (this: never, ...args: never[]) => unknown>>): void;
  /** @param handler a function of a MeteorSubscription, which only fits every release's types as `never` */
  publish(name: string, handler: never): void;
}

/** The `this` of a method. */
export interface MeteorInvocation {
  readonly userId: string | null;
  /** Null for a call by the server itself. */
  readonly connection?: MeteorConnection | null;
  unblock(): void;
}

/** A client's connection. */
export interface MeteorConnection {
  /** Behind proxies, as HTTP_FORWARDED_COUNT says. */
  readonly clientAddress?: string;
  readonly httpHeaders?: Readonly<Record<string, string | undefined>>;
}

/** The `this` of a publication. */
export interface MeteorSubscription {
  readonly userId: string | null;
  unblock(): void;
  added(collection: string, id: string, fields: Record<string, unknown>): void;
  changed(collection: string, id: string, fields: Record<string, unknown>): void;
  removed(collection: string, id: string): void;
  ready(): void;
  error(error: Error): void;
  onStop(callback: () => void): void;
}

/** The package `check`. */
export interface MeteorCheck {
  check(value: unknown, pattern: unknown): void;
  readonly Match: MeteorMatch;
}

/** Patterns are opaque here. */
export interface MeteorMatch {
  readonly Any: unknown;
  Maybe(pattern: unknown): unknown;
  OneOf(...patterns: unknown[]): unknown;
  ObjectIncluding(pattern: object): unknown;
}
