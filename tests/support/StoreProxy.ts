/** A TCP proxy between Bolide and a MongoDB, with which tests cut the connection, stall it, or slow it down. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/**
 * `cut`: connections are reset and refused. `stall`: they are accepted, and what is sent on them is kept back until the
 * stall ends. `lost`: as `stall`, but what is sent is lost, as by a network that drops packets, and so are the
 * connections.
 */
export type OutageKind = 'cut' | 'stall' | 'lost';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes any more, and neither side learns of it. */
  isLost: boolean;
}

export class StoreProxy {
  /** The URL of the database, through this proxy. */
  readonly url: string;
  /** Milliseconds by which each request is delayed. */
  delayMs = 0;
  private readonly target: URL;
  private readonly port: number;
  private server: Server | undefined;
  private outage: OutageKind | undefined;
  private readonly pairs = new Set<Pair>();
  /** What is kept back, in order. */
  private kept: (() => void)[] = [];

  private constructor(target: URL, server: Server) {
    this.target = target;
    this.server = server;
    this.port = (server.address() as AddressInfo).port;
    const url = new URL(target);
    url.host = `127.0.0.1:${this.port}`;
    this.url = url.href;
    server.on('connection', this.onConnection);
  }

  /** @param target the URL of the database itself */
  static async start(target: string): Promise<StoreProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new StoreProxy(new URL(target), server);
  }

  async begin(kind: OutageKind): Promise<void> {
    this.outage = kind;
    if (kind === 'cut') await this.refuse();
    if (kind === 'lost') for (const pair of this.pairs) pair.isLost = true;
  }

  async end(): Promise<void> {
    this.outage = undefined;
    for (const pass of this.kept.splice(0)) pass();
    if (this.server !== undefined) return;
    const server = createServer(this.onConnection);
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.server = server;
  }

  async stop(): Promise<void> {
    await this.refuse();
  }

  private async refuse(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    for (const { client, server: upstream } of this.pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    await closed;
  }

  private readonly onConnection = (client: Socket): void => {
    const server = connect(Number(this.target.port), this.target.hostname);
    const pair: Pair = { client, server, isLost: this.outage === 'lost' };
    this.pairs.add(pair);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // The other side learns of it by the end of the connection.
      socket.on('error', () => undefined);
    }
    client.on('data', (data) => {
      if (this.delayMs > 0) setTimeout(() => this.pass(pair, () => server.write(data)), this.delayMs);
      else this.pass(pair, () => server.write(data));
    });
    server.on('data', (data) => this.pass(pair, () => client.write(data)));
    client.on('close', () => {
      this.pairs.delete(pair);
      this.pass(pair, () => server.end());
    });
    server.on('close', () => this.pass(pair, () => client.destroy()));
  };

  private pass(pair: Pair, send: () => void): void {
    if (pair.isLost) return;
    if (this.outage === 'stall') this.kept.push(send);
    else send();
  }
}
