/** Port for one attempt to call a vendor: credential and bytes, without interpretation. */
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { EmbeddingInput, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { RelayRequest, RelayResponse } from '../../domain/types/RelayTypes';
import type { VendorBatchApi } from '../../domain/interfaces/VendorBatches';
import type { CachedPrefix, JsonObject } from '../../domain/types/VendorTypes';
import type { SendBatchRequest } from './batches/batchRequests';

export interface VendorCall {
  /** Model or deployment, for APIs that take it in the path. */
  readonly model: string;
  readonly body: JsonObject;
  readonly stream: boolean;
  /** The beginning that is to be stored, for APIs that store prompts under a name. */
  readonly cachedPrefix?: CachedPrefix | undefined;
  /** Told what could not be done as it was asked for. */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /** Told what was stored for this call, in tokens times the hours of their lifetime. */
  readonly onStored?: ((tokenHours: number) => void) | undefined;
  /** Asks for a shorter history, for APIs that have a path of its own for that. */
  readonly compact?: boolean | undefined;
  /** Undefined for APIs without authentication. */
  readonly credential: Credential | undefined;
  /** Whose call it is, for a fair share of the sockets. */
  readonly userId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the entire call, body included. Default: the transport's limit. */
  readonly timeout?: number | undefined;
}

export type StoredResponseCall = Pick<VendorCall, 'credential' | 'userId' | 'signal'>;

export interface EmbeddingCall
  extends
    Pick<EmbedOptions, 'dimensions' | 'encoding' | 'taskType' | 'title' | 'user'>,
    Pick<VendorCall, 'model' | 'credential' | 'userId' | 'signal' | 'timeout'> {
  readonly inputs: readonly EmbeddingInput[];
}

export interface VendorRelay extends RelayRequest, Pick<VendorCall, 'userId'> {}

export interface EmbeddingReply {
  readonly vectors: readonly (readonly number[])[];
  /** The model that the vendor names, if it names one. */
  readonly model?: string;
  /** Absent: the vendor does not report it. */
  readonly inputTokens?: number;
  /** What could not be sent. */
  readonly warnings: readonly string[];
  readonly response: VendorHttpResponse;
}

export type VendorHttpResponse = RelayResponse;

export interface VendorClient {
  /** @throws LLMError for error statuses and transport failures, `call.signal.reason` when aborted */
  send(call: VendorCall): Promise<VendorHttpResponse>;
  /** Makes the API's cheapest authenticated call. @throws as `send` does */
  probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void>;
  /** The names in the API's list of models. @throws as `send` does */
  listModels(credential: Credential | undefined, signal?: AbortSignal): Promise<readonly string[]>;
  /** The input tokens of the call, for APIs that count them. @throws as `send` does */
  countTokens?(call: VendorCall): Promise<number | undefined>;
  /** The vectors of texts, for APIs with embeddings. @throws as `send` does */
  embed?(call: EmbeddingCall): Promise<EmbeddingReply>;
  /** Sends a request as it is, for APIs that have more than models. @throws as `send` does */
  relay?(request: VendorRelay, credential: Credential | undefined): Promise<VendorHttpResponse>;
  /** A stored response as the vendor has it, for APIs that generate them in the background. @throws as `send` does */
  readResponse?(responseId: string, call: StoredResponseCall): Promise<VendorHttpResponse>;
  /**
   * The stream of a response in the background, after the event of a number, for APIs that send it again.
   * @throws as `send` does
   */
  resumeStream?(responseId: string, startingAfter: number, call: StoredResponseCall): Promise<VendorHttpResponse>;
  cancelResponse?(responseId: string, call: StoredResponseCall): Promise<void>;
  /** For APIs with batches. @param send sends its requests with the user's credential, as `relay` does */
  batches?(send: SendBatchRequest): VendorBatchApi | undefined;
  /** Deletes a stored response, for APIs that store them. */
  deleteResponse?(responseId: string, credential: Credential | undefined, signal?: AbortSignal): Promise<void>;
}
