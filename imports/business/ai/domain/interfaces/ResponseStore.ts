/** Stores responses, so that a conversation can continue from any of them with any vendor. */
import type { FunctionCallItem, InputItem, Item, LLMResponse } from '../types/ResponsesAPITypes';
import type { JsonObject } from '../types/VendorTypes';

export interface StoredResponse {
  readonly id: string;
  readonly userId: string;
  /** The provider that created the response. */
  readonly providerId: string;
  /** The provider stores it too, under the same id. */
  readonly keptByProvider: boolean;
  /** The response that this one continues. */
  readonly previousId?: string;
  /** The conversation of the Responses API that it belongs to, and the place in it at which its own items begin. */
  readonly conversation?: { readonly id: string; readonly end: number };
  /** The new items of its request. */
  readonly input: readonly InputItem[];
  /**
   * Calls of earlier responses whose outputs are in `input`: call and output stay together after those responses are
   * gone.
   */
  readonly answeredCalls?: readonly FunctionCallItem[];
  /** The response so far. Its status is not final while it is being generated. */
  readonly response: LLMResponse;
  /** The body that a client of the HTTP API received, for responses that were requested there. */
  readonly body?: JsonObject;
}

/**
 * Bounded in size and age: responses that were not used for long are evicted. A user's ids are unknown to every other
 * user.
 */
export interface ResponseStore {
  /** The most bytes that a response may take, with its input. Undefined: as many as it has. */
  readonly maxResponseBytes?: number;
  /** Replaces a response with the same id. @throws TooLargeToStoreError */
  save(stored: StoredResponse): Promise<void>;
  /** Like `save`, but only if the response is still stored. @returns whether it was @throws TooLargeToStoreError */
  replace(stored: StoredResponse): Promise<boolean>;
  find(userId: string, id: string): Promise<StoredResponse | undefined>;
  /** Finds an item in the inputs and outputs of the user's stored responses. */
  findItem(
    userId: string,
    itemId: string,
  ): Promise<{ readonly item: Item; readonly stored: StoredResponse } | undefined>;
  /** @returns whether the response existed */
  remove(userId: string, id: string): Promise<boolean>;
}
