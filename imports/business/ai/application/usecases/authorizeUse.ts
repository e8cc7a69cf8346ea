/** Whether an actor may use a provider, a model and tools: the question before every use of a model. */
import { isLLMError, LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { AccessPolicy, Permission, RequestedUse } from '../../domain/interfaces/AccessPolicy';
import type { Logger } from '../../domain/interfaces/Logger';
import type { Actor } from '../../domain/types/Actor';

export interface AuthorizationPorts {
  readonly access: AccessPolicy;
  /** The ids of the available providers. */
  readonly providers: { has(id: string): boolean };
  readonly logger: Logger;
}

/**
 * Only actors who may use a provider learn whether it exists.
 * @returns what one request may spend, if that is limited
 * @throws LLMPermissionError, LLMInvalidRequestError
 */
export async function authorizeUse(
  actor: Actor,
  use: RequestedUse,
  ports: AuthorizationPorts,
): Promise<Extract<Permission, { allowed: true }>['budget']> {
  const permission = await decide(actor, use, ports);
  if (!permission.allowed) throw new LLMPermissionError(permission.reason);
  if (!ports.providers.has(use.providerId))
    throw new LLMInvalidRequestError(`There is no provider "${use.providerId}".`, { path: 'providerId' });
  return permission.budget;
}

async function decide(actor: Actor, use: RequestedUse, { access, logger }: AuthorizationPorts): Promise<Permission> {
  try {
    return await access.decide(actor, use);
  } catch (cause) {
    if (isLLMError(cause)) throw cause;
    logger.error('The access policy failed.', cause);
    throw new LLMPermissionError('Your permission could not be checked, so access is denied. Try again later.', {
      cause,
    });
  }
}
