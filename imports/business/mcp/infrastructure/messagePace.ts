/**
 * Bounds the messages that are read from a server: notifications cost the process more than the server that sends them.
 */

const MAX_MESSAGES_PER_SECOND = 1_000;
const SECOND_MS = 1_000;
const LINE_FEED = 10;

/**
 * @param linesPerMessage the fewest
 * @returns tells, for each chunk that was read, how many milliseconds to wait before the next
 */
export function messagePace(linesPerMessage: number): (chunk: Uint8Array) => number {
  let startedAt = performance.now();
  let messages = 0;
  return (chunk) => {
    const now = performance.now();
    if (now - startedAt >= SECOND_MS) {
      startedAt = now;
      messages = 0;
    }
    for (const byte of chunk) if (byte === LINE_FEED) messages += 1 / linesPerMessage;
    return messages < MAX_MESSAGES_PER_SECOND ? 0 : startedAt + SECOND_MS - now;
  };
}
