/** Hosts of chat completions that talk as long and as fast as they are listened to, and count what they could say. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatSource {
  readonly url: string;
  readonly port: number;
  /** Bytes of body that were taken from it so far. */
  readonly taken: number;
  /** Resolves when a listener leaves before the end. */
  readonly left: Promise<void>;
  close(): Promise<void>;
}

/** Resolves when there is room for more. */
export type Say = (text: string) => Promise<void>;

/** @param pieces how many deltas of `size` characters make its answer */
export function startChatSource(pieces: number, size: number): Promise<ChatSource> {
  return startSource(async (say) => {
    await say(chunk({ role: 'assistant', content: '' }, null));
    const piece = chunk({ content: 'x'.repeat(size) }, null);
    for (let said = 0; said < pieces; said += 1) await say(piece);
    await say(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
}

/** One delta, and then a line that ends after a gigabyte, if anybody listens for so long. */
export function startEndlessLine(): Promise<ChatSource> {
  return startSource(async (say) => {
    await say(chunk({ role: 'assistant', content: 'hello' }, null));
    await say('data: {"choices":[{"index":0,"delta":{"content":"');
    const piece = 'x'.repeat(64 * 1024);
    for (let said = 0; said < 2 ** 30; said += piece.length) await say(piece);
    await say('"}}]}\n\ndata: [DONE]\n\n');
  });
}

function chunk(delta: object, finish_reason: string | null): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'talker', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

async function startSource(talk: (say: Say) => Promise<void>): Promise<ChatSource> {
  let taken = 0;
  let onLeft: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    onLeft = resolve;
  });
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const listening = new AbortController();
    response.once('close', () => {
      listening.abort();
      if (!response.writableFinished) onLeft();
    });
    const say: Say = async (text) => {
      if (!response.write(text)) await once(response, 'drain', { signal: listening.signal });
      taken += text.length;
    };
    // A listener that leaves ends the talk.
    talk(say).then(
      () => response.end(),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get taken() {
      return taken;
    },
    left,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
