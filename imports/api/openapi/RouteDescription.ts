/** What the OpenAPI document states of a route beyond its registration: its purpose, parameters and bodies. */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';

export type Schema = JsonObject;

export interface RouteDescription {
  /** What a request does, in a few words. */
  readonly summary: string;
  readonly description?: string;
  /** The group of routes that it belongs to. */
  readonly tag?: string;
  /** The path as a template, where the name of the route is none. */
  readonly path?: string;
  /** Parameters in the path that are no plain text, by name. */
  readonly parameters?: Readonly<Record<string, Schema>>;
  /** Optional parameters in the query, by name. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Parameters in the query that are required, by name. */
  readonly requiredQuery?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  /** A valid body. */
  readonly example?: JsonObject;
  /** Default 200. */
  readonly status?: number;
  readonly result?: Schema;
  /** The types of the content instead of JSON. */
  readonly content?: readonly string[];
  /** Responds with server-sent events, always or if the request asks for a stream. */
  readonly streams?: 'always' | 'on-request';
}

/** Descriptions by method and name of the route, such as `GET /runs/:executionId`. */
export type RouteDescriptions = Readonly<Record<string, RouteDescription>>;
