/** A local server that responds to every request with a prepared stream, for official clients to read. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SseServer {
  readonly url: string;
  /** Sets the frames of all following responses. */
  serve(frames: readonly string[]): void;
  close(): Promise<void>;
}

export async function startSseServer(): Promise<SseServer> {
  let current: readonly string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    for (const frame of current) response.write(frame);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // The address of a server that listens on a TCP port is never null or a string.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (frames) => {
      current = frames;
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}
