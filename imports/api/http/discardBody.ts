/**
 * Discards what has not been read of a request's body, within bounds: many clients read no response before they have
 * sent everything.
 */
import type { IncomingMessage } from 'node:http';

export interface DiscardLimits {
  readonly maxBytes: number;
  readonly maxTimeMs: number;
}

/** Enough for the usual prompts. */
const FOR_ANYONE: DiscardLimits = { maxBytes: 1024 * 1024, maxTimeMs: 10_000 };

/** A client that sends more, or takes longer, is disconnected. */
export function discardBody(request: IncomingMessage, { maxBytes, maxTimeMs }: DiscardLimits = FOR_ANYONE): void {
  if (request.complete || request.destroyed) return;
  let discarded = 0;
  const timer = setTimeout(() => request.destroy(), maxTimeMs);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > maxBytes) request.destroy();
  });
  request.resume();
}
