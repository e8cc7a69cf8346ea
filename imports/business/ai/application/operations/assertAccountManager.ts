/** What concerns an account itself is for people, and for tokens of administrators. */
import { LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { Actor } from '../../domain/types/Actor';

/** @throws LLMPermissionError for an API token without the scope `admin`: a leaked one must not be enough */
export function assertAccountManager({ mayManageAccount = true }: Actor): void {
  if (!mayManageAccount) throw new LLMPermissionError('This requires a login or the scope "admin".');
}
