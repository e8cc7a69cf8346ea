/** Puts a planned answer on the network at the client's pace. */
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { SendingPlan } from './faults';

/** Resolves when the plan is carried out or the client has left, whichever comes first. */
export async function transmit(response: ServerResponse, plan: SendingPlan): Promise<void> {
  // A script may think for longer than its client waits.
  if (response.destroyed) return;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    await send(response, plan, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

async function send(response: ServerResponse, plan: SendingPlan, gone: AbortSignal): Promise<void> {
  if (plan.sendsHead) {
    response.writeHead(plan.status, headersFor(plan));
    response.flushHeaders();
  }
  for (const frame of plan.frames) {
    if (plan.pauseMs > 0) await delay(plan.pauseMs, undefined, { signal: gone });
    await write(response, frame, gone);
  }
  switch (plan.ending) {
    case 'end':
      response.end();
      return;
    case 'reset':
      await flushed(response, gone);
      response.socket?.resetAndDestroy();
      return;
    case 'silence':
      await untilGone(gone);
      return;
    case 'comments':
      while (!gone.aborted) {
        await write(response, Buffer.from(': keep-alive\n\n'), gone);
        await delay(plan.commentMs, undefined, { signal: gone });
      }
  }
}

/**
 * Bodies that end as planned say how long they are, unless they come in several pieces; broken ones don't, so that
 * only the content can show it.
 */
function headersFor(plan: SendingPlan): Readonly<Record<string, string>> {
  const [frame] = plan.frames;
  return plan.ending === 'end' && plan.frames.length === 1 && frame !== undefined && plan.pauseMs === 0
    ? { ...plan.headers, 'content-length': String(frame.length) }
    : plan.headers;
}

async function write(response: ServerResponse, frame: Buffer, gone: AbortSignal): Promise<void> {
  gone.throwIfAborted();
  if (!response.write(frame)) await once(response, 'drain', { signal: gone });
}

/** What was written must have left before the connection breaks, or the fault would strike earlier than planned. */
async function flushed(response: ServerResponse, gone: AbortSignal): Promise<void> {
  if (!response.headersSent) return;
  await new Promise<void>((resolve) => {
    gone.addEventListener('abort', () => resolve(), { once: true });
    response.write('', () => resolve());
  });
}

async function untilGone(gone: AbortSignal): Promise<void> {
  if (!gone.aborted) await once(gone, 'abort');
}
