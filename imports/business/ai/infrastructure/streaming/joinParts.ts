/** Parts of a message's content that arrive in pieces, put together as an answer without streaming has them. */
import { isList, isObject } from '../../domain/json';
import type { JsonObject } from '../../domain/types/VendorTypes';

/**
 * Neighbouring texts are one text, neighbouring thoughts one thought; all other parts stand alone. Empty texts are
 * no parts.
 */
export function joinParts(known: readonly unknown[], arriving: readonly unknown[]): unknown[] {
  const parts = [...known];
  for (const part of arriving) {
    if (isPlainText(part) && part.text === '') continue;
    const joined = joinedWith(parts.at(-1), part);
    if (joined === undefined) parts.push(part);
    else parts[parts.length - 1] = joined;
  }
  return parts;
}

function joinedWith(last: unknown, part: unknown): JsonObject | undefined {
  if (isPlainText(last) && isPlainText(part)) return { type: 'text', text: last.text + part.text };
  if (isThought(last) && isThought(part))
    return { ...last, ...part, thinking: joinParts(last.thinking, part.thinking) };
  return undefined;
}

function isPlainText(part: unknown): part is { readonly type: 'text'; readonly text: string } {
  return isObject(part) && part.type === 'text' && typeof part.text === 'string' && Object.keys(part).length === 2;
}

/** https://docs.mistral.ai/capabilities/reasoning */
function isThought(part: unknown): part is JsonObject & { readonly thinking: readonly unknown[] } {
  return isObject(part) && part.type === 'thinking' && isList(part.thinking);
}
