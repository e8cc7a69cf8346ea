/** Defines the operations `ai.providers.*` as Meteor methods. */
import { check, Match } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import { toClientError } from '../ai/domain/errors/clientError';
import { isLLMError, LLMInvalidRequestError } from '../ai/domain/errors/LLMErrors';
import type { ProviderOperations } from './application/operations/ProviderOperations';
import type { Actor } from '../ai/domain/types/Actor';

export interface ProviderMethodPorts {
  readonly operations: ProviderOperations;
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
}

/** The parts of a method's `this` that are used here. */
interface Invocation {
  readonly userId: string | null;
  unblock(): void;
}

/** A call without an argument sends none, or null. */
const ARGUMENT = Match.Maybe(Match.ObjectIncluding({}));

const ANONYMOUS: Actor = { userId: '', source: 'method' };

export function defineProviderMethods({ operations, actorOf }: ProviderMethodPorts): readonly string[] {
  const names = Object.keys(operations) as (keyof ProviderOperations)[];
  for (const name of names) {
    Meteor.methods({
      async [`ai.providers.${name}`](this: Invocation, ...args: unknown[]): Promise<unknown> {
        // The operations themselves validate the argument's fields.
        check(args, [ARGUMENT]);
        this.unblock();
        const { userId } = this;
        try {
          if (args.length > 1) throw new LLMInvalidRequestError('Expected one argument, an object.', { path: '' });
          return await operations[name](
            userId === null ? ANONYMOUS : ((await actorOf(userId)) ?? ANONYMOUS),
            args[0] ?? undefined,
          );
        } catch (error) {
          if (!isLLMError(error)) throw error;
          const { code, message, details } = toClientError(error);
          throw new Meteor.Error(code, message, details);
        }
      },
    });
  }
  return names.map((name) => `ai.providers.${name}`);
}
