/** Who may use which provider, model and tools, and how much. */
import type { Actor } from '../types/Actor';

export interface WantedUse {
  readonly providerId: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  /** Names. */
  readonly tools: readonly string[];
}

export type Permission =
  | {
      readonly allowed: true;
      /** What one request may spend; `money` in US dollars. */
      readonly budget?: { readonly calls?: number; readonly tokens?: number; readonly money?: number };
    }
  | { readonly allowed: false; /** Safe to show. */ readonly reason: string };

export interface AccessPolicy {
  /** What throws is no permission. */
  decide(actor: Actor, wanted: WantedUse): Promise<Permission>;
}
