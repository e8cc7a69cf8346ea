/** What of a collection's documents is content, and whose. */
export interface ContentRule {
  /** Paths of content; `*` stands for every field of an object. Nothing selects, sorts or groups by them. */
  readonly content: readonly string[];
  /** The field with the owner's id, or the one that names a run, whose owner it is; `host` for what is no user's. */
  readonly owner: { readonly field: string } | { readonly run: string } | 'host';
}

/** By the collection's name; null for a collection without content. */
export type ContentRules = Readonly<Record<string, ContentRule | null>>;
