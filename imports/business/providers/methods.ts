/** `ai.providers.*` as Meteor methods: check, who, unblock, one call, errors. */
import { check, Match } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import { toClientError } from '../ai/domain/errors/clientError';
import { isLLMError, LLMInvalidRequestError } from '../ai/domain/errors/LLMErrors';
import type { ProviderOperations } from './application/operations/ProviderOperations';
import type { Caller, CallerLookup } from './domain/types/Caller';

export interface ProviderMethodPorts {
  readonly methods: ProviderOperations;
  readonly callerOf: CallerLookup;
}

/** What a method finds in `this`, as far as it goes here. */
interface Invocation {
  readonly userId: string | null;
  unblock(): void;
}

/** A client that gives no argument sends none, or null. */
const ARGUMENT = Match.Maybe(Match.ObjectIncluding({}));

const NOBODY: Caller = { userId: '', isAdmin: false, roles: [] };

export function defineProviderMethods({ methods, callerOf }: ProviderMethodPorts): readonly string[] {
  const names = Object.keys(methods) as (keyof ProviderOperations)[];
  for (const name of names) {
    Meteor.methods({
      async [`ai.providers.${name}`](this: Invocation, ...args: unknown[]): Promise<unknown> {
        // The one argument's fields are read, one by one, by the methods themselves.
        check(args, [ARGUMENT]);
        this.unblock();
        const { userId } = this;
        try {
          if (args.length > 1) throw new LLMInvalidRequestError('There must be one argument, an object.', { path: '' });
          return await methods[name](
            userId === null ? NOBODY : ((await callerOf(userId)) ?? NOBODY),
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
