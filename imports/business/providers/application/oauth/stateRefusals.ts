/** Whether a callback belongs to a flow that was started here, by this browser and user, and has not ended yet. */
import type { PendingAuthorization } from '../../domain/entities/PendingAuthorization';
import type { AuthorizationStore } from '../../domain/interfaces/AuthorizationStore';
import type { Clock } from '../../domain/interfaces/Clock';
import { hashOf, isSameHash, isToken } from './flowTokens';

/** What the browser brings back from the authorization server. */
export interface AuthorizationCallback {
  readonly parameters: URLSearchParams;
  /** The value of the browser's binding cookie. */
  readonly binding: string | undefined;
  /** The signed-in user, if the host can identify them. */
  readonly userId?: string | undefined;
}

export interface StateAttempt {
  readonly callback: AuthorizationCallback;
  readonly pending?: PendingAuthorization;
}

export interface StateRefusal {
  readonly reason: 'unknown-state' | 'state-used-again' | 'state-expired' | 'other-browser' | 'other-user';
  readonly applies: (
    attempt: StateAttempt,
    ports: { readonly authorizations: AuthorizationStore; readonly clock: Clock },
  ) => boolean | Promise<boolean>;
}

/** Checked in this order; the first that applies ends the attempt. */
export const STATE_REFUSALS: readonly StateRefusal[] = [
  { reason: 'unknown-state', applies: ({ pending }) => pending === undefined },
  {
    // Marks the state as used, so whatever the following checks find, it can't be presented again.
    reason: 'state-used-again',
    applies: async ({ pending }, { authorizations, clock }) =>
      pending === undefined || !(await authorizations.use(pending._id, clock.now())),
  },
  {
    reason: 'state-expired',
    applies: ({ pending }, { clock }) => pending === undefined || clock.now() >= pending.expiresAt,
  },
  {
    reason: 'other-browser',
    applies: ({ callback: { binding }, pending }) =>
      binding === undefined || !isSameHash(hashOf(binding), pending?.bindingHash),
  },
  {
    reason: 'other-user',
    applies: ({ callback: { userId }, pending }) => userId !== undefined && userId !== pending?.userId,
  },
];

/** RFC 6749, 3.1: a parameter must not be repeated. */
export function singleState(parameters: URLSearchParams): string | undefined {
  const [state, ...others] = parameters.getAll('state');
  return state !== undefined && others.length === 0 && isToken(state) ? state : undefined;
}
