/** Whose runs callers may see and control. */
import { LLMAuthError } from '../../domain/errors/LLMErrors';
import { ObjectNotFoundError } from '../../domain/errors/ObjectNotFoundError';
import type { Actor } from '../../domain/types/Actor';

export function signedIn({ userId }: Actor): void {
  if (userId === '') throw new LLMAuthError('You must be logged in.');
}

/** Whether the actor may see and control what belongs to `owner`. */
export function canAccess({ userId, isAdmin }: Actor, owner: string | undefined): boolean {
  return owner !== undefined && (owner === userId || isAdmin === true);
}

/** Everything for administrators, their own for others. */
export function ownOnly({ userId, isAdmin }: Actor): { readonly userId?: string } {
  return isAdmin === true ? {} : { userId };
}

/** @returns the owner of a run. @throws UnknownRunError */
export async function accessibleOwner(
  actor: Actor,
  executionId: string,
  ownerOf: (executionId: string) => Promise<string | undefined>,
): Promise<string> {
  const owner = await ownerOf(executionId);
  if (owner === undefined || !canAccess(actor, owner)) throw new UnknownRunError();
  return owner;
}

/** The run does not exist, or belongs to another user: the two are indistinguishable to the caller. */
export class UnknownRunError extends ObjectNotFoundError {
  constructor() {
    super('There is no such run.', { path: 'executionId' });
  }
}
