/** Random values of a flow: states, tickets, PKCE verifiers, and the cookie value that binds a flow to its browser. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { LLMInvalidRequestError } from '../../../ai/domain/errors/LLMErrors';

/** 256 bits in base64url, which is also a valid PKCE verifier. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

export function isToken(value: string): boolean {
  return /^[\w-]{43}$/.test(value);
}

/** In characters of base64url: 128 bits. */
export const MIN_BINDING_LENGTH = 22;

/** Whether a value is long enough to bind a flow to a browser without being guessable. */
export function isBinding(value: string): boolean {
  return /^[\w-]{22,128}$/.test(value);
}

/** @throws LLMInvalidRequestError */
export function assertBinding(value: string): void {
  if (!isBinding(value))
    throw new LLMInvalidRequestError(`"binding" must be ${MIN_BINDING_LENGTH} to 128 characters of base64url.`, {
      path: 'binding',
    });
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export function isSameHash(left: string, right: string | undefined): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right ?? '')];
  return a.length === b.length && timingSafeEqual(a, b);
}
