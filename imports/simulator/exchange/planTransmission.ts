/** Applies a fault to a response before anything is sent. */
import type { RenderedResponse } from '../rendering/RenderedResponse';
import type { Fault, FaultPoint } from '../Fault';

export interface TransmissionPlan {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly frames: readonly Buffer[];
  /** When false, nothing is sent, not even the headers. */
  readonly sendsHeaders: boolean;
  /** What follows the frames as soon as the promise resolves. */
  readonly held?: { readonly rest: Buffer; readonly until: Promise<unknown> };
  readonly ending: 'end' | 'reset' | 'silence' | 'comments';
  /** Milliseconds before each frame; with 0, a turn of the event loop. */
  readonly pauseMs?: number;
  /** Milliseconds between two comments. */
  readonly commentMs: number;
}

export function planTransmission(
  answer: RenderedResponse,
  fault: Fault | undefined,
  chunkDelayMs = 0,
): TransmissionPlan {
  const plan: TransmissionPlan = {
    ...answer,
    sendsHeaders: true,
    ending: 'end',
    ...(chunkDelayMs === 0 ? {} : { pauseMs: chunkDelayMs }),
    commentMs: 5,
  };
  switch (fault?.kind) {
    case undefined:
      return plan;
    case 'refuse-connection':
      return { ...plan, frames: [], sendsHeaders: false, ending: 'reset' };
    case 'reset':
    case 'stall': {
      const after = fault.after ?? { bytes: 0 };
      const frames = takeUntil(answer.frames, after);
      const cut = { ...plan, frames, sendsHeaders: after !== 'nothing' };
      if (fault.kind === 'reset') return { ...cut, ending: 'reset' };
      if (fault.until === undefined) return { ...cut, ending: 'silence' };
      const rest = Buffer.concat(answer.frames).subarray(sizeOf(frames));
      return { ...cut, held: { rest, until: fault.until } };
    }
    case 'truncate':
      return {
        ...plan,
        frames: takeUntil(answer.frames, fault.after ?? { bytes: Math.floor(sizeOf(answer.frames) / 2) }),
      };
    case 'close-without-end-marker':
      // A body that is not a stream has no end marker; it loses its last byte instead.
      return {
        ...plan,
        frames:
          answer.frames.length > 1
            ? withoutEndMarker(answer.frames)
            : takeUntil(answer.frames, { bytes: sizeOf(answer.frames) - 1 }),
      };
    case 'slow':
      return { ...plan, frames: splitFrames(answer.frames, fault.chunkBytes ?? 16), pauseMs: fault.delayMs ?? 2 };
    case 'html':
      return {
        ...plan,
        status: fault.status ?? 200,
        headers: { 'content-type': 'text/html; charset=utf-8' },
        frames: [Buffer.from(PAGE)],
      };
    case 'comments-only': {
      const headers = { ...answer.headers, 'content-type': 'text/event-stream; charset=utf-8' };
      return {
        ...plan,
        headers,
        frames: takeUntil(answer.frames, fault.after ?? { bytes: 0 }),
        ending: 'comments',
        commentMs: fault.everyMs ?? 5,
      };
    }
  }
}

const PAGE =
  '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1><p>The proxy received an invalid response.</p></body></html>\n';

/** Gemini's `done` follows the event that ends an interaction. */
function withoutEndMarker(frames: readonly Buffer[]): readonly Buffer[] {
  return frames.slice(0, frames.at(-1)?.toString().startsWith('event: done') === true ? -2 : -1);
}

/** The frames before the point. A frame that contains it is cut there. */
export function takeUntil(frames: readonly Buffer[], point: FaultPoint): readonly Buffer[] {
  if (point === 'nothing') return [];
  if ('events' in point) return frames.slice(0, point.events);
  const taken: Buffer[] = [];
  let left = point.bytes;
  for (const frame of frames) {
    if (left <= 0) break;
    taken.push(frame.subarray(0, left));
    left -= frame.length;
  }
  return taken;
}

export function splitFrames(frames: readonly Buffer[], size: number): readonly Buffer[] {
  const all = Buffer.concat(frames);
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.subarray(index * size, (index + 1) * size),
  );
}

function sizeOf(frames: readonly Buffer[]): number {
  return frames.reduce((sum, frame) => sum + frame.length, 0);
}
