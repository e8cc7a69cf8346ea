/**
 * Defines `ai.llm.*`, `ai.runs.*` and `ai.users.*` as Meteor methods: each checks its arguments, identifies the user,
 * unblocks the connection, makes one call, and maps errors. Meteor resends methods after a lost connection; a request
 * that arrives twice with the same `requestId` is one run. From a client: `Meteor.callAsync(name, request)`, or
 * `Meteor.applyAsync(name, [request], { noRetry: true, returnServerResultPromise: true })` for a request that must not
 * be resent.
 */
import { check, Match } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import type { AIMethods } from './application/operations/RunOperations';
import type { UserDataOperations } from './application/operations/UserDataOperations';
import { toClientError } from './domain/errors/clientError';
import { isLLMError } from './domain/errors/LLMErrors';
import type { Actor } from './domain/types/Actor';

export interface AIMethodPorts {
  readonly methods: AIMethods & ListMethods & Partial<UserDataOperations>;
  /** Loads a user's rights; undefined for a user who no longer exists. */
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
}

/** Lists of what is not stored in documents, and so cannot be published. */
export interface ListMethods {
  readonly 'ai.tools.list'?: (actor: Actor) => Promise<unknown>;
}

/** The types that arguments may have. The methods themselves validate the fields. */
const ARGUMENT = Match.Maybe(Match.OneOf(String, [Match.Any], Match.ObjectIncluding({})));

/** The part of a method's `this` that is used. */
interface Invocation {
  readonly userId: string | null;
  unblock(): void;
}

const ANONYMOUS: Actor = { userId: '', source: 'method' };

export function defineAIMethods({ methods, actorOf }: AIMethodPorts): readonly string[] {
  const names = Object.keys(methods) as (keyof AIMethods)[];
  for (const name of names) {
    Meteor.methods({
      async [name](this: Invocation, ...args: unknown[]): Promise<unknown> {
        check(args, [ARGUMENT]);
        // Model calls are slow and must not block the client's other methods.
        this.unblock();
        const { userId } = this;
        try {
          return await methods[name](userId === null ? ANONYMOUS : ((await actorOf(userId)) ?? ANONYMOUS), ...args);
        } catch (error) {
          throw toMeteorError(error);
        }
      },
    });
  }
  return names;
}

/** Leaves other errors unchanged: Meteor hides their details. */
export function toMeteorError(thrown: unknown): unknown {
  if (!isLLMError(thrown)) return thrown;
  const { code, message, details } = toClientError(thrown);
  return new Meteor.Error(code, message, details);
}
