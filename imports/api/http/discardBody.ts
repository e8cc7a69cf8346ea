/**
 * Discards what has not been read of a request's body, within bounds: many clients read no response before they have
 * sent everything.
 */
import type { IncomingMessage } from 'node:http';

/** Enough for the usual prompts. */
const MAX_BYTES = 1024 * 1024;
const MAX_TIME_MS = 10_000;
/** Callers that are authenticated may also send large uploads over slow connections. */
const MAX_UPLOAD_MS = 60_000;

/**
 * A client that sends more, or takes longer, is disconnected.
 * @param maxBodyBytes the largest body that the caller may send; absent for a caller that is not authenticated. Of
 *   bodies up to twice as large, everything is read.
 */
export function discardBody(request: IncomingMessage, maxBodyBytes?: number): void {
  const maxBytes = Math.max(MAX_BYTES, 2 * (maxBodyBytes ?? 0));
  const maxTimeMs = maxBodyBytes === undefined ? MAX_TIME_MS : MAX_UPLOAD_MS;
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
