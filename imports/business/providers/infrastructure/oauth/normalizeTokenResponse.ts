/**
 * Token endpoints say odd things beside their tokens: `null` for what is not there, times that are none. The
 * library refuses such an answer as a whole, and the refresh token that was shown for it would be used up for
 * nothing; so they are taken for not said.
 */
import { isObject } from '../../../ai/domain/json';

/** A hundred years, in seconds: whoever promises more means that the token does not end. */
const LONGEST_LIFE = 100 * 365 * 24 * 3600;

/** RFC 6749, 5.1: all of these are optional. */
const OPTIONAL = ['expires_in', 'refresh_token', 'scope'] as const;

/** @returns the text itself where there is nothing odd in it, and where it is no object of JSON */
export function normalizeTokenResponse(text: string): string {
  const body = parsed(text);
  if (!isObject(body)) return text;
  const odd = OPTIONAL.filter(
    (name) => name in body && (isEmpty(body[name]) || (name === 'expires_in' && !isLife(body[name]))),
  );
  if (odd.length === 0) return text;
  return JSON.stringify(
    Object.fromEntries(Object.entries(body).filter(([name]) => !odd.some((each) => each === name))),
  );
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '';
}

/** Some servers write numbers as texts. */
function isLife(value: unknown): boolean {
  const seconds = typeof value === 'string' ? Number.parseFloat(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= LONGEST_LIFE;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
