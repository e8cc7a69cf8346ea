import type { ActorClient } from './ActorClient';
import type { CallOrigin } from './RequestRecords';

/** Who makes a request: a user as the application host knows them, and how the request arrived. */
export interface Actor {
  readonly userId: string;
  readonly isAdmin?: boolean;
  readonly roles?: readonly string[];
  /** `job` is the server's own code, which may send any role's messages; the others act for someone outside. */
  readonly source: 'method' | 'http' | 'terminal' | 'job';
  /** Whether the actor may approve, reject and review tool calls. Default true: people who signed in may. */
  readonly mayDecide?: boolean;
  /** Whether the actor may export and delete data, and manage API tokens. Default true: people who signed in may. */
  readonly mayManageAccount?: boolean;
  /** The API token that was presented. */
  readonly tokenId?: string;
  /** From where, for the audit trail. */
  readonly client?: ActorClient;
  /** For the request log: how the calls of a run that this request starts are recorded. */
  readonly origin?: Pick<CallOrigin, 'api' | 'tokenId' | 'tokenName' | 'team'>;
}

/** A user without a request: all that access rules depend on. */
export interface User extends Omit<
  Actor,
  'source' | 'origin' | 'mayDecide' | 'mayManageAccount' | 'tokenId' | 'client'
> {
  /** Names the user to people. Default: the id. Others must not be able to choose the same name. */
  readonly name?: string;
}

/** Looks up a user by id. Resolves to undefined for an id that the application host does not know. */
export type UserLookup = (userId: string) => Promise<User | undefined>;

/** What admins know users by, of those who have a name. */
export type NamesLookup = (userIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** Finds users by how their name or address starts, in upper or lower case: some of them if they are many. */
export type UserSearch = (start: string) => Promise<readonly string[]>;
