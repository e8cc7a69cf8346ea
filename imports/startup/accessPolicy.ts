/** The Provider system's rules at both doors: of the use cases, and of the HTTP API. What can't be read is refused. */
import type { HttpApiPorts } from '../api/createHttpApi';
import type { AccessPolicy } from '../business/ai/domain/interfaces/AccessPolicy';
import { decideAccess } from '../business/providers/domain/entities/ProviderAccess';
import type { Caller, CallerLookup } from '../business/providers/domain/types/Caller';
import type { StoredProviderSource } from './StoredProviderSource';

export function createAccessPolicy(rows: StoredProviderSource, callerOf: CallerLookup): AccessPolicy {
  return {
    async decide({ userId, source }, { providerId, model }) {
      const [provider, caller] = await Promise.all([rows.find(providerId), callerOf(userId)]);
      // The server's own code may use the server's own accounts, in nobody's name.
      const isOwn = source === 'job' && provider?.fixed === true;
      const decision = provider === undefined ? NOBODY : decideAccess(provider, isOwn ? SERVER : caller, model);
      if (decision.allowed) return { allowed: true };
      const what =
        decision.reason === 'model-not-allowed'
          ? `ask the provider '${providerId}' for the model '${model ?? ''}'`
          : `use the provider '${providerId}'`;
      return { allowed: false, reason: `You may not ${what}.` };
    },
  };
}

/** Goes by what was read last: the API's directory of models reads before it asks. */
export function createMayUse(rows: StoredProviderSource, callerOf: CallerLookup): NonNullable<HttpApiPorts['mayUse']> {
  return async ({ userId }, providerId) => {
    const caller = await callerOf(userId);
    const provider = rows.lastRead(providerId);
    return provider !== undefined && decideAccess(provider, caller).allowed;
  };
}

/** Questions about one user that are asked while the answer is on its way share it. */
export function dedupeLookups(callerOf: CallerLookup): CallerLookup {
  const underWay = new Map<string, Promise<Caller | undefined>>();
  return (userId) => {
    const known = underWay.get(userId);
    if (known !== undefined) return known;
    const asked = callerOf(userId).finally(() => underWay.delete(userId));
    underWay.set(userId, asked);
    return asked;
  };
}

const SERVER: Caller = { userId: 'server', isAdmin: true, roles: [] };
const NOBODY = { allowed: false, reason: 'not-listed' } as const;
