/**
 * Removes invalid optional fields, such as `null` or impossible lifetimes, from token responses. The library would
 * reject the entire response, and the rotating refresh token that was sent for it would be lost.
 */
import { isObject, readJson } from '../../../ai/domain/util/json';

/** A hundred years. A longer lifetime means that the token does not expire. */
const MAX_LIFETIME_SECONDS = 100 * 365 * 24 * 3600;

/** RFC 6749, 5.1: all of these are optional. */
const OPTIONAL = ['expires_in', 'refresh_token', 'scope'] as const;

/** @param text the response's body @returns the same text if there is nothing to remove or it is not a JSON object */
export function normalizeTokenResponse(text: string): string {
  const body = readJson(text);
  if (!isObject(body)) return text;
  const invalid = OPTIONAL.filter(
    (name) => name in body && (isEmpty(body[name]) || (name === 'expires_in' && !isLifetime(body[name]))),
  );
  if (invalid.length === 0) return text;
  return JSON.stringify(
    Object.fromEntries(Object.entries(body).filter(([name]) => !invalid.some((each) => each === name))),
  );
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '';
}

/** Some servers send numbers as strings. */
function isLifetime(value: unknown): boolean {
  const seconds = typeof value === 'string' ? Number.parseFloat(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= MAX_LIFETIME_SECONDS;
}
