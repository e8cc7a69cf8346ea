/** Who asks over HTTP, and what they may do. */
import { fieldsOf } from '../../business/ai/domain/json';

export const SCOPES = ['generate', 'read', 'admin'] as const;
/** `admin` holds the others. */
export type Scope = (typeof SCOPES)[number];

export interface ApiPrincipal {
  readonly userId: string;
  /** Absent for people who logged in: all but `admin`. */
  readonly scopes?: readonly Scope[];
}

/** Hosts say in many ways that they know nobody; only an object that names a user is somebody. */
export function somebody<A extends { readonly userId: string }>(authenticated: A | undefined): A | undefined {
  const { userId } = fieldsOf(authenticated);
  return typeof userId === 'string' && userId !== '' ? authenticated : undefined;
}

const OF_PEOPLE: readonly Scope[] = ['generate', 'read'];

export function mayDo({ scopes = OF_PEOPLE }: ApiPrincipal, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin');
}
