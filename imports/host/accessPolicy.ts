/**
 * The access policy of both hosts: the provider system's rules. A provider or user that cannot be read permits
 * nothing.
 */
import { isStoreOutage } from '../business/ai/domain/errors/LLMErrors';
import type { AccessPolicy } from '../business/ai/domain/interfaces/AccessPolicy';
import type { Actor, User, UserLookup } from '../business/ai/domain/types/Actor';
import { admits, hostedToolName, rulesOn } from '../business/ai/domain/entities/toolRules';
import type { ToolRule } from '../business/ai/domain/entities/toolRules';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { LimitedToken } from '../business/ai/domain/types/ApiTokenLimits';
import type { Provider } from '../business/providers/domain/entities/Provider';
import { decideAccess, refusedHostedTool } from '../business/providers/domain/entities/ProviderAccess';
import type { AccessDecision } from '../business/providers/domain/entities/ProviderAccess';
import type { StoredProviderSource } from './StoredProviderSource';

const NO_PROVIDER =
  'No provider is set up yet. An admin can add one, or set a vendor key such as OPENAI_API_KEY in the settings of the server.';

export interface ToolAccessPorts {
  /** Default: tokens have no limits. */
  readonly findToken?: (id: string) => Promise<Pick<LimitedToken, 'tools' | 'team'> | undefined>;
  /** Default: everyone may use every tool. */
  readonly toolRules?: readonly ToolRule[];
  /** Whether all users have accounts, so that one who is not found was removed. Default: users may be unknown. */
  readonly hasAccounts?: boolean | undefined;
}

export function createAccessPolicy(
  providers: Pick<StoredProviderSource, 'find' | 'lastRead' | 'isEmpty'>,
  findUser: UserLookup,
  { findToken = () => Promise.resolve(undefined), toolRules = [], hasAccounts = false }: ToolAccessPorts = {},
): AccessPolicy {
  const refusalOfTool = async ({ userId, source, tokenId }: Actor, tool: string): Promise<string | undefined> => {
    const token = tokenId === undefined ? undefined : await findToken(tokenId);
    if (token?.tools?.includes(tool) === false) return `Your API token may not use the tool "${tool}".`;
    const rules = rulesOn(toolRules, tool);
    // The server's own code chooses its tools itself.
    if (rules.length === 0 || source === 'job') return undefined;
    const user = { ...((await findUser(userId)) ?? { userId }), ...omitUndefined({ team: token?.team }) };
    if (rules.some((rule) => admits(rule, user))) return undefined;
    return `You may not use the tool "${tool}" (${rules.map(({ place }) => place).join(', ')}).`;
  };
  return {
    async decide(actor, { providerId, model, tools, hostedTools = [] }) {
      const { userId, source } = actor;
      const [provider, user] = await Promise.all([providers.find(providerId), findUser(userId)]);
      const decision = decideFor(provider, user, source, model);
      if (decision.allowed) {
        const tool = provider === undefined ? undefined : refusedHostedTool(provider, user, hostedTools);
        if (tool !== undefined)
          return { allowed: false, reason: `You may not use the tool "${tool}" of the provider "${providerId}".` };
        for (const name of [...tools, ...hostedTools.map(hostedToolName)]) {
          const reason = await refusalOfTool(actor, name);
          if (reason !== undefined) return { allowed: false, reason };
        }
        return { allowed: true };
      }
      if (provider === undefined && (await providers.isEmpty())) return { allowed: false, reason: NO_PROVIDER };
      if (provider === undefined && (user?.isAdmin === true || source === 'job'))
        return { allowed: false, reason: `There is no provider "${providerId}". ai.providers.list lists them.` };
      const action =
        decision.reason === 'model-not-allowed'
          ? `use the model "${model ?? ''}" of the provider "${providerId}"`
          : `use the provider "${providerId}"`;
      return { allowed: false, reason: `You may not ${action}.` };
    },
    refusalOfTool,
    isRemoved: async (userId) => hasAccounts && (await findUser(userId)) === undefined,
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

/** Shares one lookup among all concurrent lookups of the same id, such as those of a turn's calls. */
export function dedupeLookups<Found>(lookUp: (id: string) => Promise<Found>): (id: string) => Promise<Found> {
  const pending = new Map<string, Promise<Found>>();
  return (id) => {
    const existing = pending.get(id);
    if (existing !== undefined) return existing;
    const lookup = lookUp(id);
    pending.set(id, lookup);
    const forget = (): void => void pending.delete(id);
    lookup.then(forget, forget);
    return lookup;
  };
}

/**
 * Users of several kinds who share their ids: the rights of a user are those of each kind together. During an outage of
 * the database, a user has the rights of the kinds that need none.
 */
export function knownToAny(...lookups: readonly UserLookup[]): UserLookup {
  return async (userId) => {
    let outage: unknown;
    const users: User[] = [];
    for (const found of await Promise.allSettled(lookups.map((lookup) => lookup(userId)))) {
      if (found.status === 'fulfilled') {
        if (found.value !== undefined) users.push(found.value);
      } else if (isStoreOutage(found.reason)) outage = found.reason;
      else throw found.reason as Error;
    }
    if (users.length === 0 && outage !== undefined) throw outage as Error;
    if (users.length === 0) return undefined;
    const isAdmin = users.some((user) => user.isAdmin === true);
    return users.reduceRight<User>((known, user) => ({ ...known, ...user, isAdmin }), { userId });
  };
}
