/** What a person, or another service, does about a call that waits for it. */
export type Decision =
  | { readonly kind: 'approve' }
  | { readonly kind: 'reject'; readonly reason: string }
  /** @param startTime names the attempt whose outcome is unknown */
  | { readonly kind: 'rerun'; readonly startTime: number }
  | { readonly kind: 'submit'; readonly output: string };
