/** Makes what transports and the app's own code call of definitions and the services that carry them out. */
import { LLMAuthError, LLMInvalidRequestError, LLMPermissionError } from '../business/ai/domain/errors/LLMErrors';
import type { Actor } from '../business/ai/domain/types/Actor';
import { jsonBytes } from '../business/ai/domain/util/jsonBytes';
import type { UserStorage } from '../business/ai/domain/interfaces/UserStorage';
import type { AnyOperation } from './defineOperation';
import { readArgument } from './schemas';

/** The operations of a list of definitions, by name. */
export type OperationsOf<D extends readonly AnyOperation[]> = {
  readonly [E in D[number] as E['name']]: (actor: Actor, ...args: readonly unknown[]) => ReturnType<E['execute']>;
};

/** What all operations of a list of definitions need together. */
export type ServicesOf<D extends readonly AnyOperation[]> = D[number]['execute'] extends (
  services: infer S,
  call: never,
) => unknown
  ? S
  : never;

/**
 * @param storage of the users whose requests are stored. Absent: unlimited
 * @returns operations that throw LLMAuthError if nobody is signed in, LLMPermissionError for what is for
 *   administrators, and LLMInvalidRequestError for the argument
 */
export function bindOperations<const D extends readonly AnyOperation[]>(
  definitions: D,
  services: ServicesOf<D>,
  storage?: Pick<UserStorage, 'admit' | 'released'>,
): OperationsOf<D> {
  const operations = definitions.map((definition) => {
    const { name, access, argument, toArgument = onlyArgument, stores = 0, removes = false } = definition;
    // The services of all are those of each.
    const execute = definition.execute as (services: ServicesOf<D>, call: object) => Promise<unknown>;
    const operation = async (actor: Actor, ...args: readonly unknown[]): Promise<unknown> => {
      if (actor.userId === '') throw new LLMAuthError('You must be logged in.');
      if (access === 'admin' && actor.isAdmin !== true)
        throw new LLMPermissionError(`Only administrators may call "${name}".`);
      const call = { actor, argument: readArgument(argument, toArgument(args)) };
      if (storage === undefined || (stores === 0 && !removes)) return execute(services, call);
      const stored =
        stores > 0 && actor.source !== 'job'
          ? await storage.admit(actor.userId, stores * jsonBytes(call.argument))
          : undefined;
      try {
        const result = await execute(services, call);
        if (removes) storage.released(actor.userId);
        return result;
      } finally {
        stored?.();
      }
    };
    return [name, operation] as const;
  });
  return Object.fromEntries(operations) as unknown as OperationsOf<D>;
}

/** Meteor's clients send null for an argument that is undefined. */
function onlyArgument([argument, ...others]: readonly unknown[]): unknown {
  if (others.length > 0) throw new LLMInvalidRequestError('Pass one argument, an object.', { path: '' });
  return argument ?? {};
}
