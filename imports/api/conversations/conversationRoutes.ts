/** Chat endpoints: `POST /input` takes a message, `GET /output/stream?conversation=…` streams the responses. */
import type { HttpResponse } from '../http/HttpMessages';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { UserLimiter } from '../../business/limits/application/UserLimiter';
import type { PastMessage } from '../../business/ai/domain/interfaces/ConversationStore';
import { fieldsOf, isList, isObject } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { Chat } from '../../business/ai/infrastructure/factories/createChat';
import type { ChannelEvent } from '../../business/ai/infrastructure/events/ConversationChannel';
import { tokenOrigin } from '../auth/ApiPrincipal';
import type { RouteHandler } from '../http/RequestContext';
import { KeepAliveTimer } from '../http/KeepAliveTimer';
import type { ModelDirectory } from '../gateway/models/ModelDirectory';

export interface ConversationRoutePorts {
  readonly module: { readonly conversations: Chat };
  readonly models: Pick<ModelDirectory, 'resolve'>;
  /** Limits the messages of a user that wait. Absent: as many as they like. */
  readonly userLimiter?: Pick<UserLimiter, 'enqueue'>;
  /** Milliseconds without an event after which a comment is sent. */
  readonly keepAliveAfter: number;
  /** Fires when the server stops, since streams would otherwise never end. */
  readonly closing: AbortSignal;
}

const MAX_MESSAGE_LENGTH = 1_000_000;
/** Bytes buffered for one subscriber. A slower one is disconnected, and can resume with `Last-Event-ID`. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

/**
 * Takes `{ conversation?, message, conversation_history?, model? }`, under these names or those in `NAMES`; responds
 * with 202 as soon as the message is stored. The response to the message, or its failure, is sent on the
 * conversation's stream.
 */
export function receiveInput({ module: { conversations }, models, userLimiter }: ConversationRoutePorts): RouteHandler {
  return async ({ request, response, principal, details }) => {
    const { conversation, message, model, history } = readInput(request.body, principal.userId);
    const { providerId, address } = await models.resolve(principal, model, 'responses');
    details.provider = providerId;
    const release = await userLimiter?.enqueue(principal.userId);
    let executionId: string;
    try {
      const accepted = await conversations.handler.accept(principal.userId, conversation, message, {
        model: address,
        origin: { ...tokenOrigin(principal), source: 'run', api: 'input' },
        ...omitUndefined({ history }),
      });
      // Never rejects: failures are sent on the stream and logged.
      void accepted.answered.finally(release);
      ({ executionId } = accepted);
    } catch (error) {
      release?.();
      throw error;
    }
    response.status(202).json({
      conversation,
      accepted: true,
      status: 'processing',
      executionId,
      stream: `/api/output/stream?conversation=${encodeURIComponent(conversation)}`,
    });
  };
}

/**
 * Stays open until the client disconnects, or the server stops and has completed the current response. Resumes after
 * `Last-Event-ID`.
 */
export function streamOutput({
  module: { conversations },
  keepAliveAfter,
  closing,
}: ConversationRoutePorts): RouteHandler {
  return async ({ request, response, principal, signal }) => {
    const conversation = conversationName(
      firstOf(request.query, NAMES.conversation) ?? principal.userId,
      'conversation',
    );
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    response.flushHeaders();
    const keepAlive = new KeepAliveTimer(keepAliveAfter, () => write(response, ': keep-alive\n\n'));
    const send = (frame: string): void => {
      keepAlive.touch();
      write(response, frame);
    };
    const leaveWhenStopped = (): void => {
      if (closing.aborted && !conversations.channels.of(principal.userId, conversation).isResponding) response.end();
    };
    const stop = await conversations.subscribe(
      principal.userId,
      conversation,
      // Clients store an id without data, but dispatch no event for it.
      {
        start: (id) => send(`id: ${id}\n\n`),
        event: (event) => {
          send(toSseFrame(event));
          leaveWhenStopped();
        },
        gap: () => send(MISSED_FRAME),
      },
      lastEventId(request.headers['last-event-id'], request.query.lastEventId),
    );
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      // It may have closed while the store was read.
      if (response.closed) resolve();
      else if (signal.aborted) response.end();
      leaveWhenStopped();
      signal.addEventListener('abort', () => response.end(), { once: true });
      closing.addEventListener('abort', leaveWhenStopped, { once: true });
    });
    closing.removeEventListener('abort', leaveWhenStopped);
    stop();
    keepAlive.stop();
  };
}

/** Each line of the text is a `data` line. https://html.spec.whatwg.org/multipage/server-sent-events.html */
export function toSseFrame({ id, data, type }: ChannelEvent): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `id: ${id}\n${type === undefined ? '' : `event: ${type}\n`}${lines.join('')}\n`;
}

/** An event with its own name is visible to clients that want it and ignored by those that only read messages. */
const MISSED_FRAME = 'event: missed\ndata: Earlier events are no longer available.\n\n';

function write(response: HttpResponse, frame: string): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > MAX_BUFFERED_BYTES) response.destroy();
  else response.write(frame);
}

/** The names under which a field is accepted. */
const NAMES = {
  conversation: ['conversation', 'conversationId', 'conversation_id'],
  message: ['message', 'input', 'content', 'inputData'],
} as const;

const MAX_HISTORY_ENTRIES = 1_000;

function firstOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): unknown {
  return names.map((name) => fields[name]).find((value) => value !== undefined);
}

/** @param own the conversation of a caller who names none */
function readInput(
  body: unknown,
  own: string,
): {
  readonly conversation: string;
  readonly message: string;
  readonly model: string | undefined;
  readonly history: readonly PastMessage[] | undefined;
} {
  if (!isObject(body))
    throw new LLMInvalidRequestError('The request body must be a JSON object: { conversation, message }.', {
      path: '',
    });
  const conversation = conversationName(firstOf(body, NAMES.conversation) ?? own, 'conversation');
  const message = firstOf(body, NAMES.message);
  if (typeof message !== 'string' || message.trim() === '')
    throw new LLMInvalidRequestError('"message" must be a string that is not blank.', { path: 'message' });
  if (message.length > MAX_MESSAGE_LENGTH)
    throw new LLMInvalidRequestError(
      `"message" must have at most ${MAX_MESSAGE_LENGTH} characters; it has ${message.length}.`,
      {
        path: 'message',
      },
    );
  if (body.model !== undefined && typeof body.model !== 'string')
    throw new LLMInvalidRequestError('"model" must be the name of a model.', { path: 'model' });
  return { conversation, message, model: body.model, history: readHistory(body.conversation_history) };
}

function readHistory(value: unknown): readonly PastMessage[] | undefined {
  if (value === undefined) return undefined;
  const path = 'conversation_history';
  if (!isList(value) || value.length > MAX_HISTORY_ENTRIES)
    throw new LLMInvalidRequestError(`"${path}" must be a list of at most ${MAX_HISTORY_ENTRIES} messages.`, { path });
  return value.map((entry, index) => readPastMessage(entry, `${path}[${index}]`));
}

function readPastMessage(entry: unknown, path: string): PastMessage {
  const { role, content, text = content } = fieldsOf(entry);
  if (role !== 'user' && role !== 'assistant')
    throw new LLMInvalidRequestError(`"${path}.role" must be "user" or "assistant".`, { path: `${path}.role` });
  if (typeof text !== 'string' || text.length > MAX_MESSAGE_LENGTH)
    throw new LLMInvalidRequestError(
      `"${path}.content" must be a string of at most ${MAX_MESSAGE_LENGTH} characters.`,
      {
        path: `${path}.content`,
      },
    );
  return { role, text };
}

function conversationName(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[^\p{C}]{1,256}$/u.test(value)) return value;
  throw new LLMInvalidRequestError(`"${path}" must be a name of 1 to 256 characters.`, { path });
}

function lastEventId(header: string | string[] | undefined, query: unknown): string | undefined {
  if (typeof header === 'string') return header;
  return typeof query === 'string' ? query : undefined;
}
