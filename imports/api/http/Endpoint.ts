/** One method of a path: an entry in the tables of routes. */
import type { Scope } from '../auth/ApiPrincipal';
import type { RouteDescription } from '../openapi/RouteDescription';
import type { RouteOptions } from './createRoute';
import type { RouteHandler } from './RequestContext';

export interface Endpoint {
  readonly method: 'get' | 'post' | 'delete';
  readonly handler: RouteHandler;
  readonly scope?: Scope;
  /** Default: true for POST, except for paths that end in `/cancel`. */
  readonly readsBody?: boolean;
  /** The largest body, if it is smaller than elsewhere. */
  readonly maxBodyBytes?: number;
  /** The most values of a body, if they are more than elsewhere. */
  readonly maxJsonValues?: number;
  /** Refuses requests by their headers, before the body is read. @throws what the client gets */
  readonly admit?: RouteOptions['admit'] & {};
  /** What a request holds of its user's limits. Default: a call; nothing, if the method or path ends something. */
  readonly holds?: RouteOptions['holds'] & {};
  readonly authenticate?: RouteOptions['authenticate'] & {};
  readonly challenge?: RouteOptions['challenge'] & {};
  /** The body is stored, and counts towards the caller's storage. */
  readonly stores?: true;
  /** Continues while the data of its user is deleted. */
  readonly isUncancellable?: true;
  /** Answers while the server shuts down, too. */
  readonly answersWhileClosing?: true;
  /** Requests that fail before they call a model are entries of the request log. */
  readonly isLogged?: true;
  /** Belongs to the server's own pages: pages of other origins get no access. */
  readonly isOwnPage?: true;
  /** The API that such an entry names. Default: that of the route. */
  readonly loggedApi?: string;
  /** What the OpenAPI document says of it. Default: what its tables say. */
  readonly describe?: () => RouteDescription;
}

/** Adds a path's endpoints; other methods get 405. @param name the path in metrics */
export type AddEndpoint = (
  api: RouteOptions['api'],
  path: string | RegExp,
  name: string,
  ...endpoints: readonly Endpoint[]
) => void;
