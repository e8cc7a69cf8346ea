/** Answers that a test prepares; each is rendered in the wire and form (JSON or stream) of the request that gets it. */
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import type { RecordedRequest } from './RecordedRequest';

/** Where in an answer a fault strikes: before its headers, or after so much of its body. */
export type FaultPoint = 'nothing' | { readonly bytes: number } | { readonly events: number };

export type Fault =
  /** `reset` breaks the connection, `stall` goes silent and keeps it. Default point: after the headers. */
  | { readonly kind: 'reset' | 'stall'; readonly after?: FaultPoint }
  /** Ends as if all were well, too early. Default point: half of the body. */
  | { readonly kind: 'truncate'; readonly after?: FaultPoint }
  /** Defaults: 16 bytes each 2 milliseconds. */
  | { readonly kind: 'slow'; readonly chunkBytes?: number; readonly delayMs?: number }
  /** A proxy's page instead of the answer. Default status 200. */
  | { readonly kind: 'html'; readonly status?: number }
  /** The connection is reset before a byte of the answer, at accept where the reply is for any vendor. */
  | { readonly kind: 'refuse-connection' }
  /** All events but the last one, then a clean close. */
  | { readonly kind: 'close-without-end-marker' }
  /** Only SSE comments after the point (default: from the start), until the client leaves. */
  | { readonly kind: 'comments-only'; readonly after?: FaultPoint; readonly everyMs?: number };

interface ReplyBase {
  /** Only requests to this vendor get the reply. */
  readonly vendor?: VendorName;
  readonly fault?: Fault;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ScriptedCall {
  readonly name: string;
  /** A string is sent as it is, everything else as JSON. */
  readonly arguments?: unknown;
  /** Default: a new id in the vendor's form. */
  readonly id?: string;
}

/**
 * An answer of the model. Without any content of its own the rule model speaks, so that a fault can strike its
 * answer.
 */
export interface ScriptedAnswer extends ReplyBase {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly reasoning?: string;
  /** The reasoning comes encrypted only (Anthropic's `redacted_thinking`). */
  readonly redacted?: boolean;
  readonly refusal?: string;
  readonly incomplete?: 'max_output_tokens' | 'content_filter';
  /** The vendor fails while it answers: an error event in a stream, an error body otherwise. */
  readonly failed?: { readonly message: string; readonly code?: string };
  /** Default: counted from the texts. */
  readonly usage?: {
    readonly input?: number;
    readonly cached?: number;
    readonly output?: number;
    readonly reasoning?: number;
  };
}

export interface ScriptedStatus extends ReplyBase {
  readonly status: number;
  /** A string is sent as plain text, everything else as JSON. */
  readonly body: unknown;
}

export interface ScriptedRaw extends ReplyBase {
  readonly raw: string | Buffer;
  readonly status?: number;
}

export type FixedReply = ScriptedAnswer | ScriptedStatus | ScriptedRaw;
export type ReplyFunction = (request: RecordedRequest) => FixedReply | Promise<FixedReply>;
export type ScriptedReply = FixedReply | ReplyFunction;

export function isRaw(reply: FixedReply): reply is ScriptedRaw {
  return 'raw' in reply;
}

export function isStatus(reply: FixedReply): reply is ScriptedStatus {
  return 'body' in reply;
}
