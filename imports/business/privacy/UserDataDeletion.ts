/** Deletes everything that a host stores about a user, once nothing writes to it any more. */
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import type { StartedFeature } from '../../host/Feature';
import { LLMInvalidRequestError } from '../ai/domain/errors/LLMErrors';
import { SYSTEM_OWNER } from '../providers/domain/entities/Provider';
import type { DeletedUserData, UserDataDeletionOptions } from './application/userOperations';
import type { UserDataRemoval } from './infrastructure/UserDataRemoval';

export interface UserDataDeletionPorts {
  readonly features: readonly Pick<StartedFeature, 'revokeUser' | 'forgetUser' | 'removeUser' | 'pseudonymizeUser'>[];
  readonly documents: UserDataRemoval;
  readonly database: Pick<DocumentDatabase, 'purge'>;
  /** Cancels the user's requests and runs. Resolves when they have ended, and what they did is written. */
  readonly endActivity: (userId: string) => Promise<void>;
}

/** What was being written when the deletion began is removed by the next pass. */
const MAX_PASSES = 5;

export class UserDataDeletion {
  private readonly ports: UserDataDeletionPorts;

  constructor(ports: UserDataDeletionPorts) {
    this.ports = ports;
  }

  /**
   * Cancels the user's requests and runs, waits until they have ended, and removes everything. Safe to repeat, also
   * after an interruption and for a user who has no data.
   * @returns how many documents were removed, by kind
   * @throws LLMInvalidRequestError for an invalid user id; what the database throws
   */
  readonly deleteUserData = async (
    userId: string,
    { keepsLimits = false }: UserDataDeletionOptions = {},
  ): Promise<DeletedUserData> => {
    if (typeof userId !== 'string' || userId === '' || userId === SYSTEM_OWNER)
      throw new LLMInvalidRequestError('"userId" must be the id of a user.', { path: 'userId' });
    const total: Record<string, number> = {};
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const removed = await this.removeOnce(userId, keepsLimits);
      add(total, removed);
      if (Object.values(removed).every((count) => count === 0)) break;
    }
    await this.ports.database.purge?.();
    return total;
  };

  private async removeOnce(userId: string, keepsLimits: boolean): Promise<DeletedUserData> {
    const { features, documents, endActivity } = this.ports;
    const removed: Record<string, number> = {};
    // First, so that no further request arrives.
    for (const feature of features) add(removed, await feature.revokeUser?.(userId));
    add(removed, { chatTurns: await documents.removeChatTurns(userId) });
    await endActivity(userId);
    if (!keepsLimits) add(removed, await documents.removeLimits(userId));
    add(removed, await documents.remove(userId));
    for (const feature of features) {
      feature.forgetUser?.(userId, keepsLimits);
      add(removed, await feature.removeUser?.(userId, keepsLimits));
    }
    // Last, so that it covers what was done until now. The acts stay, but not whose they were.
    for (const feature of features) await feature.pseudonymizeUser?.(userId);
    return removed;
  }
}

function add(total: Record<string, number>, counts: DeletedUserData = {}): void {
  for (const [kind, count] of Object.entries(counts)) total[kind] = (total[kind] ?? 0) + count;
}
