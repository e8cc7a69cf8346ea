/**
 * The transport of `useChat` for Bolide's `/api/chat`, whose stop button cancels the run. For browsers; an
 * implementation of `ChatTransport` of `ai` 7. https://ai-sdk.dev/docs/ai-sdk-ui/transport
 */
import { createParser } from 'eventsource-parser';
import type { UIMessageChunk } from './UIMessages';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { watching } from '../../business/ai/domain/util/watching';

type Headers = Readonly<Record<string, string>>;

export interface BolideChatTransportOptions {
  /** Where the server has its `/api/chat`. Default: `/api/chat`. */
  readonly api?: string;
  /** Headers of every request, such as `authorization`. A function is called for each. */
  readonly headers?: Headers | (() => Headers | Promise<Headers>);
  /** `model`, `instructions` and `tools` of every message. A function is called for each. */
  readonly body?: object | (() => object);
  readonly credentials?: RequestCredentials;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** Receives the error of a run that could not be cancelled. Default: logs it. */
  readonly onStopError?: (error: unknown) => void;
}

/** Per message; the fields of `ChatRequestOptions` and what `ai` adds. */
export interface ChatTransportRequest {
  readonly chatId: string;
  readonly abortSignal?: AbortSignal | undefined;
  readonly headers?: Record<string, string> | globalThis.Headers | undefined;
  readonly body?: object | undefined;
  readonly metadata?: unknown;
}

export interface SendMessagesRequest extends ChatTransportRequest {
  readonly trigger: 'submit-message' | 'regenerate-message';
  readonly messageId: string | undefined;
  readonly messages: readonly unknown[];
}

export class BolideChatTransport {
  /** Resumed streams begin with the message's beginning. */
  readonly resumeStreamIsReplay = true;
  private readonly options: BolideChatTransportOptions;

  constructor(options: BolideChatTransportOptions = {}) {
    this.options = options;
  }

  /**
   * Aborting the signal cancels the run, also before the server has answered.
   * @throws Error with the server's message
   */
  async sendMessages({
    chatId: id,
    messages,
    trigger,
    messageId,
    abortSignal,
    ...request
  }: SendMessagesRequest): Promise<ReadableStream<UIMessageChunk>> {
    const { body: common } = this.options;
    // Any object may be callable as far as types know.
    const fields = typeof common === 'function' ? (common as () => object)() : common;
    const body = { ...fields, ...request.body, id, messages, trigger, messageId };
    // Not aborted: the run may have been started already, and is cancelled when the response shows it.
    const sent = this.request('', 'POST', request.headers, JSON.stringify(body));
    const aborted = abortSignal === undefined ? undefined : rejectionOf(abortSignal);
    try {
      const response = await (aborted === undefined ? sent : Promise.race([sent, aborted.promise]));
      return this.read(response, id, abortSignal, request.headers);
    } catch (error) {
      if (abortSignal?.aborted === true)
        sent.then(
          async (response) => {
            await response.body?.cancel();
            await this.stop(id, request.headers);
          },
          // A request that failed has started nothing.
          () => undefined,
        );
      throw error;
    } finally {
      aborted?.forget();
    }
  }

  /**
   * Aborting the signal cancels the run once its stream has begun. Before, it only gives up the attempt: React's strict
   * mode does so for each component.
   * @returns null if no run is in progress
   * @throws Error with the server's message
   */
  async reconnectToStream({
    chatId,
    abortSignal,
    headers,
  }: ChatTransportRequest): Promise<ReadableStream<UIMessageChunk> | null> {
    const response = await this.request(
      `/${encodeURIComponent(chatId)}/stream`,
      'GET',
      headers,
      undefined,
      abortSignal,
    );
    return response.status === 204 ? null : this.read(response, chatId, abortSignal, headers);
  }

  /** Cancels the chat's run, if one is in progress. Never rejects: see `onStopError`. */
  private async stop(chatId: string, headers: ChatTransportRequest['headers']): Promise<void> {
    try {
      await this.request(`/${encodeURIComponent(chatId)}/stop`, 'POST', headers);
    } catch (error) {
      const { onStopError = (thrown) => console.error('The run could not be cancelled:', thrown) } = this.options;
      watching('onStopError', onStopError, console)(error);
    }
  }

  private async request(
    path: string,
    method: 'GET' | 'POST',
    given: ChatTransportRequest['headers'],
    body?: string,
    signal?: AbortSignal,
  ): Promise<Response> {
    const { api = '/api/chat', credentials, headers: common, fetch: send = globalThis.fetch } = this.options;
    const headers = new Headers(typeof common === 'function' ? await common() : common);
    new Headers(given).forEach((value, name) => headers.set(name, value));
    if (body !== undefined) headers.set('content-type', 'application/json');
    const response = await send(api.replace(/\/$/, '') + path, {
      method,
      headers,
      ...omitUndefined({ body, credentials, signal }),
      // A page that is being left still stops its run.
      ...(path.endsWith('/stop') ? { keepalive: true } : {}),
    });
    if (!response.ok) throw new Error((await response.text()) || `The server responded with ${response.status}.`);
    return response;
  }

  private read(
    { body }: Response,
    chatId: string,
    abortSignal: AbortSignal | undefined,
    headers: ChatTransportRequest['headers'],
  ): ReadableStream<UIMessageChunk> {
    if (body === null) throw new Error('The response has no body.');
    let isOpen = true;
    const onAbort = (): void => {
      if (isOpen) void this.stop(chatId, headers);
      isOpen = false;
    };
    if (abortSignal?.aborted === true) onAbort();
    abortSignal?.addEventListener('abort', onAbort, { once: true });
    const close = (): void => {
      isOpen = false;
      abortSignal?.removeEventListener('abort', onAbort);
    };
    return body.pipeThrough(new TextDecoderStream()).pipeThrough(chunkParser(close));
  }
}

/** @param onEnd called when the server has ended the stream */
function chunkParser(onEnd: () => void): TransformStream<string, UIMessageChunk> {
  let controller: TransformStreamDefaultController<UIMessageChunk>;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') controller.enqueue(JSON.parse(data) as UIMessageChunk);
    },
  });
  return new TransformStream({
    start: (given) => {
      controller = given;
    },
    transform: (text) => parser.feed(text),
    flush: onEnd,
  });
}

function rejectionOf(signal: AbortSignal): { readonly promise: Promise<never>; readonly forget: () => void } {
  let onAbort = (): void => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(new DOMException('The request was aborted.', 'AbortError'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  return { promise, forget: () => signal.removeEventListener('abort', onAbort) };
}
