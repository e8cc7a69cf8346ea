/** Defines the operations `ai.providers.*` as Meteor methods. */
import { argumentCheck } from '../ai/domain/argumentCheck';
import { callerOf } from '../ai/domain/callerOf';
import { toClientError } from '../ai/domain/errors/clientError';
import { isLLMError, LLMInvalidRequestError } from '../ai/domain/errors/LLMErrors';
import type { ProviderOperations } from './application/operations/ProviderOperations';
import type { MeteorCheck, MeteorInvocation, MeteorServer } from '../ai/domain/interfaces/MeteorServer';
import type { Actor } from '../ai/domain/types/Actor';

export interface ProviderMethodPorts {
  readonly Meteor: MeteorServer;
  readonly argumentChecks?: MeteorCheck | undefined;
  readonly operations: ProviderOperations;
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
}

export function defineProviderMethods(ports: ProviderMethodPorts): readonly string[] {
  const { Meteor, argumentChecks, operations, actorOf } = ports;
  // A call without an argument sends none, or null.
  const checkArguments = argumentCheck(argumentChecks, (Match) => [Match.Maybe(Match.ObjectIncluding({}))]);
  const names = Object.keys(operations) as (keyof ProviderOperations)[];
  for (const name of names) {
    Meteor.methods({
      async [`ai.providers.${name}`](this: MeteorInvocation, ...args: unknown[]): Promise<unknown> {
        // The operations themselves validate the argument's fields.
        checkArguments(args);
        this.unblock();
        try {
          if (args.length > 1) throw new LLMInvalidRequestError('Expected one argument, an object.', { path: '' });
          return await operations[name](await callerOf(this, actorOf), args[0] ?? undefined);
        } catch (error) {
          if (!isLLMError(error)) throw error;
          const { code, message, details } = toClientError(error);
          throw new Meteor.Error(code, message, details as never);
        }
      },
    });
  }
  return names.map((name) => `ai.providers.${name}`);
}
