/** The deletion of a user's data, for any transport. */
import { line, readObject, required } from '../../domain/arguments';
import { LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { Actor } from '../../domain/types/Actor';
import { signedIn } from './RunOperations';

/** Numbers of deleted documents by kind. */
export type DeletedUserData = Readonly<Record<string, number>>;

export interface UserDataDeletionOptions {
  /** Keeps the counters that enforce limits, which hold only numbers, until they expire. Default: false. */
  readonly keepsLimits?: boolean;
}

export interface UserDataPorts {
  readonly deleteUserData: (userId: string, options?: UserDataDeletionOptions) => Promise<DeletedUserData>;
}

export interface UserDataOperations {
  /** @throws LLMAuthError, LLMInvalidRequestError; LLMPermissionError for another user's data */
  readonly 'ai.users.deleteData': (
    actor: Actor,
    ...args: readonly unknown[]
  ) => Promise<{ readonly deleted: DeletedUserData }>;
}

const MAX_ID_LENGTH = 128;

export function createUserDataOperations({ deleteUserData }: UserDataPorts): UserDataOperations {
  return {
    async 'ai.users.deleteData'(actor, ...args) {
      signedIn(actor);
      if (args.length > 1) throw new LLMInvalidRequestError('Pass one argument, an object.', { path: '' });
      // Stated even by users themselves, so that nothing is deleted by an empty call.
      const userId = required(readObject(args[0], ['userId']), 'userId', line(MAX_ID_LENGTH));
      const isAdmin = actor.isAdmin === true;
      if (userId !== actor.userId && !isAdmin)
        throw new LLMPermissionError('Only administrators may delete the data of other users.');
      // Otherwise, deleting one's own data would reset one's budget.
      return { deleted: await deleteUserData(userId, { keepsLimits: !isAdmin }) };
    },
  };
}
