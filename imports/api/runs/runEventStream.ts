/** `GET /runs/stream`: what happens to the runs that the caller may see, as server-sent events. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { LoggedEvent, RunEventLog } from '../../business/ai/infrastructure/events/RunEventLog';
import { SERVER_SENT_EVENTS, STREAM_HEADERS } from '../http/ResponseSink';
import type { RouteHandler } from '../http/RequestContext';
import { KeepAliveTimer } from '../http/KeepAliveTimer';
import { briefEvent, LEFT_OUT } from './briefEvent';
import { FrameBatcher } from './FrameBatcher';
import { toActor } from '../auth/ApiPrincipal';

export interface RunEventStreamPorts {
  readonly events: RunEventLog;
  /** Milliseconds of silence after which a comment goes out. */
  readonly keepAliveAfter: number;
  /** Milliseconds after which a watcher has to come again, and show that it may still watch. */
  readonly maxConnectionTime: number;
  /** Fires when the server stops: watchers would keep it waiting for ever. */
  readonly closing: AbortSignal;
  /** Bytes that may wait to be sent to one watcher; default 1 MB. */
  readonly maxBufferedLength?: number;
}

/** Milliseconds that a watcher who fell behind has to take what was sent already. */
const DRAIN_TIMEOUT_MS = 5_000;
const RESYNC = 'event: resync\ndata: {}\n\n';

/**
 * Each event has its type for a name, a number for an id and the event's JSON for data. `resync` says that
 * something was missed, and what is known has to be fetched again: to who was away for too long, and as the last
 * word to who reads too slowly. With `?brief` events are as lists need them.
 */
export function streamRunEvents({
  events,
  keepAliveAfter,
  maxConnectionTime,
  closing,
  maxBufferedLength = 1024 * 1024,
}: RunEventStreamPorts): RouteHandler {
  return async ({ principal, request, response, signal }) => {
    const who = toActor(principal);
    const executionId = queryText(request.query['executionId']);
    const isBrief = request.query['brief'] !== undefined;
    const since = lastEventId(request.headers['last-event-id'] ?? request.query['lastEventId']);
    response.writeHead(200, { ...STREAM_HEADERS, 'content-type': SERVER_SENT_EVENTS.contentType });
    let stop = (): void => undefined;
    const silence = new KeepAliveTimer(keepAliveAfter, () => write(SERVER_SENT_EVENTS.keepAlive));
    const isOver = (): boolean => response.writableEnded || response.destroyed;
    const gatherer = new FrameBatcher((frames) => {
      if (!isOver()) response.write(frames);
    });
    const write = (frame: string): void => {
      if (isOver()) return;
      silence.touch();
      gatherer.add(frame);
      if (gatherer.bufferedLength + response.writableLength <= maxBufferedLength) return;
      stop();
      end(RESYNC);
      const timer = setTimeout(() => response.destroy(), DRAIN_TIMEOUT_MS);
      response.once('close', () => clearTimeout(timer));
    };
    /** What was told is still sent. */
    const end = (lastFrame = ''): void => {
      gatherer.flush();
      gatherer.stop();
      response.end(lastFrame);
    };
    // An id without data is remembered and shown to nobody; from here on the watcher can come back for what it missed.
    write(`id: ${since ?? events.last}\n\n`);
    stop = events.subscribe(
      {
        accepts: (event) =>
          (who.isAdmin === true || event.userId === who.userId) &&
          (executionId === undefined || event.executionId === executionId) &&
          !(isBrief && LEFT_OUT.has(event.type)),
        event: (event) => write(isBrief ? briefFrameOf(event) : toRunEventFrame(event)),
        gap: () => write(`id: ${events.last}\n${RESYNC}`),
      },
      since,
    );
    const ended = AbortSignal.any([signal, closing, AbortSignal.timeout(maxConnectionTime)]);
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      if (ended.aborted) end();
      else ended.addEventListener('abort', () => end(), { once: true });
    });
    stop();
    gatherer.stop();
    silence.stop();
  };
}

export function toRunEventFrame({ id, type, data }: LoggedEvent): string {
  // JSON has no line breaks of its own, and no field here holds one.
  return `event: ${type}\nid: ${id}\ndata: ${data}\n\n`;
}

/** Made once for all who watch. */
function briefFrameOf(event: LoggedEvent): string {
  const known = BRIEF_FRAMES.get(event);
  if (known !== undefined) return known;
  const frame = toRunEventFrame({ ...event, data: briefEvent(event.type, event.data) });
  BRIEF_FRAMES.set(event, frame);
  return frame;
}

const BRIEF_FRAMES = new WeakMap<LoggedEvent, string>();

function queryText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.length <= 128) return value;
  throw new LLMInvalidRequestError('executionId must be the id of a run', { path: 'executionId' });
}

/** What is no number of ours is as good as the oldest: the watcher has to fetch. */
function lastEventId(value: unknown): number | undefined {
  if (value === undefined || value === '') return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
}
