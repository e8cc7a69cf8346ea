/**
 * Chat endpoints: a message in at `POST /input`, the answers out at `GET /output/stream?conversation=…` as
 * server-sent events.
 */
import type { Response } from 'express';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../business/ai/domain/json';
import type { Chat } from '../../business/ai/infrastructure/factories/createChat';
import type { ChannelEvent } from '../../business/ai/infrastructure/events/ConversationChannel';
import type { RouteHandler } from '../http/RequestContext';
import { KeepAliveTimer } from '../http/KeepAliveTimer';
import type { ModelDirectory } from '../gateway/models/ModelDirectory';

export interface ConversationRoutePorts {
  readonly module: { readonly conversations: Chat };
  /** Knows which providers the caller may use. */
  readonly models: Pick<ModelDirectory, 'resolve'>;
  /** Milliseconds of silence after which a comment goes out. */
  readonly keepAliveAfter: number;
  /** Fires when the server stops: listeners would keep it waiting for ever. */
  readonly closing: AbortSignal;
}

const MAX_MESSAGE_LENGTH = 1_000_000;
/** What may wait to be sent to one listener; who reads slower is cut off and comes back for what was missed. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

/**
 * Takes `{ conversation, message, model? }` (or `{ conversationId, input }`) and answers 202 at once; whatever
 * becomes of the message is told on the conversation's stream.
 */
export function receiveInput({ module: { conversations }, models }: ConversationRoutePorts): RouteHandler {
  return async ({ request, response, principal, details }) => {
    const { conversation, message, model } = readInput(request.body);
    const { providerId, address } = await models.resolve(principal, model, 'responses');
    details.provider = providerId;
    // It never rejects: failures are told on the stream, and logged.
    void conversations.handler.handleMessage(principal.userId, conversation, message, { model: address });
    response.status(202).json({
      conversation,
      accepted: true,
      stream: `/output/stream?conversation=${encodeURIComponent(conversation)}`,
    });
  };
}

/**
 * Stays open until the listener leaves, or the server stops and has said what it was saying. `Last-Event-ID` says
 * what the listener has already.
 */
export function streamOutput({
  module: { conversations },
  keepAliveAfter,
  closing,
}: ConversationRoutePorts): RouteHandler {
  return async ({ request, response, principal, signal }) => {
    const conversation = conversationName(request.query.conversation, 'conversation');
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
    const silence = new KeepAliveTimer(keepAliveAfter, () => write(response, ': keep-alive\n\n'));
    const send = (frame: string): void => {
      silence.touch();
      write(response, frame);
    };
    const channel = conversations.channels.of(principal.userId, conversation);
    const leaveWhenStopped = (): void => {
      if (closing.aborted && !channel.isResponding) response.end();
    };
    const stop = channel.subscribe(
      // An id without data is remembered by the client and shown to nobody.
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
      signal.addEventListener('abort', () => response.end(), { once: true });
      closing.addEventListener('abort', leaveWhenStopped, { once: true });
    });
    closing.removeEventListener('abort', leaveWhenStopped);
    stop();
    silence.stop();
  };
}

/**
 * Each line of the text is a line of data, as https://html.spec.whatwg.org/multipage/server-sent-events.html has
 * it.
 */
export function toSseFrame({ id, data }: ChannelEvent): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `id: ${id}\n${lines.join('')}\n`;
}

/** A comment would be seen by nobody; an event of another name disturbs nobody who only reads messages. */
const MISSED_FRAME = 'event: missed\ndata: Earlier events are not kept any more.\n\n';

function write(response: Response, frame: string): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > MAX_BUFFERED_BYTES) response.destroy();
  else response.write(frame);
}

function readInput(body: unknown): {
  readonly conversation: string;
  readonly message: string;
  readonly model: string | undefined;
} {
  if (!isObject(body))
    throw new LLMInvalidRequestError('the body must be an object: { conversation, message }', { path: '' });
  const conversation = conversationName(body.conversation ?? body.conversationId, 'conversation');
  const message = body.message ?? body.input;
  if (typeof message !== 'string' || message.trim() === '')
    throw new LLMInvalidRequestError('message must be a text that says something', { path: 'message' });
  if (message.length > MAX_MESSAGE_LENGTH)
    throw new LLMInvalidRequestError(`message has ${message.length} characters, more than ${MAX_MESSAGE_LENGTH}`, {
      path: 'message',
    });
  if (body.model !== undefined && typeof body.model !== 'string')
    throw new LLMInvalidRequestError('model must be the name of a model', { path: 'model' });
  return { conversation, message, model: body.model };
}

function conversationName(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[^\p{C}]{1,256}$/u.test(value)) return value;
  throw new LLMInvalidRequestError(`${path} must be a name of 1 to 256 characters`, { path });
}

function lastEventId(header: string | string[] | undefined, query: unknown): string | undefined {
  if (typeof header === 'string') return header;
  return typeof query === 'string' ? query : undefined;
}
