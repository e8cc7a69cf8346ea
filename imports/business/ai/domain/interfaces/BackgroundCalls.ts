/** Model calls that a vendor answers in the background: which response is that of which call. */

export interface BackgroundCallKey {
  readonly userId: string;
  /** The run's turn that makes the call. */
  readonly turn: string;
  readonly providerId: string;
  /** The digest of the request, which tells the calls of a turn apart. */
  readonly digest: string;
}

/** Entries expire after some days. */
export interface BackgroundCallStore {
  /** @returns the id of the response at the vendor */
  find(key: BackgroundCallKey): Promise<string | undefined>;
  save(key: BackgroundCallKey, responseId: string): Promise<void>;
  remove(key: BackgroundCallKey): Promise<void>;
}

export interface BackgroundTurn {
  find(request: Pick<BackgroundCallKey, 'providerId' | 'digest'>): Promise<string | undefined>;
  save(request: Pick<BackgroundCallKey, 'providerId' | 'digest'>, responseId: string): Promise<void>;
  remove(request: Pick<BackgroundCallKey, 'providerId' | 'digest'>): Promise<void>;
}
