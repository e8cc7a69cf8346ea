/** Chat completion servers that write as much and as fast as the client reads, and count the bytes it took. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatSource {
  readonly url: string;
  readonly port: number;
  /** Bytes of the body that were written so far. */
  readonly taken: number;
  /** Resolves when a client disconnects before the end. */
  readonly disconnected: Promise<void>;
  close(): Promise<void>;
}

/** Resolves when there is room for more. */
export type Write = (text: string) => Promise<void>;

/** @param deltaCount the number of deltas, of `size` characters each */
export function startChatSource(deltaCount: number, size: number): Promise<ChatSource> {
  return startSource(async (write) => {
    await write(chunk({ role: 'assistant', content: '' }, null));
    const delta = chunk({ content: 'x'.repeat(size) }, null);
    for (let sent = 0; sent < deltaCount; sent += 1) await write(delta);
    await write(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
}

/** Sends one delta, and then a line of one gigabyte. */
export function startEndlessLine(): Promise<ChatSource> {
  return startSource(async (write) => {
    await write(chunk({ role: 'assistant', content: 'hello' }, null));
    await write('data: {"choices":[{"index":0,"delta":{"content":"');
    const delta = 'x'.repeat(64 * 1024);
    for (let sent = 0; sent < 2 ** 30; sent += delta.length) await write(delta);
    await write('"}}]}\n\ndata: [DONE]\n\n');
  });
}

function chunk(delta: object, finish_reason: string | null): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'talker', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

async function startSource(produce: (write: Write) => Promise<void>): Promise<ChatSource> {
  let taken = 0;
  let onDisconnected: () => void = () => undefined;
  const disconnected = new Promise<void>((resolve) => {
    onDisconnected = resolve;
  });
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const listening = new AbortController();
    response.once('close', () => {
      listening.abort();
      if (!response.writableFinished) onDisconnected();
    });
    const write: Write = async (text) => {
      if (!response.write(text)) await once(response, 'drain', { signal: listening.signal });
      taken += text.length;
    };
    // A client that disconnects ends the stream.
    produce(write).then(
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
    disconnected,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
