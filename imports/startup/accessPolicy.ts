/** The Provider system's rules at both doors: of the use cases, and of the HTTP API. What can't be read is refused. */
import type { HttpApiPorts } from '../api/createHttpApi';
import type { AccessPolicy } from '../business/ai/domain/interfaces/AccessPolicy';
import { decideAccess } from '../business/providers/domain/entities/ProviderAccess';
import type { User, UserLookup } from '../business/ai/domain/types/Actor';
import type { StoredProviderSource } from './StoredProviderSource';

export function createAccessPolicy(rows: StoredProviderSource, findUser: UserLookup): AccessPolicy {
  return {
    async decide({ userId, source }, { providerId, model }) {
      const [provider, user] = await Promise.all([rows.find(providerId), findUser(userId)]);
      // The server's own code may use the server's own accounts, in nobody's name.
      const isOwn = source === 'job' && provider?.configured === true;
      const decision = provider === undefined ? NOBODY : decideAccess(provider, isOwn ? SERVER : user, model);
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
export function createMayUse(rows: StoredProviderSource, findUser: UserLookup): NonNullable<HttpApiPorts['mayUse']> {
  return async ({ userId }, providerId) => {
    const user = await findUser(userId);
    const provider = rows.lastRead(providerId);
    return provider !== undefined && decideAccess(provider, user).allowed;
  };
}

/** Questions about one user that are asked while the answer is on its way share it. */
export function dedupeLookups(findUser: UserLookup): UserLookup {
  const underWay = new Map<string, Promise<User | undefined>>();
  return (userId) => {
    const known = underWay.get(userId);
    if (known !== undefined) return known;
    const asked = findUser(userId).finally(() => underWay.delete(userId));
    underWay.set(userId, asked);
    return asked;
  };
}

const SERVER: User = { userId: 'server', isAdmin: true };
const NOBODY = { allowed: false, reason: 'not-listed' } as const;
