/** An HTTP server on 127.0.0.1 that responds as the test specifies and records its requests. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void;

export class TestHost {
  readonly requests: SeenRequest[] = [];
  readonly sockets = new Set<Socket>();
  /** The number of connections accepted so far. */
  connections = 0;
  answer: Answer;
  private readonly server: Server;

  private constructor(answer: Answer) {
    this.answer = answer;
    this.server = createServer((request, response) => {
      void this.take(request, response);
    });
    this.server.on('connection', (socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  static async start(answer: Answer = json({ ok: true })): Promise<TestHost> {
    const host = new TestHost(answer);
    host.server.listen(0, '127.0.0.1');
    await once(host.server, 'listening');
    return host;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    this.requests.push(seen);
    this.answer(response, seen);
  }
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Resolves when the client closes the connection. */
export function gone(response: ServerResponse): Promise<unknown> {
  return once(response, 'close');
}
