import { randomHex } from './randomHex';

/**
 * `req_` and 24 hexadecimal digits: twelve of the time in milliseconds, so that indexes of stored ids grow at their
 * end, and twelve random ones.
 */
export function createRequestId(): string {
  return `req_${Date.now().toString(16).padStart(12, '0')}${randomHex(6)}`;
}
