/**
 * Meteor's objects in a browser, as the app hands them in. Nothing of Bolide imports `meteor/*`, which only an app's
 * own bundle can resolve. The interfaces declare what is used, so that the objects of any Meteor 3 fit, with any types.
 */
export interface BrowserPackages {
  /** `import { Meteor } from 'meteor/meteor'` */
  readonly Meteor: BrowserMeteor;
  /** `import { Mongo } from 'meteor/mongo'` */
  readonly Mongo: BrowserMongo;
  /** `import { Tracker } from 'meteor/tracker'` */
  readonly Tracker: BrowserTracker;
}

/** The object `Meteor` in a browser, with what accounts-base and accounts-password add. */
export interface BrowserMeteor {
  /** Components may be rendered on the server, where nothing is subscribed to. */
  readonly isServer: boolean;
  /** Calls a method. The types of older releases leave it out. */
  readonly applyAsync?: unknown;
  subscribe(
    name: string,
    argument: never,
    callbacks: { readonly onReady: () => void; readonly onStop: (error?: SubscriptionError) => void },
  ): { stop(): void };
  status(): { readonly status: string };
  userId(): string | null;
  user(): SignedInUser | null | undefined;
  loggingIn(): boolean;
  logout(callback: (error?: Error) => void): void;
}

/** A `Meteor.Error`: `error` is the code, `reason` the message. */
export interface SubscriptionError extends Error {
  readonly error: string | number;
  readonly reason?: string | undefined;
  readonly details?: unknown;
}

export interface SignedInUser {
  readonly username?: string | undefined;
  readonly emails?: readonly { readonly address: string }[] | undefined;
}

/** The object `Mongo` in a browser. */
export interface BrowserMongo {
  readonly Collection: new (name: string) => unknown;
}

/** A collection that subscriptions fill. */
export interface BrowserCollection<T> {
  find(selector: object, options: object): BrowserCursor<T>;
}

export interface BrowserCursor<T> {
  fetch(): T[];
  observe(callbacks: {
    readonly addedAt: (document: T, index: number) => void;
    readonly changedAt: (document: T, before: T, index: number) => void;
    readonly removedAt: (document: T, index: number) => void;
    readonly movedTo: (document: T, from: number, to: number) => void;
  }): { stop(): void };
}

/** The object `Tracker`. */
export interface BrowserTracker {
  readonly active: boolean;
  readonly Dependency: new () => { depend(): boolean; changed(): void };
  autorun(run: () => void): { stop(): void };
  nonreactive<T>(run: () => T): T;
  onInvalidate(callback: () => void): void;
  afterFlush(callback: () => void): void;
}
