/** Lists of others are for admins. */
import { LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { Actor } from '../../domain/types/Actor';

/**
 * @param what is listed: "runs"
 * @throws LLMPermissionError for a user who asks for what belongs to another
 */
export function assertOwn({ userId, isAdmin }: Actor, asked: string | undefined, what: string): void {
  if (isAdmin !== true && asked !== undefined && asked !== userId)
    throw new LLMPermissionError(`Only admins see the ${what} of other users.`, { path: 'userId' });
}
