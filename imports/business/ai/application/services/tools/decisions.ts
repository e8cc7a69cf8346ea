/** What people and other services decide about tool calls. */

export type Approval = { readonly approved: true } | { readonly approved: false; readonly reason: string };

/** What a person was shown of the call: a decision covers this and nothing else. */
export interface ShownCall {
  /** SHA-256 of the arguments. Absent: not checked. */
  readonly argumentsHash?: string | undefined;
  /** When the attempt with an unknown outcome began, for a call under review. Absent if the call had not started. */
  readonly startTime?: number | undefined;
  /** The id of what the call's tool asks. Absent: it has asked nothing before, and nobody was asked about the call. */
  readonly inputId?: string | undefined;
}

/** The result of a call that no tool of this process produced. */
export type ExternalResult = { readonly output: unknown } | { readonly error: string };

/** What to do about a call that was interrupted while it ran: run it again, don't, or take this as its result. */
export type Review = Approval | ExternalResult;

/** How long an approval, a review or an external result is waited for, in milliseconds. */
export const DECISION_LIFETIME_MS = 24 * 60 * 60 * 1000;
