/** A stream of server-sent events as a browser reads it, for tests that wait for one of them. */
import { createParser } from 'eventsource-parser';

export interface SeenEvent {
  readonly type: string;
  readonly id: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface SseReader {
  readonly status: number;
  readonly events: readonly SeenEvent[];
  /** Comments, which keep the connection alive. */
  readonly comments: readonly string[];
  /** The next event that fits, or one that came already. */
  seen(matches: (event: SeenEvent) => boolean): Promise<SeenEvent>;
  /** Resolves when the server has ended the stream, or the connection is gone. */
  readonly ended: Promise<void>;
  stop(): void;
}

export async function readSse(url: string, headers: Readonly<Record<string, string>>): Promise<SseReader> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  const events: SeenEvent[] = [];
  const comments: string[] = [];
  let waiting: { readonly matches: (event: SeenEvent) => boolean; readonly resolve: (event: SeenEvent) => void }[] = [];
  const parser = createParser({
    onComment: (comment) => comments.push(comment),
    onEvent: ({ event = 'message', id, data }) => {
      const seen = { type: event, id: Number(id), data: JSON.parse(data) as SeenEvent['data'] };
      events.push(seen);
      const ready = waiting.filter(({ matches }) => matches(seen));
      waiting = waiting.filter((each) => !ready.includes(each));
      for (const { resolve } of ready) resolve(seen);
    },
  });
  const ended = (async () => {
    const decoder = new TextDecoder();
    // Node's own stream of bytes is iterable; the DOM's type does not say so everywhere.
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      parser.feed(decoder.decode(chunk, { stream: true }));
  })().catch(() => undefined);
  return {
    status: response.status,
    events,
    comments,
    ended,
    seen(matches) {
      const past = events.find(matches);
      return past === undefined ? new Promise((resolve) => waiting.push({ matches, resolve })) : Promise.resolve(past);
    },
    stop: () => controller.abort(),
  };
}
