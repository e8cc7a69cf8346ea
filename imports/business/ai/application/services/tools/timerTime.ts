/** When a call of a timer tool completes, by its arguments. */
import { ToolError } from '../../../domain/errors/LLMErrors';
import { isObject } from '../../../domain/util/json';

/** 400 days. */
const MAX_WAIT_MS = 400 * 86_400_000;

/**
 * @param now the start of the wait, in milliseconds since the epoch
 * @returns milliseconds since the epoch
 * @throws ToolError `invalid-arguments`
 */
export function timeNamedBy(args: unknown, now: number): number {
  const { until, seconds } = isObject(args) ? args : {};
  const time = typeof until === 'string' ? Date.parse(until) : typeof seconds === 'number' ? now + seconds * 1000 : NaN;
  if (Number.isFinite(time) && time - now <= MAX_WAIT_MS) return time;
  throw new ToolError(
    'invalid-arguments',
    'Name the end of the wait, at most 400 days from now: "until" in ISO 8601, or "seconds".',
  );
}
