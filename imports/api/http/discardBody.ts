/** Discards what has not been read of a request's body, so that its client can read the response, within bounds. */
import type { IncomingMessage } from 'node:http';

/** Enough for the usual prompts of clients that read no response before they have sent everything. */
const MAX_DISCARDED_BYTES = 1024 * 1024;
const MAX_TIME_MS = 10_000;

/** A client that sends more, or takes longer, is disconnected. */
export function discardBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let discarded = 0;
  const timer = setTimeout(() => request.destroy(), MAX_TIME_MS);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.resume();
}
