/**
 * A run as a UI message stream, for routes of an app's own: `app.post('/api/chat', (req, res) =>
 * pipeUIMessageStream(assistant.stream(input), res))`. https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import { atMost } from '../../business/ai/domain/util/atMost';
import { UIMessageEncoder } from './UIMessageEncoder';
import type { UIMessageEncoderOptions } from './UIMessageEncoder';
import { UI_MESSAGE_STREAM_HEADERS } from './UIMessageStreamEncoder';
import type { UIMessageChunk } from './UIMessages';

/** An `AgentRun`, or the events of any run from its `run:started`. */
export type UIMessageSource = AsyncIterable<FamilyEvent> & {
  readonly cancel?: () => Promise<unknown>;
  /** What `sendRuns` reads instead. */
  readonly familyEvents?: AsyncIterable<FamilyEvent>;
};

export interface UIMessageStreamOptions extends UIMessageEncoderOptions {
  /**
   * What a client that leaves does to the run. `continue` (default) lets it finish; `cancel` cancels it, as suits runs
   * that nobody can resume.
   */
  readonly onDisconnect?: 'continue' | 'cancel';
  /**
   * Whether the output of a call that starts a run is the message of that run, as `/api/chat` sends it: the run's texts
   * and calls while it works, and at last its answer. Default: false, and the output is the answer.
   */
  readonly sendRuns?: boolean;
  /** The text that the user sees of an error. Default: the message of Bolide's own errors, and nothing of others. */
  readonly onError?: (error: unknown) => string;
}

export interface UIMessageResponseOptions extends UIMessageStreamOptions {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds without an event after which a comment is sent. Default: 15,000. */
  readonly keepAliveAfter?: number;
}

/** For `createUIMessageStreamResponse`, `writer.merge` and `readUIMessageStream` of `ai`. */
export function toUIMessageStream(
  run: UIMessageSource,
  options: UIMessageStreamOptions = {},
): ReadableStream<UIMessageChunk> {
  const chunks = chunksOf(run, options);
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else for (const chunk of next.value) controller.enqueue(chunk);
    },
    async cancel() {
      await leave(run, options);
      // Not awaited: the run may be silent for long.
      void chunks.return(undefined);
    },
  });
}

/** For Web handlers: Next.js, Hono, Bun, Deno. */
export function toUIMessageStreamResponse(run: UIMessageSource, options: UIMessageResponseOptions = {}): Response {
  const headers = { ...HEADERS, ...options.headers };
  return new Response(bodyOf(run, options), { status: options.status ?? 200, headers });
}

/** For Express and Node's `http`. Resolves when the response is complete or its client has left. */
export async function pipeUIMessageStream(
  run: UIMessageSource,
  response: ServerResponse,
  options: UIMessageResponseOptions = {},
): Promise<void> {
  response.writeHead(options.status ?? 200, { ...HEADERS, ...options.headers });
  try {
    await pipeline(Readable.fromWeb(bodyOf(run, options) as NodeReadableStream), response);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE')) throw error;
  }
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  ...UI_MESSAGE_STREAM_HEADERS,
};
const DEFAULT_KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE_FRAME = ': keep-alive\n\n';

async function leave(run: UIMessageSource, { onDisconnect = 'continue' }: UIMessageStreamOptions): Promise<void> {
  if (onDisconnect === 'cancel') await run.cancel?.();
}

/** Unlike a generator, it can be cancelled while it waits for the run's next event. */
function bodyOf(run: UIMessageSource, options: UIMessageResponseOptions): ReadableStream<Uint8Array> {
  const frames = framesOf(run, options);
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const next = await frames.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await leave(run, options);
      // Not awaited: the run may be silent for long.
      void frames.return(undefined);
    },
  });
}

/** Lists of chunks, none of them empty. */
async function* chunksOf(
  run: UIMessageSource,
  { onError = safeText, sendRuns = false, ...options }: UIMessageStreamOptions,
): AsyncGenerator<readonly UIMessageChunk[], void, undefined> {
  const encoder = new UIMessageEncoder(options);
  let hasFailed = false;
  try {
    for await (const event of (sendRuns ? run.familyEvents : undefined) ?? run) {
      const chunks = encoder.push(event);
      hasFailed ||= event.type === 'run:failed' || event.type === 'run:cancelled';
      if (chunks.length > 0) yield chunks;
    }
  } catch (error) {
    // A run throws the error that its last event has reported.
    if (!hasFailed) yield encoder.fail(textOf(error, onError));
    return;
  }
  const last = encoder.end();
  if (last.length > 0) yield last;
}

/** What the app's own function throws must not hide the error that it was to describe. */
function textOf(error: unknown, onError: (error: unknown) => string): string {
  try {
    return onError(error);
  } catch (thrown) {
    console.error('The callback "onError" threw:', thrown);
    return safeText(error);
  }
}

function safeText(error: unknown): string {
  return isLLMError(error) ? error.message : 'The run failed unexpectedly.';
}

async function* framesOf(
  run: UIMessageSource,
  { keepAliveAfter = DEFAULT_KEEP_ALIVE_MS, ...options }: UIMessageResponseOptions,
): AsyncGenerator<string, void, undefined> {
  const chunks = chunksOf(run, options);
  try {
    let next = chunks.next();
    for (;;) {
      const result = await atMost(keepAliveAfter, next);
      if (result === undefined) {
        yield KEEP_ALIVE_FRAME;
        continue;
      }
      if (result.done === true) break;
      yield result.value.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
      next = chunks.next();
    }
    yield 'data: [DONE]\n\n';
  } finally {
    // Not awaited: the run may be silent for long.
    void chunks.return(undefined);
  }
}
