/** Signs in over a connection of its own, as a browser does: through the proxy, the socket and accounts-password. */
import { createHash } from 'node:crypto';
import { DDP } from 'meteor/ddp';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import type { Client, SignedIn } from './SignedIn';

/** What the suite reads of the collections that the publications fill. */
const COLLECTIONS = ['ai_runs', 'ai_tool_calls', 'ai_deltas', 'ai_providers'] as const;

/** The parts of ddp-client that are used. The stubs of plain Node have no client side. */
interface DdpConnection {
  callAsync(method: string, ...args: readonly unknown[]): Promise<unknown>;
  subscribe(name: string, ...args: readonly unknown[]): unknown;
  disconnect(): void;
}
type Connect = (url: string) => DdpConnection;
type RemoteCollection = new (
  name: string,
  options: { readonly connection: DdpConnection; readonly defineMutationMethods: false },
) => {
  find(): { observe(callbacks: { added(document: object): void; changed(document: object): void }): Stoppable };
};
interface Stoppable {
  stop(): void;
}

export async function signInOverDdp(email: string, password: string): Promise<SignedIn> {
  const { connect } = DDP as unknown as { readonly connect: Connect };
  const Collection = Mongo.Collection as unknown as RemoteCollection;
  const connection = connect(Meteor.absoluteUrl());
  try {
    const digest = createHash('sha256').update(password).digest('hex');
    const { id, token } = (await connection.callAsync('login', {
      user: { email },
      password: { digest, algorithm: 'sha-256' },
    })) as { readonly id: string; readonly token: string };
    const options = { connection, defineMutationMethods: false } as const;
    const collections = new Map(COLLECTIONS.map((name) => [name as string, new Collection(name, options)]));
    const client: Client = {
      callAsync: (method, ...args) => connection.callAsync(method, ...args),
      subscribe: (name, ...args) =>
        new Promise((resolve, reject) => {
          connection.subscribe(name, ...args, {
            onReady: resolve,
            onStop: (error?: Error) => reject(error ?? new Error(`Subscription "${name}" ended.`)),
          });
        }),
      waitFor: (name, matches) =>
        new Promise((resolve) => {
          const observed: { handle?: Stoppable | undefined } = {};
          const check = (document: object): void => {
            // The caller states the type of the collection's documents.
            if (!matches(document as never)) return;
            resolve(document as never);
            observed.handle?.stop();
          };
          observed.handle = collections.get(name)?.find().observe({ added: check, changed: check });
        }),
      close: () => connection.disconnect(),
    };
    return { client, userId: id, loginToken: token };
  } catch (error) {
    connection.disconnect();
    throw error;
  }
}
