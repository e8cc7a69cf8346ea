/** Attempts with a body that can be read once. */
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { RelayBody } from '../../domain/types/RelayTypes';

type Attempt<T> = (credential: Credential | undefined) => Promise<T>;

/** @returns the attempt, whose first outcome is also that of later ones if its body cannot be sent again */
export function once<T>(body: RelayBody | undefined, attempt: Attempt<T>): Attempt<T> {
  if (body === undefined || typeof body === 'string') return attempt;
  let outcome: Promise<T> | undefined;
  return (credential) => (outcome ??= attempt(credential));
}
