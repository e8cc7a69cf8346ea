/** Where answers are kept, so that a conversation goes on from one of them on any vendor. */
import type { FunctionCallItem, InputItem, Item, LLMResponse } from '../types/ResponsesAPITypes';
import type { JsonObject } from '../types/VendorTypes';

export interface StoredResponse {
  readonly id: string;
  readonly userId: string;
  /** Whom it was asked of. */
  readonly providerId: string;
  /** The provider keeps it too, under the same id. */
  readonly keptByProvider: boolean;
  /** The response that this one follows. */
  readonly previousId?: string;
  /** What was new in its request. */
  readonly input: readonly InputItem[];
  /** Calls of earlier responses that its input answers: call and answer stay together when those responses are gone. */
  readonly answeredCalls?: readonly FunctionCallItem[];
  /** The answer so far; with its status, which is not final while the answer is being made. */
  readonly response: LLMResponse;
  /** The same as the HTTP API's client got it, for answers that were asked for there. */
  readonly body?: JsonObject;
}

/** Bounded, and forgetful: what was not used for long is gone. A user's id is unknown to every other user. */
export interface ResponseStore {
  /** Replaces what is there under the same id. */
  save(stored: StoredResponse): Promise<void>;
  find(userId: string, id: string): Promise<StoredResponse | undefined>;
  /** The item of one of the user's stored inputs or answers. */
  findItem(
    userId: string,
    itemId: string,
  ): Promise<{ readonly item: Item; readonly stored: StoredResponse } | undefined>;
  /** @returns whether it was there */
  remove(userId: string, id: string): Promise<boolean>;
}
