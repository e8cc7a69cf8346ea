/** How the tables of paths say what is answered where. */
import type { Scope } from '../auth/ApiPrincipal';
import type { ApiName } from './errorResponse';
import type { ExchangeHandler } from './RequestContext';

export interface Endpoint {
  readonly method: 'get' | 'post' | 'delete';
  readonly handler: ExchangeHandler;
  readonly scope?: Scope;
  /** Default: what is posted, but for cancellations. */
  readonly readsBody?: boolean;
}

/** Adds what answers a path; everything else that is asked of it is refused with 405. */
export type AddEndpoint = (
  api: ApiName,
  path: string | RegExp,
  name: string,
  ...endpoints: readonly Endpoint[]
) => void;
