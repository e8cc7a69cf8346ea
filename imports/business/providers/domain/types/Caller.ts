/** Who asks, as the host knows them; every decision about access is made from this alone. */
export interface Caller {
  readonly userId: string;
  readonly isAdmin: boolean;
  readonly roles: readonly string[];
}

/** Looks a user up where only the id is known. Nobody is found for ids that the host does not know. */
export type CallerLookup = (userId: string) => Promise<Caller | undefined>;
