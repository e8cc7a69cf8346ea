/**
 * The JSON text of a call's arguments. The AI SDK parses it, so a text that is not what `JSON.stringify` writes is
 * carried next to the call: vendors sign and cache calls as the model wrote them.
 */
import { readJson } from '../../../business/ai/domain/util/json';

/** The text to carry; `undefined` if it can be written again from the parsed value. */
export function argumentsToCarry(text: string): string | undefined {
  return rewritten(text) === text ? undefined : text;
}

/**
 * The text for a call of a prompt.
 * @param input the arguments, which the application may have changed since
 * @param carried the text that `argumentsToCarry` returned for the call
 */
export function argumentsOf(input: unknown, carried: unknown): string {
  const text = JSON.stringify(input ?? {});
  if (typeof carried !== 'string') return text;
  const original = rewritten(carried);
  // For a text that is not JSON, the AI SDK has an empty object or the text itself.
  const isUnchanged = original === undefined ? text === '{}' || input === carried : original === text;
  return isUnchanged ? carried : text;
}

function rewritten(text: string): string | undefined {
  const value = readJson(text);
  return value === undefined ? undefined : JSON.stringify(value);
}
