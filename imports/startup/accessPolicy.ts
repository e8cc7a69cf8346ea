/**
 * The access policy of both hosts: the provider system's rules. A provider or user that cannot be read permits
 * nothing.
 */
import type { AccessPolicy } from '../business/ai/domain/interfaces/AccessPolicy';
import type { Actor, User, UserLookup } from '../business/ai/domain/types/Actor';
import type { ApiTokenLimits } from '../business/ai/domain/types/ApiTokenLimits';
import type { Provider } from '../business/providers/domain/entities/Provider';
import { decideAccess, refusedHostedTool } from '../business/providers/domain/entities/ProviderAccess';
import type { AccessDecision } from '../business/providers/domain/entities/ProviderAccess';
import type { StoredProviderSource } from './StoredProviderSource';

const NO_PROVIDER =
  'No provider is set up yet. An admin can add one, or set a vendor key such as OPENAI_API_KEY in the settings of the server.';

export function createAccessPolicy(
  providers: Pick<StoredProviderSource, 'find' | 'lastRead' | 'isEmpty'>,
  findUser: UserLookup,
  findToken: (id: string) => Promise<Pick<ApiTokenLimits, 'tools'> | undefined> = () => Promise.resolve(undefined),
): AccessPolicy {
  /** Undefined: the token, if there is one, does not limit tools. */
  const toolsOf = async ({ tokenId }: Actor): Promise<readonly string[] | undefined> =>
    tokenId === undefined ? undefined : (await findToken(tokenId))?.tools;
  return {
    async decide(actor, { providerId, model, tools, hostedTools = [] }) {
      const { userId, source } = actor;
      const [provider, user] = await Promise.all([providers.find(providerId), findUser(userId)]);
      const decision = decideFor(provider, user, source, model);
      if (decision.allowed) {
        const tool = provider === undefined ? undefined : refusedHostedTool(provider, user, hostedTools);
        if (tool !== undefined)
          return { allowed: false, reason: `You may not use the tool "${tool}" of the provider "${providerId}".` };
        const permitted = await toolsOf(actor);
        const refused = [...tools, ...hostedTools].find((name) => permitted?.includes(name) === false);
        if (refused === undefined) return { allowed: true };
        return { allowed: false, reason: `Your API token may not use the tool "${refused}".` };
      }
      if (provider === undefined && (await providers.isEmpty())) return { allowed: false, reason: NO_PROVIDER };
      const action =
        decision.reason === 'model-not-allowed'
          ? `use the model "${model ?? ''}" of the provider "${providerId}"`
          : `use the provider "${providerId}"`;
      return { allowed: false, reason: `You may not ${action}.` };
    },
    async permittedTools(actor, tools) {
      const permitted = await toolsOf(actor);
      return permitted === undefined ? tools : tools.filter((name) => permitted.includes(name));
    },
    // The directory was refreshed just before, so no provider is read again.
    async permittedProviders({ userId, source }, providerIds) {
      const user = await findUser(userId);
      return providerIds.filter((id) => decideFor(providers.lastRead(id), user, source).allowed);
    },
  };
}

function decideFor(
  provider: Provider | undefined,
  user: User | undefined,
  source: Actor['source'],
  model?: string,
): AccessDecision {
  if (provider === undefined) return { allowed: false, reason: 'not-listed' };
  // The server's own code may use the server's own accounts on behalf of nobody.
  const actsAsServer = source === 'job' && provider.configured === true;
  return decideAccess(provider, actsAsServer ? SERVER : user, model);
}

const SERVER: User = { userId: 'server', isAdmin: true };

/** Shares one lookup among all concurrent lookups of the same user. */
export function dedupeLookups(findUser: UserLookup): UserLookup {
  const pending = new Map<string, Promise<User | undefined>>();
  return (userId) => {
    const existing = pending.get(userId);
    if (existing !== undefined) return existing;
    const lookup = findUser(userId).finally(() => pending.delete(userId));
    pending.set(userId, lookup);
    return lookup;
  };
}
