/**
 * A request that the vendor would refuse, in words that are the same for every vendor; `errorBody` gives them the
 * vendor's shape.
 */

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** The field that is wrong, as the vendor names it. */
  readonly param?: string;
  readonly code?: string;
  /** The vendor's error type where it isn't the one of its invalid requests. */
  readonly type?: string;
}

export type Rule<Facts> = (facts: Facts) => Refusal | undefined;

export function refuse(message: string, more: Omit<Partial<Refusal>, 'message'> = {}): Refusal {
  return { status: 400, message, ...more };
}

/** What the first rule that objects says. */
export function firstRefusal<Facts>(rules: readonly Rule<Facts>[], facts: Facts): Refusal | undefined {
  for (const rule of rules) {
    const refusal = rule(facts);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
