/**
 * The requests and responses of the API's routes. Those of Express have these members, so the API can be mounted in an
 * app of Express, such as Meteor's; `createHttpServer` makes those of a server without Express.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface HttpRequest extends IncomingMessage {
  method: string;
  /** The target, without the path at which the router is mounted. */
  url: string;
  /** Undefined until the body has been read. */
  body?: unknown;
  /** The values of the names in the route's path, decoded. */
  params: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The path of `url`. */
  readonly path: string;
  /** The path at which the router is mounted. */
  readonly baseUrl: string;
  /** The target as the client sent it. */
  readonly originalUrl: string;
  readonly protocol: string;
  /** A field that is repeated is a list. */
  readonly query: Readonly<Record<string, unknown>>;
}

export interface HttpResponse extends ServerResponse {
  status(code: number): this;
  set(headers: OutgoingHttpHeaders): this;
  set(name: string, value: string | readonly string[]): this;
  /** Ends the response. Its `content-type` has to be set. */
  send(body: string | Uint8Array): this;
  /** Ends the response. */
  json(body: unknown): this;
}

export type Next = (error?: unknown) => void;

export type HttpHandler = (request: HttpRequest, response: HttpResponse, next: Next) => void;

/** Routers tell it from a handler by its four parameters. */
export type HttpErrorHandler = (error: unknown, request: HttpRequest, response: HttpResponse, next: Next) => void;
