/**
 * Defines operations as Meteor methods, such as `ai.llm.*` and `ai.runs.*`: each checks its arguments, identifies
 * the user, unblocks the connection, makes one call, and maps errors. Meteor resends methods after a lost
 * connection; a request that arrives twice with the same `requestId` is one run. From a client:
 * `Meteor.callAsync(name, request)`, or `Meteor.applyAsync(name, [request], { noRetry: true,
 * returnServerResultPromise: true })` for a request that must not be resent.
 */
import { argumentCheck } from './domain/util/argumentCheck';
import { callerOf } from './callerOf';
import { toClientError } from './domain/errors/clientError';
import { isLLMError } from './domain/errors/LLMErrors';
import type { MeteorCheck, MeteorInvocation, MeteorServer } from './domain/interfaces/MeteorServer';
import type { Actor } from './domain/types/Actor';
import type { Operation } from './domain/types/Operation';

export interface AIMethodPorts<M> {
  readonly Meteor: MeteorServer;
  /** Lets `audit-argument-checks` see that arguments are checked. The operations validate them either way. */
  readonly argumentChecks?: MeteorCheck | undefined;
  /** By the method's name. */
  readonly methods: M;
  /** Loads a user's rights; undefined for a user who no longer exists. */
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
}

export function defineAIMethods<M extends { readonly [N in keyof M]: Operation }>({
  Meteor,
  argumentChecks,
  methods,
  actorOf,
}: AIMethodPorts<M>): readonly string[] {
  const checkArguments = argumentCheck(argumentChecks, (Match) => [
    Match.Maybe(Match.OneOf(String, [Match.Any], Match.ObjectIncluding({}))),
  ]);
  const operations = Object.entries<Operation>(methods);
  for (const [name, operation] of operations) {
    Meteor.methods({
      async [name](this: MeteorInvocation, ...args: unknown[]): Promise<unknown> {
        checkArguments(args);
        // Model calls are slow and must not block the client's other methods.
        this.unblock();
        try {
          return await operation(await callerOf(this, actorOf), ...args);
        } catch (error) {
          throw toMeteorError(Meteor, error);
        }
      },
    });
  }
  return operations.map(([name]) => name);
}

/** Leaves other errors unchanged: Meteor hides their details. */
export function toMeteorError(Meteor: MeteorServer, thrown: unknown): unknown {
  if (!isLLMError(thrown)) return thrown;
  const { code, message, details } = toClientError(thrown);
  return new Meteor.Error(code, message, details as never);
}
