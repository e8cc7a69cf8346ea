/** The export and the deletion of a user's data, for any transport. */
import { line, optionalValue, readObject, required, text } from '../../domain/arguments';
import { LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { Actor } from '../../domain/types/Actor';
import type { UserDataPage } from '../../domain/types/UserDataPage';
import { signedIn } from './RunOperations';

/** Numbers of deleted documents by kind. */
export type DeletedUserData = Readonly<Record<string, number>>;

export interface UserDataDeletionOptions {
  /** Keeps the counters that enforce limits, which hold only numbers, until they expire. Default: false. */
  readonly keepsLimits?: boolean;
}

export interface UserDataPorts {
  readonly deleteUserData: (userId: string, options?: UserDataDeletionOptions) => Promise<DeletedUserData>;
  /** @param after the `next` of the page before */
  readonly exportUserData: (userId: string, after?: string) => Promise<UserDataPage>;
}

/** Both throw LLMAuthError, LLMInvalidRequestError, and LLMPermissionError for another user's data. */
export interface UserDataOperations {
  /** `{ userId }` */
  readonly 'ai.users.deleteData': (
    actor: Actor,
    ...args: readonly unknown[]
  ) => Promise<{ readonly deleted: DeletedUserData }>;
  /** `{ userId, after? }`. @throws LLMRateLimitError for too many exports */
  readonly 'ai.users.exportData': (actor: Actor, ...args: readonly unknown[]) => Promise<UserDataPage>;
}

const MAX_ID_LENGTH = 128;
const MAX_CURSOR_LENGTH = 4_000;

export function createUserDataOperations({ deleteUserData, exportUserData }: UserDataPorts): UserDataOperations {
  return {
    async 'ai.users.deleteData'(actor, ...args) {
      const { userId } = readArguments(actor, args, []);
      // Otherwise, deleting one's own data would reset one's budget.
      return { deleted: await deleteUserData(userId, { keepsLimits: actor.isAdmin !== true }) };
    },
    async 'ai.users.exportData'(actor, ...args) {
      const { userId, after } = readArguments(actor, args, ['after']);
      return exportUserData(userId, after);
    },
  };
}

/** The user is stated even by users themselves, so that nothing is deleted by an empty call. */
function readArguments(
  actor: Actor,
  args: readonly unknown[],
  others: readonly string[],
): { readonly userId: string; readonly after?: string } {
  signedIn(actor);
  if (args.length > 1) throw new LLMInvalidRequestError('Pass one argument, an object.', { path: '' });
  const fields = readObject(args[0], ['userId', ...others]);
  const userId = required(fields, 'userId', line(MAX_ID_LENGTH));
  if (userId !== actor.userId && actor.isAdmin !== true)
    throw new LLMPermissionError('Only administrators may export or delete the data of other users.');
  const after = optionalValue(fields, 'after', text(MAX_CURSOR_LENGTH));
  return { userId, ...(after === undefined ? {} : { after }) };
}
