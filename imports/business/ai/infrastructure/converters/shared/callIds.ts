/** Call ids that another vendor made, written so that the target's rule accepts them. */

export interface CallIdRule {
  /** Matches an id that needs no change. */
  readonly pattern: RegExp;
  readonly maxLength: number;
}

/**
 * The id itself where the rule accepts it, else a valid id that depends on nothing but `id`: a call and its answer
 * get the same one. Distinct ids stay distinct.
 */
export function toCallId(id: string, rule: CallIdRule): string {
  if (id.length > 0 && id.length <= rule.maxLength && rule.pattern.test(id)) return id;
  const readable = id.replace(/[^a-zA-Z0-9]/g, '').slice(0, Math.max(0, Math.min(20, rule.maxLength - 14)));
  return `${readable}${fingerprint(id)}`.slice(-rule.maxLength);
}

/**
 * 14 letters of two independent 32-bit FNV-1a hashes (http://www.isthe.com/chongo/tech/comp/fnv/), enough for the
 * calls of one conversation.
 */
function fingerprint(text: string): string {
  return `${hash(text, 0x811c9dc5)}${hash(text, 0x9747b28c)}`;
}

function hash(text: string, seed: number): string {
  let value = seed;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return (value >>> 0).toString(36).padStart(7, '0');
}
