/** One attempt at one host through its official SDK: credential and bytes, no meaning. */
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { JsonObject } from '../../domain/types/VendorTypes';

export interface VendorCall {
  /** Model or deployment, for hosts that name it in the path. */
  readonly model: string;
  readonly body: JsonObject;
  readonly stream: boolean;
  /** Absent for hosts without authentication. */
  readonly credential: Credential | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The whole call, body included, in milliseconds; the transport's own limit when absent. */
  readonly timeout?: number;
}

export interface VendorReply {
  readonly status: number;
  header(name: string): string | null;
  /** The vendor's id of this request, from its header. */
  readonly requestId: string | undefined;
  /** The headers that the vendor's own clients look at. */
  readonly shownHeaders: Readonly<Record<string, string>>;
  /** The whole body. */
  text(): Promise<string>;
  /** The body's chunks as they come; leaving the iteration early aborts the request. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface VendorClient {
  /** @throws LLMError for error statuses and transport failures, `call.signal.reason` when aborted */
  send(call: VendorCall): Promise<VendorReply>;
  /** The host's cheapest authenticated call. @throws as `send` does */
  probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void>;
  /** Forgets a stored response, where the host keeps them. */
  deleteResponse?(responseId: string, credential: Credential | undefined, signal?: AbortSignal): Promise<void>;
}
