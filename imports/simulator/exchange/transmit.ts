/** Sends a planned response with the client's backpressure. */
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { TransmissionPlan } from './planTransmission';

/** Resolves when the plan is complete or the client has left. */
export async function transmit(response: ServerResponse, plan: TransmissionPlan): Promise<void> {
  // A scripted function may take longer than its client waits.
  if (response.destroyed) return;
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  try {
    await send(response, plan, disconnected.signal);
  } catch (error) {
    if (!disconnected.signal.aborted) throw error;
  }
}

async function send(response: ServerResponse, plan: TransmissionPlan, signal: AbortSignal): Promise<void> {
  if (plan.sendsHeaders) sendHeaders(response, plan);
  for (const frame of plan.frames) {
    if (plan.pauseMs === 0) await nextTurn(undefined, { signal });
    else if (plan.pauseMs !== undefined) await delay(plan.pauseMs, undefined, { signal });
    await write(response, frame, signal);
  }
  if (plan.held !== undefined) {
    await Promise.race([plan.held.until, waitUntilAborted(signal)]);
    if (!response.headersSent) sendHeaders(response, plan);
    await write(response, plan.held.rest, signal);
  }
  switch (plan.ending) {
    case 'end':
      response.end();
      return;
    case 'reset':
      await flushed(response, signal);
      response.socket?.resetAndDestroy();
      return;
    case 'silence':
      await waitUntilAborted(signal);
      return;
    case 'comments':
      while (!signal.aborted) {
        await write(response, Buffer.from(': keep-alive\n\n'), signal);
        await delay(plan.commentMs, undefined, { signal });
      }
  }
}

function sendHeaders(response: ServerResponse, plan: TransmissionPlan): void {
  response.writeHead(plan.status, headersFor(plan));
  response.flushHeaders();
}

/**
 * Only a body that is sent in one frame and ends normally gets a content length. A broken one has none, so that only
 * its content shows the fault.
 */
function headersFor(plan: TransmissionPlan): Readonly<Record<string, string>> {
  const [frame] = plan.frames;
  const isWhole = plan.ending === 'end' && plan.pauseMs === undefined && plan.held === undefined;
  return isWhole && plan.frames.length === 1 && frame !== undefined
    ? { ...plan.headers, 'content-length': String(frame.length) }
    : plan.headers;
}

async function write(response: ServerResponse, frame: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!response.write(frame)) await once(response, 'drain', { signal });
}

/** Waits until everything written was sent. Otherwise the fault would strike earlier than planned. */
async function flushed(response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (!response.headersSent) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    response.write('', () => resolve());
  });
}

async function waitUntilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
