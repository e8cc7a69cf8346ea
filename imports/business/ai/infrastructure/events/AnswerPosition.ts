/**
 * How much of an answer a subscriber has, written so that every process understands it: the message's id, and the
 * number and a hash of the characters. The hash tells whether another process has the same beginning of the answer.
 */

export interface AnswerPosition {
  /** The id of the message. */
  readonly answer: string;
  /** UTF-16 code units; `end` after the end of the answer. */
  readonly length: number | 'end';
  readonly hash: number;
}

/** FNV-1a. http://www.isthe.com/chongo/tech/comp/fnv/ */
const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** @param hash of the text before */
export function hashText(text: string, hash: number = OFFSET_BASIS): number {
  let value = hash;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), PRIME) >>> 0;
  return value;
}

export function writePosition({ answer, length, hash }: AnswerPosition): string {
  return `${length}.${hash.toString(36)}.${encodeURIComponent(answer)}`;
}

/** The position in an event id, which is after its `~`. @returns undefined for other ids */
export function positionIn(eventId: string | undefined): AnswerPosition | undefined {
  return readPosition(eventId?.replace(/^[^~]*~/, '') ?? '');
}

function readPosition(text: string): AnswerPosition | undefined {
  const [, length, hash = '', answer = ''] = /^(\d{1,15}|end)\.([0-9a-z]{1,7})\.([!-~]{1,400})$/.exec(text) ?? [];
  if (length === undefined) return undefined;
  try {
    return {
      answer: decodeURIComponent(answer),
      length: length === 'end' ? length : Number(length),
      hash: parseInt(hash, 36),
    };
  } catch {
    // Not written by `writePosition`.
    return undefined;
  }
}
