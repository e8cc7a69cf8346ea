/** The states of sign-ins that came back, in a document collection: each counts once, in whichever process. */
import type { DocumentCollection, StoredDocument } from '../../database/DocumentCollection';
import { insertNew } from '../../database/insertNew';

export const SIGN_IN_STATES = 'ai_sign_in_states';

export interface UsedState extends StoredDocument {
  /** A date, as expiring indexes require. */
  readonly expiresAt: Date;
}

export class UsedStates {
  private readonly states: DocumentCollection<UsedState>;

  constructor(states: DocumentCollection<UsedState>) {
    this.states = states;
  }

  /** Creates the collection's index. Idempotent. */
  async ready(): Promise<void> {
    await this.states.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  /**
   * @param expiresAt when the state is refused for its age, in milliseconds since the epoch
   * @returns true for the first call only
   */
  use(id: string, expiresAt: number): Promise<boolean> {
    return insertNew(this.states, { _id: id, expiresAt: new Date(expiresAt) });
  }
}
