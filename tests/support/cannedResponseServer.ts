/** A local server that responds to every request with one prepared body, and records the last request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CannedResponseServer {
  readonly url: string;
  /** The parsed body of the last request. */
  readonly lastRequestBody: unknown;
  respondWith(body: string, contentType: string, status?: number): void;
  close(): Promise<void>;
}

export async function startCannedResponseServer(): Promise<CannedResponseServer> {
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
    // A server that listens on a port has an `AddressInfo` as its address.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get lastRequestBody() {
      return last;
    },
    respondWith: (body, contentType, status = 200) => {
      next = { body, contentType, status };
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}
