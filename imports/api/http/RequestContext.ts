/** What a handler needs to handle one request. */
import type { HttpRequest, HttpResponse } from './HttpMessages';
import type { RateLimitState } from '../../business/ai/domain/types/ApiTokenLimits';
import type { ApiPrincipal } from '../auth/ApiPrincipal';

export interface RequestContext {
  readonly principal: ApiPrincipal;
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Fires when the client disconnects, and when the grace period of a shutdown ends. */
  readonly signal: AbortSignal;
  readonly hasLeft: () => boolean;
  readonly requestId: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Filled in by the handler, for metrics and error responses. */
  readonly details: RequestDetails;
}

export interface RequestDetails {
  /** The id of the provider that the request was routed to. */
  provider?: string;
  /** The provider speaks the client's API. */
  isSameApi?: boolean;
  /** The model as the client named it. */
  model?: string;
  /** What is left of the rates of the caller's API token, if it has any. */
  rateLimits?: RateLimitState;
  /** Resolves when what the request has started has ended: until then, it takes the place of a request of its token. */
  continues?: Promise<void>;
  /** A model call was started, which the manager logs. */
  isCalled?: true;
  /** Set once a failed call was repeated here: pauses up to this many milliseconds are not left to the client. */
  retriedWithinMs?: number;
}

export type RouteHandler = (context: RequestContext) => Promise<void>;
