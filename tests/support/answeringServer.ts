/** A local host that answers the next request with one prepared body, and remembers what it was asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AnsweringServer {
  readonly url: string;
  /** The body of the last request, parsed. */
  readonly last: unknown;
  answer(body: string, contentType: string, status?: number): void;
  close(): Promise<void>;
}

export async function startAnsweringServer(): Promise<AnsweringServer> {
  let next = { body: '', contentType: 'application/json', status: 200 };
  let last: unknown;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      last = JSON.parse(Buffer.concat(chunks).toString());
      response.writeHead(next.status, { 'content-type': next.contentType });
      response.end(next.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // A server that listens on a port has an address with one.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get last() {
      return last;
    },
    answer: (body, contentType, status = 200) => {
      next = { body, contentType, status };
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}
