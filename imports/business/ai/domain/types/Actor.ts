/** Who wants something of the module: what the host knows of them, and by which door they came. */
export interface Actor {
  readonly userId: string;
  readonly isAdmin?: boolean;
  readonly roles?: readonly string[];
  /** `job` is the server's own code, which may say anything; the others speak for somebody outside. */
  readonly source: 'method' | 'http' | 'terminal' | 'job';
}
