/**
 * Responses that a test prepares. Each is rendered in the wire and form (JSON or stream) of the request that
 * receives it.
 */
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import type { Fault } from './Fault';
import type { RecordedRequest } from './RecordedRequest';

interface ScriptedResponseBase {
  /** Restricts the response to requests to this vendor. */
  readonly vendor?: VendorName;
  readonly fault?: Fault;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ScriptedCall {
  readonly name: string;
  /** The namespace of the tool, on wires that have namespaces. */
  readonly namespace?: string;
  /** A string is sent verbatim, any other value as JSON. */
  readonly arguments?: unknown;
  /** Default: a generated id in the vendor's format. */
  readonly id?: string;
}

/**
 * A turn of the model. Without any content, the rule model generates the turn, so that a fault can be applied to
 * its response.
 */
export interface ScriptedTurn extends ScriptedResponseBase {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly reasoning?: string;
  /** Sends the reasoning only in encrypted form (Anthropic's `redacted_thinking`). */
  readonly redacted?: boolean;
  readonly refusal?: string;
  readonly incomplete?: 'max_output_tokens' | 'content_filter';
  /** The vendor fails while it responds: an error event in a stream, an error body otherwise. */
  readonly failed?: { readonly message: string; readonly code?: string };
  /** Default: estimated from the texts. */
  readonly usage?: {
    readonly input?: number;
    readonly cached?: number;
    readonly output?: number;
    readonly reasoning?: number;
  };
}

export interface ScriptedStatusResponse extends ScriptedResponseBase {
  readonly status: number;
  /** A string is sent as plain text, any other value as JSON. */
  readonly body: unknown;
}

export interface ScriptedRawResponse extends ScriptedResponseBase {
  readonly raw: string | Buffer;
  readonly status?: number;
}

export type StaticResponse = ScriptedTurn | ScriptedStatusResponse | ScriptedRawResponse;
export type ResponseFunction = (request: RecordedRequest) => StaticResponse | Promise<StaticResponse>;
export type ScriptedResponse = StaticResponse | ResponseFunction;

export function isRawResponse(response: StaticResponse): response is ScriptedRawResponse {
  return 'raw' in response;
}

export function isStatusResponse(response: StaticResponse): response is ScriptedStatusResponse {
  return 'body' in response;
}
