/**
 * A load balancer for tests: requests go to servers in turn, and servers whose `/ready` does not answer 200 get none.
 * It repeats nothing.
 */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Milliseconds between two looks at `/ready`. */
const PROBE_MS = 100;

export class RoundRobinProxy {
  /** Requests that no server has answered, with the reason. */
  readonly failures: string[] = [];
  private readonly server: Server;
  /** By URL, whether it is ready. */
  private readonly backends = new Map<string, boolean>();
  private readonly timer: NodeJS.Timeout;
  private turn = 0;

  private constructor() {
    this.server = createServer((request, response) => this.forward(request, response));
    this.timer = setInterval(() => void this.probe(), PROBE_MS);
  }

  static async start(): Promise<RoundRobinProxy> {
    const proxy = new RoundRobinProxy();
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get readyCount(): number {
    return [...this.backends.values()].filter(Boolean).length;
  }

  add(url: string): void {
    this.backends.set(url, false);
  }

  remove(url: string): void {
    this.backends.delete(url);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async probe(): Promise<void> {
    await Promise.all(
      [...this.backends.keys()].map(async (url) => {
        const isReady = await fetch(`${url}/ready`).then(
          ({ status }) => status === 200,
          () => false,
        );
        if (this.backends.has(url)) this.backends.set(url, isReady);
      }),
    );
  }

  private forward(request: IncomingMessage, response: ServerResponse): void {
    const ready = [...this.backends].flatMap(([url, isReady]) => (isReady ? [url] : []));
    this.turn += 1;
    const target = ready[this.turn % ready.length];
    const fail = (reason: string): void => {
      this.failures.push(`${request.method} ${request.url}: ${reason}`);
      if (!response.headersSent) response.writeHead(502);
      response.end();
    };
    if (target === undefined) {
      fail('no server is ready');
      return;
    }
    const { method, headers } = request;
    const forwarded = send(target + (request.url ?? ''), { method, headers, agent: false }, (answer) => {
      // These headers describe the connection to the server.
      const { connection: _connection, 'keep-alive': _keepAlive, ...passed } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, passed);
      answer.pipe(response);
    });
    forwarded.on('error', (error) => fail(error.message));
    response.on('close', () => forwarded.destroy());
    request.pipe(forwarded);
  }
}
