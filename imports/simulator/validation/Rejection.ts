/** Why the vendor would reject a request. `createErrorBody` formats it for the vendor. */

export interface Rejection {
  readonly status: number;
  readonly message: string;
  /** The invalid field, as the vendor names it. */
  readonly param?: string;
  readonly code?: string;
  /** The vendor's error type, if it isn't the one for invalid requests. */
  readonly type?: string;
}

export type Rule<Context> = (context: Context) => Rejection | undefined;

export function reject(message: string, fields: Omit<Partial<Rejection>, 'message'> = {}): Rejection {
  return { status: 400, message, ...fields };
}

/** The rejection of the first rule that is violated. */
export function firstRejection<Context>(rules: readonly Rule<Context>[], context: Context): Rejection | undefined {
  for (const rule of rules) {
    const rejection = rule(context);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}
