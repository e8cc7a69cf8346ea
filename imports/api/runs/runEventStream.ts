/** `GET /runs/stream`: events of the runs that the caller may see, as server-sent events. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { AgentEvent, AgentEventType } from '../../business/ai/domain/types/AgentEvents';
import { ownOnly } from '../../business/ai/application/operations/runAccess';
import type { RunQueries } from '../../business/ai/application/operations/RunQueries';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { LLMResponse } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { Actor } from '../../business/ai/domain/types/Actor';
import { TOPICS } from '../../business/ai/domain/types/Topics';
import type { Topic } from '../../business/ai/domain/types/Topics';
import type { TopicChanges } from '../../business/ai/infrastructure/events/TopicChanges';
import type { LoggedEvent, RunEventLog, RunSubscriber } from '../../business/ai/infrastructure/events/RunEventLog';
import { toActor } from '../auth/ApiPrincipal';
import { KeepAliveTimer } from '../http/KeepAliveTimer';
import type { RouteHandler } from '../http/RequestContext';
import { SERVER_SENT_EVENTS, STREAM_HEADERS } from '../http/ResponseSink';
import { FamilyFrames } from './FamilyFrames';
import { FrameBatcher } from './FrameBatcher';

export interface RunEventStreamPorts {
  readonly events: RunEventLog;
  readonly queries: Pick<RunQueries, 'pathTo'>;
  /** Sent to clients that read the events of all runs. */
  readonly changes?: TopicChanges;
  /** No other process changes what pages show. Default: false. */
  readonly isAlone?: boolean;
  /** Milliseconds without an event after which a comment is sent. */
  readonly keepAliveAfter: number;
  /** Milliseconds after which the stream ends, so that the client must reconnect and authenticate again. */
  readonly maxConnectionTime: number;
  /** Fires when the server stops, since streams would otherwise never end. */
  readonly closing: AbortSignal;
  /** What may be buffered for one client before it is disconnected. Default: 1 MB. */
  readonly maxBufferedLength?: number;
}

/** How long a client that fell behind may take to receive what was already sent. */
const DRAIN_TIMEOUT_MS = 5_000;
/** How often pages reload what other processes may have changed, which no event reports. */
const FOREIGN_CHANGES_MS = 10_000;
const RESYNC_FRAME = 'event: resync\ndata: {}\n\n';

/**
 * Each event has its type as its name, an id that every process understands, and the event's JSON as its data.
 * `resync` means that events
 * were missed and the client must fetch the current state: sent to a client that was away for too long, and as
 * the last
 * event to one that reads too slowly. `changes` names the topics of which something else has changed, as
 * `{"topics":["requests"]}`. With `?brief`, events hold only what lists need; with `?executionId=` and `?family`, there
 * are those of the runs below the run, too.
 */
export function streamRunEvents({
  events,
  queries,
  changes,
  isAlone = false,
  keepAliveAfter,
  maxConnectionTime,
  closing,
  maxBufferedLength = 1024 * 1024,
}: RunEventStreamPorts): RouteHandler {
  return async ({ principal, request, response, signal }) => {
    const actor = toActor(principal);
    const executionId = queryText(request.query['executionId']);
    const isBrief = request.query['brief'] !== undefined;
    const isFamily = request.query['family'] !== undefined;
    if (isFamily && executionId === undefined)
      throw new LLMInvalidRequestError('"family" needs "executionId", the id of a run.', { path: 'executionId' });
    const since = lastEventId(request.headers['last-event-id'] ?? request.query['lastEventId']);
    response.writeHead(200, { ...STREAM_HEADERS, 'content-type': SERVER_SENT_EVENTS.contentType });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const closed = new Promise<void>((resolve) => void response.once('close', resolve));
    let unsubscribe = (): void => undefined;
    const keepAlive = new KeepAliveTimer(keepAliveAfter, () => write(SERVER_SENT_EVENTS.keepAlive));
    const hasEnded = (): boolean => response.writableEnded || response.destroyed;
    const batcher = new FrameBatcher((frames) => {
      if (!hasEnded()) response.write(frames);
    });
    const write = (frame: string): void => {
      if (hasEnded()) return;
      keepAlive.touch();
      batcher.add(frame);
      if (batcher.bufferedLength + response.writableLength <= maxBufferedLength) return;
      unsubscribe();
      end(RESYNC_FRAME);
      const timer = setTimeout(() => response.destroy(), DRAIN_TIMEOUT_MS);
      response.once('close', () => clearTimeout(timer));
    };
    /** Everything written before is still sent. */
    const end = (lastFrame = ''): void => {
      batcher.flush();
      batcher.stop();
      response.end(lastFrame);
    };
    const { userId } = ownOnly(actor);
    const send = (event: LoggedEvent): void => write((isBrief ? toBriefFrame : toRunEventFrame)(event, userId));
    const family =
      executionId !== undefined && isFamily
        ? new FamilyFrames({
            executionId,
            pathTo: (id) => queries.pathTo(actor, executionId, id),
            send,
            maxQueuedLength: maxBufferedLength / 4,
            resume: (id) => events.repeat(subscriber, id),
            // The client resumes after the last event that it has.
            onError: () => end(),
          })
        : undefined;
    const subscriber: RunSubscriber = {
      ...omitUndefined({ userId }),
      accepts: (event) =>
        (actor.isAdmin === true || event.userId === actor.userId) &&
        (executionId === undefined || isFamily || event.executionId === executionId) &&
        !(isBrief && OMITTED_TYPES.has(event.type)),
      event: (event) => (family === undefined ? send(event) : family.push(event)),
      gap: () => write(`id: ${events.positionFor(userId)}\n${RESYNC_FRAME}`),
    };
    // Clients store an id without data, but dispatch no event for it: from here on they can resume.
    write(`id: ${since ?? events.positionFor(userId)}\n\n`);
    unsubscribe = events.subscribe(subscriber, since);
    let stopChanges: (() => void) | undefined;
    try {
      if (executionId === undefined && changes !== undefined)
        stopChanges = sendChanges(changes, actor, isAlone, (topics) => write(toChangesFrame(topics)));
      const ended = AbortSignal.any([signal, closing, AbortSignal.timeout(maxConnectionTime)]);
      if (ended.aborted) end();
      else ended.addEventListener('abort', () => end(), { once: true });
      await closed;
    } finally {
      unsubscribe();
      stopChanges?.();
      batcher.stop();
      keepAlive.stop();
    }
  };
}

/** @returns stops it */
function sendChanges(
  changes: TopicChanges,
  actor: Actor,
  isAlone: boolean,
  send: (topics: readonly Topic[]) => void,
): () => void {
  const unsubscribe = changes.subscribe(actor, send);
  const timer = isAlone ? undefined : setInterval(() => send(TOPICS), FOREIGN_CHANGES_MS);
  return () => {
    unsubscribe();
    clearInterval(timer);
  };
}

function toChangesFrame(topics: readonly Topic[]): string {
  return `event: changes\ndata: ${JSON.stringify({ topics })}\n\n`;
}

/** @param userId whose events alone the stream has. Absent: everyone's */
export function toRunEventFrame({ position, positionForAll, type, data }: LoggedEvent, userId?: string): string {
  // JSON has no line breaks, and neither do the other fields.
  return `event: ${type}\nid: ${userId === undefined ? positionForAll : position}\ndata: ${data}\n\n`;
}

/** Frequent events that no list shows; left out with `?brief`. */
export const OMITTED_TYPES: ReadonlySet<AgentEventType> = new Set([
  'llm:delta',
  'tool:arguments_delta',
  'tool:progress',
]);

function toBriefFrame(event: LoggedEvent, userId?: string): string {
  // Created once for all subscribers.
  const data = BRIEF_DATA.get(event) ?? briefEvent(event.type, event.data);
  BRIEF_DATA.set(event, data);
  return toRunEventFrame({ ...event, data }, userId);
}

const BRIEF_DATA = new WeakMap<LoggedEvent, string>();

/**
 * The event's JSON without texts, arguments and results, which make up most of it and only a run's own page
 * shows.
 */
export function briefEvent(type: AgentEventType, data: string): string {
  if (!LONG_TYPES.has(type)) return data;
  // The log holds serialized events.
  const event = JSON.parse(data) as AgentEvent;
  return JSON.stringify(
    'response' in event
      ? { ...event, response: briefResponse(event.response) }
      : { ...event, arguments: undefined, result: undefined, answer: undefined },
  );
}

const LONG_TYPES: ReadonlySet<AgentEventType> = new Set([
  'llm:response',
  'nonblocking:llm_response',
  'run:completed',
  'tool:pending',
  'tool:approval_required',
  'tool:completed',
  'tool:input_received',
  'tool:late',
]);

/** The types of the output items show whether the response calls tools. */
function briefResponse({ id, model, status, usage, output }: LLMResponse): object {
  return { id, model, status, usage, output: output.map(({ type }) => ({ type })) };
}

function queryText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.length <= 128) return value;
  throw new LLMInvalidRequestError('"executionId" must be the id of a run.', { path: 'executionId' });
}

function lastEventId(value: unknown): string | undefined {
  // Ids have no other characters, and are sent back in a frame.
  if (value === undefined || value === '') return undefined;
  return typeof value === 'string' && /^[\w.~]{1,4096}$/.test(value) ? value : '0';
}
