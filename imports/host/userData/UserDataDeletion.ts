/** Deletes everything that a host stores about a user, once nothing writes to it any more. */
import type { ChatStore } from '../../api/chat/ChatStore';
import type { HttpApi } from '../../api/createHttpApi';
import type { SessionStore } from '../../api/dashboard/SessionStore';
import type { IdentityStore } from '../../api/signIn/Identities';
import type { DeletedUserData, UserDataDeletionOptions } from '../../business/privacy/application/userOperations';
import type { AuditTrail } from '../../business/audit/application/AuditTrail';
import { endUserRuns } from '../../business/ai/application/services/endUserRuns';
import type { UserLimiter } from '../../business/limits/application/UserLimiter';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { AIModule } from '../../business/ai/infrastructure/factories/createAIModule';
import type { RequestLogModule } from '../../business/requestLog/createRequestLog';
import type { RunModule } from '../../business/ai/infrastructure/factories/createRunOperations';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import type { UserMemory } from '../../business/memory/infrastructure/UserMemory';
import type { UserDataRemoval } from '../../business/privacy/infrastructure/UserDataRemoval';
import { SYSTEM_OWNER } from '../../business/providers/domain/entities/Provider';
import type { ProvidersModule } from '../../business/providers/infrastructure/factories/createProvidersModule';
import type { UsageRecorder } from '../UsageRecorder';
import type { UserApiTokens } from '../UserApiTokens';
import type { UserContentKeys } from '../../business/privacy/infrastructure/UserContentKeys';

export interface UserDataDeletionPorts {
  readonly module: Pick<AIModule, 'loop' | 'runs' | 'conversations' | 'usageSettled'>;
  readonly runs: Pick<RunModule, 'settled' | 'events'>;
  readonly providers: Pick<ProvidersModule, 'service' | 'removeUsage'>;
  readonly apiTokens: Pick<UserApiTokens, 'tokens'>;
  readonly sessions: Pick<SessionStore, 'removeOfUser'>;
  readonly identities: Pick<IdentityStore, 'removeOfUser'>;
  readonly chats: Pick<ChatStore, 'removeOfUser'>;
  readonly api: Pick<HttpApi, 'cancelUser'>;
  readonly usage: Pick<UsageRecorder, 'flush'>;
  readonly requestLog: Pick<RequestLogModule, 'flush'>;
  readonly memories: Pick<UserMemory, 'evict'>;
  readonly documents: UserDataRemoval;
  /** Absent: content is not sealed. */
  readonly contentKeys?: Pick<UserContentKeys, 'removeOfUser'>;
  readonly database: Pick<DocumentDatabase, 'purge'>;
  readonly userLimiter: Pick<UserLimiter, 'forget'>;
  readonly audit: {
    readonly trail: Pick<AuditTrail, 'settled'>;
    /** Removes what identifies the user from entries. */
    readonly pseudonymize: (userId: string) => Promise<number>;
  };
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
  readonly deleteUserData = async (userId: string, options: UserDataDeletionOptions = {}): Promise<DeletedUserData> => {
    if (typeof userId !== 'string' || userId === '' || userId === SYSTEM_OWNER)
      throw new LLMInvalidRequestError('"userId" must be the id of a user.', { path: 'userId' });
    const total: Record<string, number> = {};
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const removed = await this.removeOnce(userId, options);
      for (const [kind, count] of Object.entries(removed)) total[kind] = (total[kind] ?? 0) + count;
      if (Object.values(removed).every((count) => count === 0)) break;
    }
    await this.ports.database.purge?.();
    return total;
  };

  private async removeOnce(userId: string, { keepsLimits = false }: UserDataDeletionOptions): Promise<DeletedUserData> {
    const {
      module,
      runs,
      providers,
      apiTokens,
      sessions,
      identities,
      chats,
      api,
      usage,
      requestLog,
      documents,
      memories,
      contentKeys,
      userLimiter,
      audit,
    } = this.ports;
    // First, so that no further request arrives by one.
    const tokens = await apiTokens.tokens.revokeAll(userId);
    const identified = await identities.removeOfUser(userId);
    const signIns = await sessions.removeOfUser(userId);
    const chatTurns = await documents.removeChatTurns(userId);
    await api.cancelUser(userId);
    await endUserRuns({ loop: module.loop, store: module.runs }, userId);
    await runs.settled();
    await module.usageSettled();
    await usage.flush();
    await requestLog.flush();
    module.loop.forget(userId);
    module.conversations.channels.forget(userId);
    runs.events.clear();
    if (!keepsLimits) userLimiter.forget(userId);
    const limits = keepsLimits
      ? {}
      : { ...(await documents.removeLimits(userId)), usageWindows: await providers.removeUsage(userId) };
    const stored = await documents.remove(userId);
    memories.evict(userId);
    const removed = {
      ...stored,
      chatTurns: (stored['chatTurns'] ?? 0) + chatTurns,
      ...(await providers.service.removeUser(userId)),
      ...limits,
      chats: await chats.removeOfUser(userId),
      apiTokens: tokens,
      sessions: signIns,
      ...(contentKeys === undefined ? {} : { contentKeys: await contentKeys.removeOfUser(userId) }),
      identities: identified,
    };
    // Last, so that it covers what was done until now. The acts stay, but not whose they were.
    await audit.trail.settled();
    await audit.pseudonymize(userId);
    return removed;
  }
}
