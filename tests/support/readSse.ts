/** Reads server-sent events as a browser does, for tests that wait for one of them. */
import { createParser } from 'eventsource-parser';

export interface SseEvent {
  readonly type: string;
  readonly id: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface SseReader {
  readonly status: number;
  readonly events: readonly SseEvent[];
  /** Comments, such as keep-alive messages. */
  readonly comments: readonly string[];
  /** Resolves with the first matching event, which may have arrived already. */
  waitFor(matches: (event: SseEvent) => boolean): Promise<SseEvent>;
  /** Resolves when the server has ended the stream or the connection was lost. */
  readonly ended: Promise<void>;
  stop(): void;
}

export async function readSse(url: string, headers: Readonly<Record<string, string>>): Promise<SseReader> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  const events: SseEvent[] = [];
  const comments: string[] = [];
  let waiting: { readonly matches: (event: SseEvent) => boolean; readonly resolve: (event: SseEvent) => void }[] = [];
  const parser = createParser({
    onComment: (comment) => comments.push(comment),
    onEvent: ({ event = 'message', id, data }) => {
      const seen = { type: event, id: Number(id), data: JSON.parse(data) as SseEvent['data'] };
      events.push(seen);
      const ready = waiting.filter(({ matches }) => matches(seen));
      waiting = waiting.filter((each) => !ready.includes(each));
      for (const { resolve } of ready) resolve(seen);
    },
  });
  const ended = (async () => {
    const decoder = new TextDecoder();
    // Node's byte stream is iterable, but the DOM's type does not declare it.
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      parser.feed(decoder.decode(chunk, { stream: true }));
  })().catch(() => undefined);
  return {
    status: response.status,
    events,
    comments,
    ended,
    waitFor(matches) {
      const past = events.find(matches);
      return past === undefined ? new Promise((resolve) => waiting.push({ matches, resolve })) : Promise.resolve(past);
    },
    stop: () => controller.abort(),
  };
}
