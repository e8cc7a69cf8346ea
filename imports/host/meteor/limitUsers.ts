/** Counts users' method calls and subscriptions towards their limits, as their requests over HTTP are counted. */
import type { UserLimiter } from '../../business/limits/application/UserLimiter';
import { argumentCheck } from '../../business/ai/domain/util/argumentCheck';
import type { MeteorCheck, MeteorServer, MeteorSubscription } from '../../business/ai/domain/interfaces/MeteorServer';
import type { Actor } from '../../business/ai/domain/types/Actor';
import type { Operation } from '../../business/ai/domain/types/Operation';
import { toMeteorError } from '../../business/ai/methods';

/** @returns the same operations, each call of which is a request in progress of its user */
export function limitOperations<T extends { readonly [N in keyof T]: Operation }>(
  operations: T,
  users: UserLimiter,
): T {
  const limited = Object.entries<Operation>(operations).map(([name, operation]) => [
    name,
    async (actor: Actor, ...args: unknown[]): Promise<unknown> => {
      // Who is not signed in is refused by the operation.
      if (actor.userId === '') return operation(actor, ...args);
      const release = await users.begin(actor.userId, 'calls');
      try {
        return await operation(actor, ...args);
      } finally {
        release();
      }
    },
  ]);
  return Object.fromEntries(limited) as T;
}

type Handler = (this: MeteorSubscription, ...args: unknown[]) => unknown;

/** @returns publishes what only signed-in users see; each subscription is a connection of its user until it stops */
export function limitPublications(
  Meteor: MeteorServer,
  argumentChecks: MeteorCheck | undefined,
  users: UserLimiter,
): MeteorServer {
  // Meteor wants to see them checked at once; the handler checks what they are.
  const checkArguments = argumentCheck(argumentChecks, (Match) => [Match.Any]);
  return {
    Error: Meteor.Error,
    methods: (methods) => Meteor.methods(methods),
    publish(name, handler) {
      Meteor.publish(name, async function (this: MeteorSubscription, ...args: unknown[]) {
        checkArguments(args);
        // Others wait for their turn on the connection until a handler unblocks it.
        this.unblock();
        if (this.userId !== null) {
          try {
            this.onStop(await users.begin(this.userId, 'connections'));
          } catch (error) {
            throw toMeteorError(Meteor, error);
          }
        }
        return (handler as Handler).apply(this, args);
      } as never);
    },
  };
}
