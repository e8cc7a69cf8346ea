/** What calls of Meteor's methods and publications have in common, when a tool makes them and no client does. */
import { ToolError } from '../../domain/errors/LLMErrors';

/** The part of `Meteor` that this needs. */
export interface MeteorCalls {
  readonly Error: abstract new (...args: never[]) => Error;
  /** Writes to the server's log. Missing from the published types. */
  _debug?(...lines: readonly unknown[]): void;
}

/** What the server itself calls of DDPRateLimiter; missing from the published types. */
export interface RateCounter {
  readonly _increment?: (event: RateEvent) => void;
  readonly _check?: (event: RateEvent) => RateResult;
  readonly getErrorMessage?: (result: RateResult) => string;
}

interface RateEvent {
  readonly type: 'method' | 'subscription';
  readonly name: string;
  readonly userId: string | null;
  readonly connectionId: string;
  readonly clientAddress: string;
}

interface RateResult {
  readonly allowed: boolean;
  readonly timeToReset: number;
}

/** An error that clients may see: a `Meteor.Error`, or one that says that it is as harmless. */
interface ClientSafeError {
  readonly isClientSafe?: boolean;
  readonly error?: unknown;
  readonly reason?: string | undefined;
  readonly details?: unknown;
  /** What clients may see of an error that they may not. */
  readonly sanitizedError?: ClientSafeError | undefined;
}

const MAX_DETAILS = 2_000;

/**
 * Counts a call in the rules of the app's DDPRateLimiter. Meteor applies them to calls of clients only; those of tools
 * have clients behind them, too. All that run for a user count as one connection from one address.
 * @throws ToolError `threw`
 */
export function countCall(
  limiter: RateCounter | undefined,
  { type, name, userId }: Pick<RateEvent, 'type' | 'name' | 'userId'>,
): void {
  if (limiter?._increment === undefined || limiter._check === undefined) return;
  const connection = `bolide:${userId ?? ''}`;
  const event = { type, name, userId, connectionId: connection, clientAddress: connection };
  limiter._increment(event);
  const result = limiter._check(event);
  if (result.allowed) return;
  const reason = limiter.getErrorMessage?.(result) ?? 'Too many requests.';
  throw new ToolError('threw', `${reason} [too-many-requests]`);
}

/**
 * Reports an error as Meteor reports it to clients: a `Meteor.Error` with its code, reason and details, the sanitized
 * form of another one that has it, and "Internal server error" for the rest, which goes to the server's log
 * (packages/ddp-server/livedata_server.js, `wrapInternalException`).
 * @param context what was done, such as "while invoking method 'orders.cancel'"
 */
export function toToolError(error: unknown, Meteor: MeteorCalls, context: string): ToolError {
  if (error instanceof ToolError) return error;
  const { isClientSafe, sanitizedError } = (error ?? {}) as ClientSafeError;
  const isOwn = error instanceof Meteor.Error || isClientSafe === true;
  if (!isOwn) Meteor._debug?.(`Exception ${context}`, error instanceof Error ? error.stack : error);
  const sanitized = sanitizedError?.isClientSafe === true ? sanitizedError : undefined;
  const visible = isOwn ? (error as ClientSafeError) : sanitized;
  return new ToolError('threw', visible === undefined ? 'Internal server error [500]' : textOf(visible), {
    cause: error,
  });
}

function textOf({ error: code, reason, details }: ClientSafeError): string {
  const text = [reason, `[${String(code)}]`].filter((part) => part !== undefined && part !== '').join(' ');
  const shown = details === undefined ? '' : JSON.stringify(details);
  return shown === '' || shown.length > MAX_DETAILS ? text : `${text} ${shown}`;
}
