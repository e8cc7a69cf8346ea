/** A DDP client for the server suite: Meteor's own inside Meteor, the stubs' in plain Node. */
export interface Client {
  callAsync(method: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Resolves when the publication is ready. */
  subscribe(name: string, ...args: readonly unknown[]): Promise<void>;
  /** Resolves to the first document of a collection that matches, now or later. */
  waitFor<T extends object>(collection: string, matches: (document: T) => boolean): Promise<T>;
  close(): void;
}

export interface SignedIn {
  readonly client: Client;
  readonly userId: string;
  /** Accepted by the HTTP API as a bearer token. */
  readonly loginToken: string;
}

/** Connects and signs in with a password. Rejects as the server does. */
export type SignIn = (email: string, password: string) => Promise<SignedIn>;
