/** What people and other services decide about tool calls. */

export type Approval = { readonly approved: true } | { readonly approved: false; readonly reason: string };

/** The result of a call that no tool of this process produced. */
export type ExternalResult = { readonly output: unknown } | { readonly error: string };

/** What to do about a call that was interrupted while it ran: run it again, don't, or take this as its result. */
export type Review = Approval | ExternalResult;

/** How long an approval, a review or an external result is waited for, in milliseconds. */
export const DECISION_LIFETIME_MS = 24 * 60 * 60 * 1000;
