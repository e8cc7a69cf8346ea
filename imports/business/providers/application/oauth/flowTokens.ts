/** The random values that hold a flow together: states, tickets, verifiers, and what binds a flow to its browser. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 bits, as PKCE's verifier wants them spelled. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

export function isToken(value: string): boolean {
  return /^[\w-]{43}$/.test(value);
}

/** In characters: 128 bits. */
export const MIN_BINDING_LENGTH = 22;

/** Whether a value may bind a flow to a browser: long enough not to be guessed. */
export function isBinding(value: string): boolean {
  return /^[\w-]{22,128}$/.test(value);
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export function isSameHash(left: string, right: string | undefined): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right ?? '')];
  return a.length === b.length && timingSafeEqual(a, b);
}
