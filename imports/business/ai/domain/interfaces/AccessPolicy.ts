/** Decides who may use which provider, model and tools, and how much. Use cases and the HTTP API consult one policy. */
import type { Actor } from '../types/Actor';

export interface RequestedUse {
  readonly providerId: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  /** Names of the server's tools. */
  readonly tools: readonly string[];
  /** Tools that run at the vendor, such as `web_search`. Absent: none. */
  readonly hostedTools?: readonly string[];
}

export type Permission =
  | {
      readonly allowed: true;
      /** What one request may spend; `money` in US dollars. */
      readonly budget?: { readonly calls?: number; readonly tokens?: number; readonly money?: number };
    }
  | { readonly allowed: false; /** Safe to show to the actor. */ readonly reason: string };

export interface AccessPolicy {
  /** An error permits nothing. */
  decide(actor: Actor, use: RequestedUse): Promise<Permission>;
  /**
   * The providers among `providerIds` that the actor may use at all, for lists and for routing by model. The provider
   * directory was refreshed just before. Default: those that `decide` allows without a model and tools.
   */
  permittedProviders?(actor: Actor, providerIds: readonly string[]): Promise<readonly string[]>;
  /**
   * Why the actor may not use one of the server's tools, safe to show to the actor; undefined if they may. Asked before
   * each call of a run that somebody outside started, since a right may be withdrawn while the run goes on, and where
   * all tools are offered. An error permits nothing. Default: what `decide` has permitted stays permitted.
   */
  refusalOfTool?(actor: Actor, tool: string): Promise<string | undefined>;
  /**
   * Whether a user who has started runs no longer exists, so that these are ended. Asked when a run is recovered, and
   * before each of its turns. Default: users are never removed.
   */
  isRemoved?(userId: string): Promise<boolean>;
}
