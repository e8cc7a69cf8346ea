/** `ai.users.*`: who the caller is, and the export and the deletion of a user's data. */
import * as v from 'valibot';
import { defineOperation } from '../../../host/defineOperation';
import { line, listOf, object, text } from '../../../host/schemas';
import { LLMPermissionError } from '../../ai/domain/errors/LLMErrors';
import type { UserStorage } from '../../ai/domain/interfaces/UserStorage';
import type { Actor, NamesLookup } from '../../ai/domain/types/Actor';
import type { UserDataPage } from '../domain/UserDataPage';
import { assertAccountManager } from '../../ai/application/operations/assertAccountManager';

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

export interface UserDataServices {
  readonly userData: UserDataPorts;
  readonly storage: Pick<UserStorage, 'usageOf'>;
  readonly userNames: NamesLookup;
}

const MAX_CURSOR_LENGTH = 4_000;
const MAX_NAMED = 200;
/** Longer than those of OpenID providers. */
const MAX_ID_LENGTH = 300;

/** The user is stated even by users themselves, so that nothing is deleted by an empty call. */
const userId = line(128);
const AUDITED = { kind: 'user', id: 'userId', owner: { field: 'userId' } } as const;

export const USER_OPERATIONS = [
  defineOperation({
    name: 'ai.users.me',
    summary: 'Tell who the caller is',
    access: 'read',
    argument: object({}),
    result: v.looseObject({ userId: v.string(), isAdmin: v.boolean() }),
    http: 'GET /api/me',
    reads: [],
    execute: (_services, { actor }) => Promise.resolve({ userId: actor.userId, isAdmin: actor.isAdmin ?? false }),
  }),
  defineOperation({
    name: 'ai.users.names',
    summary: 'Name users',
    description:
      'By user name, e-mail address or the name of the profile, as far as the accounts of the app have one. Others are ' +
      'left out. At most 200 at a time.',
    access: 'admin',
    argument: object({ userIds: listOf(MAX_NAMED, text(MAX_ID_LENGTH)) }),
    result: v.looseObject({ names: v.array(v.looseObject({ userId: v.string(), name: v.string() })) }),
    http: 'POST /api/users/names',
    reads: [],
    execute: async ({ userNames }: Pick<UserDataServices, 'userNames'>, { argument }) => {
      const names = await userNames(argument.userIds);
      return { names: [...names].map(([id, name]) => ({ userId: id, name })) };
    },
  }),
  defineOperation({
    name: 'ai.users.storage',
    summary: 'Count what a user has stored',
    description:
      "One's own, or for administrators anybody's, in bytes, with the largest kinds first. Requests that would exceed " +
      'the limit are refused with [507](../guides/production.md#storage).',
    access: 'read',
    argument: object({ userId: v.optional(userId) }),
    result: v.looseObject({ bytes: v.number(), limit: v.number(), kinds: v.record(v.string(), v.number()) }),
    http: 'GET /api/storage',
    reads: ['runs'],
    execute: ({ storage }: Pick<UserDataServices, 'storage'>, { actor, argument }) => {
      const { userId: owner = actor.userId } = argument;
      if (owner !== actor.userId && actor.isAdmin !== true)
        throw new LLMPermissionError('Only administrators may see what other users have stored.');
      return storage.usageOf(owner);
    },
  }),
  defineOperation({
    name: 'ai.users.exportData',
    summary: 'Export everything that is stored about a user',
    description:
      "One's [own data](../guides/data-protection.md#export), or for administrators anybody's, 10 times an hour. A " +
      'page has about a megabyte of lines, each a JSON object; `next` is the `after` of the next page. Over HTTP, the ' +
      'response is a file of all lines. API tokens need the scope `admin`.',
    access: 'read',
    argument: object({ userId, after: v.optional(text(MAX_CURSOR_LENGTH)) }),
    result: v.looseObject({ lines: v.array(v.string()), next: v.optional(v.string()) }),
    http: { address: 'GET /api/user-data/:userId', isPathOnly: true, content: 'application/x-ndjson' },
    reads: [],
    audit: { action: 'user.export_data', ...AUDITED, isPaged: true },
    execute: ({ userData }: UserDataServices, { actor, argument }) => {
      assertPermitted(actor, argument.userId);
      return userData.exportUserData(argument.userId, argument.after);
    },
  }),
  defineOperation({
    name: 'ai.users.deleteData',
    summary: 'Delete everything that is stored about a user',
    description:
      "One's [own data](../guides/production.md#deleting-a-users-data), or for administrators anybody's. The result has " +
      'the numbers of documents by kind. API tokens need the scope `admin`.',
    access: 'generate',
    argument: object({ userId }),
    result: v.looseObject({ deleted: v.record(v.string(), v.number()) }),
    http: { address: 'DELETE /api/user-data/:userId', isUncancellable: true },
    changes: [],
    audit: { action: 'user.delete_data', ...AUDITED },
    execute: async ({ userData }: UserDataServices, { actor, argument }) => {
      assertPermitted(actor, argument.userId);
      // Otherwise, deleting one's own data would reset one's budget.
      return { deleted: await userData.deleteUserData(argument.userId, { keepsLimits: actor.isAdmin !== true }) };
    },
  }),
] as const;

function assertPermitted(actor: Actor, owner: string): void {
  assertAccountManager(actor);
  if (owner !== actor.userId && actor.isAdmin !== true)
    throw new LLMPermissionError('Only administrators may export or delete the data of other users.');
}
