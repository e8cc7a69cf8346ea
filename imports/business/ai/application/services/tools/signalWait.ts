/** What a call of a tool of the kind `signal` waits for, by its arguments. */
import { ToolError } from '../../../domain/errors/LLMErrors';
import { isObject } from '../../../domain/util/json';
import { DECISION_LIFETIME_MS } from './decisions';

export interface SignalWait {
  readonly name: string;
  readonly timeoutMs: number;
}

/** Characters. */
export const MAX_SIGNAL_NAME = 128;
/** 400 days. */
const MAX_WAIT_SECONDS = 400 * 86_400;

/**
 * @param defaultMs of the tool. Default: 24 hours
 * @throws ToolError `invalid-arguments`
 */
export function signalWait(args: unknown, defaultMs = DECISION_LIFETIME_MS): SignalWait {
  const { signal, timeoutSeconds } = isObject(args) ? args : {};
  if (typeof signal !== 'string' || signal === '' || signal.length > MAX_SIGNAL_NAME)
    throw new ToolError('invalid-arguments', `Name the "signal" in 1 to ${MAX_SIGNAL_NAME} characters.`);
  if (timeoutSeconds === undefined || timeoutSeconds === null) return { name: signal, timeoutMs: defaultMs };
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds >= 0 && timeoutSeconds <= MAX_WAIT_SECONDS))
    throw new ToolError('invalid-arguments', `"timeoutSeconds" must be a number from 0 to ${MAX_WAIT_SECONDS}.`);
  return { name: signal, timeoutMs: timeoutSeconds * 1_000 };
}
