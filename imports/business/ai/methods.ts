/**
 * `ai.llm.*` and `ai.runs.*` as Meteor methods: check, who, unblock, one call, errors. Meteor sends methods again
 * after a lost connection; a request that comes twice under its `requestId` is one run. From a client:
 * `Meteor.applyAsync(name, [request], { noRetry: true })`.
 */
import { check, Match } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import type { AIMethods } from './application/operations/RunOperations';
import { toClientError } from './domain/errors/clientError';
import { isLLMError } from './domain/errors/LLMErrors';
import type { Actor } from './domain/types/Actor';

export interface AIMethodPorts {
  readonly methods: AIMethods & ListMethods;
  /** What the app knows of a user; undefined for one who is gone. */
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
}

/** What is no document that could be published. */
export interface ListMethods {
  readonly 'ai.tools.list'?: (actor: Actor) => Promise<unknown>;
}

/** The kinds of things that are arguments at all; their fields are read, one by one, by the methods themselves. */
const ARGUMENT = Match.Maybe(Match.OneOf(String, [Match.Any], Match.ObjectIncluding({})));

/** What a method finds in `this`, as far as it goes here. */
interface Invocation {
  readonly userId: string | null;
  unblock(): void;
}

const NOBODY: Actor = { userId: '', source: 'method' };

export function defineAIMethods({ methods, actorOf }: AIMethodPorts): readonly string[] {
  const names = Object.keys(methods) as (keyof AIMethods)[];
  for (const name of names) {
    Meteor.methods({
      async [name](this: Invocation, ...args: unknown[]): Promise<unknown> {
        check(args, [ARGUMENT]);
        // A model takes its time; the client's other calls don't wait for it.
        this.unblock();
        const { userId } = this;
        try {
          return await methods[name](userId === null ? NOBODY : ((await actorOf(userId)) ?? NOBODY), ...args);
        } catch (error) {
          throw toMeteorError(error);
        }
      },
    });
  }
  return names;
}

/** What is no error of ours is Meteor's to hide. */
export function toMeteorError(thrown: unknown): unknown {
  if (!isLLMError(thrown)) return thrown;
  const { code, message, details } = toClientError(thrown);
  return new Meteor.Error(code, message, details);
}
