/** One request that was let in, and what its handler needs to answer it. */
import type { Request, Response } from 'express';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import type { ApiName } from './errorResponse';

export interface RequestContext {
  readonly actor: ApiPrincipal;
  readonly request: Request;
  readonly response: Response;
  /** Fires when the client leaves, and when a server that stops can wait no longer. */
  readonly signal: AbortSignal;
  readonly hasLeft: () => boolean;
  readonly requestId: string;
  /** What becomes known on the way. */
  readonly facts: ExchangeFacts;
}

export interface ExchangeFacts {
  /** Whom it was asked of. */
  provider?: string;
  /** The vendor behind speaks the client's API. */
  isSameApi?: boolean;
}

export interface RouteDoor {
  /** The API whose shape errors have. */
  readonly api: ApiName;
  /** As it stands in metrics. */
  readonly name: string;
}

export type ExchangeHandler = (exchange: RequestContext) => Promise<void>;
