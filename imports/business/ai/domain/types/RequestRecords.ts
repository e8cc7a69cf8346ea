/** The request log: one entry per model call through the manager, retries and fallbacks included. */
import type { GuardrailAnnotation } from './GuardrailAnnotation';
import type { ErrorCode } from '../errors/LLMErrors';
import type { FailedAttempt, LLMResponse, Usage } from './ResponsesAPITypes';
import type { JsonObject, WireName } from './VendorTypes';

/** Who makes a call: a client of the gateway, a run, a run that a job or the queue started, or the app's own code. */
export type RequestSource = 'gateway' | 'run' | 'job' | 'manager';
export const REQUEST_SOURCES: readonly RequestSource[] = ['gateway', 'run', 'job', 'manager'];

/** How a call ended. `cancelled` includes streams that their consumer left. */
export type RequestState = 'completed' | 'incomplete' | 'failed' | 'cancelled';
export const REQUEST_STATES: readonly RequestState[] = ['completed', 'incomplete', 'failed', 'cancelled'];

/** Where a call comes from, as the caller knows it. */
export interface CallOrigin {
  readonly source: RequestSource;
  /** The API that the client used, such as `responses`, `chat_completions`, `ai_sdk` or `ag_ui`. */
  readonly api?: string;
  /** The API token that the client presented. */
  readonly tokenId?: string;
  readonly tokenName?: string;
  /** The team that the token belonged to. */
  readonly team?: string;
  /** The run, and its turn: 1 is the first. */
  readonly executionId?: string;
  readonly iteration?: number;
  /** The model as the client named it, if the gateway sends another name to the manager. */
  readonly requestedModel?: string;
  /** The `x-request-id` of our HTTP response. */
  readonly httpRequestId?: string;
  /** Someone outside asks: with a shared key, only the vendor's objects that the user made may be named. Not logged. */
  readonly ownObjectsOnly?: true;
}

export interface LoggedAttempt extends FailedAttempt {
  /** Milliseconds after the start of the call. */
  readonly at: number;
}

/** One call, once it has ended. */
export interface RequestEntry extends Omit<CallOrigin, 'ownObjectsOnly'> {
  /** The start of the call, in milliseconds since the epoch. */
  readonly at: number;
  readonly userId: string;
  /** The routing rule that chose the provider and model. */
  readonly route?: string;
  readonly isStream: boolean;
  /** The provider that served the request, that failed last, or that a refused request was for. */
  readonly providerId?: string;
  /** The model that responded, as the vendor names it; for a failed call, the one that was called. */
  readonly model?: string;
  readonly state: RequestState;
  /** HTTP status: the vendor's if it responded with an error, otherwise the one that a gateway's client received. */
  readonly status?: number;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** The vendor's own finish reason, verbatim. */
  readonly finishReason?: string;
  /** Answered with a stored response of an earlier call: nothing was used and nothing has been paid. */
  readonly cached?: true;
  /** What failed before the last attempt, oldest first. */
  readonly attempts: readonly LoggedAttempt[];
  /** Milliseconds from the start of the call to the first piece of a streamed response's content. */
  readonly timeToFirstToken?: number;
  /** Milliseconds, retries included. */
  readonly duration: number;
  /** Includes responses that were received and discarded before another attempt. */
  readonly usage: Usage;
  /** US dollars, as far as they are known. */
  readonly cost?: number;
  /** Why the cost, or a part of it, is unknown. */
  readonly unpriced?: string;
  /** What guardrails did, in order. */
  readonly annotations?: readonly GuardrailAnnotation[];
  /** The vendor's id of the request. */
  readonly vendorRequestId?: string;
  readonly responseId?: string;
  /** What was sent differently than requested, and what was left out. */
  readonly warnings?: readonly string[];
  /** What the prompt of a run's turn begins with. */
  readonly prompt?: PromptHashes;
}

/** Equal for prompts that begin with the same tools and instructions. */
export interface PromptHashes {
  readonly tools: string;
  readonly instructions: string;
}

/** What one attempt sent to a vendor and has received so far, as on the wire. Headers are left out. */
export interface VendorExchange {
  readonly providerId: string;
  readonly wire: WireName;
  /** The body that was sent. */
  readonly request: JsonObject;
  /** The HTTP status; undefined until the response begins, and if there is none. */
  readonly status: number | undefined;
  /** The body that was received, as far as it has been read: JSON, a list of a stream's events, or text. */
  readonly response: unknown;
}

/** The bodies of a call. Only logged if the operator enables it. */
export interface RequestBodies {
  /** The request in Bolide's own format: input items, instructions, tools and options. */
  readonly request: object;
  readonly response?: LLMResponse;
  /** The last attempts, oldest first. Absent for a call that was refused before it was sent. */
  readonly exchanges?: readonly VendorExchange[];
}

/** A stored entry. */
export interface RequestView extends RequestEntry {
  readonly _id: string;
  /** `duration` and `timeToFirstToken` as logarithmic buckets: see `entities/latencyBuckets`. */
  readonly durationBucket: number;
  readonly timeToFirstTokenBucket?: number;
  /** The bodies were logged. They expire sooner than the entry. */
  readonly hasBodies?: boolean;
}

/** The bodies as they are stored: JSON, bounded in size, with secrets masked. */
export interface RequestBodiesView {
  readonly request: string;
  readonly response?: string;
  /** What was sent to vendors and received, oldest first. */
  readonly exchanges?: readonly VendorExchangeView[];
}

export interface VendorExchangeView {
  readonly providerId: string;
  readonly wire: WireName;
  readonly status?: number;
  readonly request: string;
  readonly response?: string;
}
