/** A model host: one attempt, the inner language both ways. */
import type { GenerateOptions } from '../types/LLMTypes';
import type { LLMResponse } from '../types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../types/StreamEvents';
import type { WireName } from '../types/VendorTypes';

export interface ModelCapabilities {
  readonly supportsTools: boolean;
  readonly supportsParallelTools: boolean;
  /** The wire itself lets a call's output come in a later turn. */
  readonly supportsAsyncTools: boolean;
  readonly supportsVision: boolean;
  readonly supportsFiles: boolean;
  readonly supportsJSON: boolean;
  readonly supportsJSONSchema: boolean;
  readonly supportsReasoning: boolean;
  /** The host keeps responses, so `previous_response_id` works without replay. */
  readonly keepsState: boolean;
  /** Size of the context window, in tokens. */
  readonly maxTokens: number;
  readonly maxOutputTokens: number;
  /** US dollars per million tokens, and the day on which they were looked up. */
  readonly price?: { readonly input: number; readonly output: number; readonly cached?: number; readonly asOf: string };
}

export interface ILLMProvider {
  getProviderName(): string;
  /**
   * One attempt. Gives completed and incomplete responses.
   * @throws LLMError for failed ones, `options.signal.reason` when aborted.
   */
  generate(userId: string, options: GenerateOptions): Promise<LLMResponse>;
  /** One attempt as events; ends with `response.completed` or throws what `generate` throws. */
  stream(userId: string, options: GenerateOptions): AsyncIterable<ResponseStreamEvent>;
  /** Whether this user's credential works, by the vendor's cheapest call. */
  validateAccess(userId: string): Promise<boolean>;
  /** @param wire as in `GenerateOptions` */
  getCapabilities(model: string, wire?: WireName): ModelCapabilities;
  /** The wire that a call speaks which asks for this one; undefined where answers are not the wire's own. */
  wireOf?(asked?: WireName): WireName | undefined;
  /** Forgets a stored response; an id that is already gone is no error. */
  deleteResponse?(userId: string, responseId: string): Promise<void>;
}
