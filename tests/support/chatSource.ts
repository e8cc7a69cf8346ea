/** A compatible host that talks as long and as fast as it is listened to, and counts what it could say. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatSource {
  readonly url: string;
  /** Bytes of body that were taken from it so far. */
  readonly taken: number;
  close(): Promise<void>;
}

/** @param pieces how many deltas of `size` characters make its answer */
export async function startChatSource(pieces: number, size: number): Promise<ChatSource> {
  let taken = 0;
  const chunk = (delta: object, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'talker', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const talk = async (): Promise<void> => {
      const say = async (text: string): Promise<void> => {
        if (!response.write(text)) await once(response, 'drain');
        taken += text.length;
      };
      await say(chunk({ role: 'assistant', content: '' }, null));
      const piece = chunk({ content: 'x'.repeat(size) }, null);
      for (let said = 0; said < pieces; said += 1) await say(piece);
      await say(chunk({}, 'stop'));
      response.end('data: [DONE]\n\n');
    };
    // A listener that leaves ends the talk.
    talk().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // A server that listens on a port has an address with one.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get taken() {
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
