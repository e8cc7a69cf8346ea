/** Passes WebSockets on to a server, and records their messages. It serves no other request. */
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

/** These describe the connection to the proxy. */
const OWN_HEADERS = /^(?:host|connection|upgrade|sec-websocket-.*)$/;

export class SocketProxy {
  /** What clients have sent. */
  readonly sent: JsonObject[] = [];
  /** What the server has sent. */
  readonly received: JsonObject[] = [];

  private constructor(
    private readonly server: WebSocketServer,
    private readonly target: string,
  ) {
    server.on('connection', (client, { url = '', headers }) => this.connect(client, url, headers));
  }

  /** @param target the server's address */
  static async start(target: string): Promise<SocketProxy> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    return new SocketProxy(server, target);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const client of this.server.clients) client.terminate();
    this.server.close();
    await once(this.server, 'close');
  }

  private connect(client: WebSocket, url: string, given: IncomingHttpHeaders): void {
    const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !OWN_HEADERS.test(name)));
    const upstream = new WebSocket(this.target.replace('http', 'ws') + url, { headers });
    const opened = once(upstream, 'open');
    client.on('message', (data: Buffer) => {
      this.sent.push(JSON.parse(data.toString()) as JsonObject);
      void opened.then(() => upstream.send(data.toString()));
    });
    upstream.on('message', (data: Buffer) => {
      this.received.push(JSON.parse(data.toString()) as JsonObject);
      client.send(data.toString());
    });
    client.on('close', () => upstream.terminate());
    upstream.on('close', () => client.terminate());
    upstream.on('error', () => client.terminate());
  }
}
