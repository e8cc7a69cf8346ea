/** Who asks over HTTP, and what they may do. */

export const SCOPES = ['generate', 'read', 'admin'] as const;
/** `admin` holds the others. */
export type Scope = (typeof SCOPES)[number];

export interface Actor {
  readonly userId: string;
  /** Absent for people who logged in: all but `admin`. */
  readonly scopes?: readonly Scope[];
}

const OF_PEOPLE: readonly Scope[] = ['generate', 'read'];

export function mayDo({ scopes = OF_PEOPLE }: Actor, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin');
}
