/** The providers that an actor may use at all, in the order given. */
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { Actor } from '../../domain/types/Actor';

export async function permittedProviders<P extends { readonly id: string }>(
  access: AccessPolicy,
  actor: Actor,
  providers: readonly P[],
): Promise<readonly P[]> {
  const permitted = await permittedIds(
    access,
    actor,
    providers.map(({ id }) => id),
  );
  return providers.filter(({ id }) => permitted.includes(id));
}

async function permittedIds(access: AccessPolicy, actor: Actor, ids: readonly string[]): Promise<readonly string[]> {
  if (access.permittedProviders !== undefined) return access.permittedProviders(actor, ids);
  const permissions = await Promise.all(ids.map((providerId) => access.decide(actor, { providerId, tools: [] })));
  return ids.filter((_, index) => permissions[index]?.allowed === true);
}
