/** A server of the dashboard's routes whose responses and streams are controlled by the test. */
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';

export interface ScriptedResponse {
  readonly status?: number;
  readonly body?: unknown;
}

export class DashboardServer {
  /** By method and path, such as `GET /api/runs`. */
  readonly responses = new Map<string, ScriptedResponse | (() => ScriptedResponse | Promise<ScriptedResponse>)>();
  /** Every request as `GET /api/runs`, with its `last-event-id`. */
  readonly requests: { readonly line: string; readonly lastEventId: string | undefined; readonly body: unknown }[] = [];
  readonly streams = new Set<ServerResponse>();
  url = '';
  private server: Server | undefined;
  private id = 0;

  async start(): Promise<void> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const line = `${request.method ?? ''} ${request.url ?? ''}`;
        this.requests.push({
          line,
          lastEventId: request.headers['last-event-id'] as string | undefined,
          body: text === '' ? undefined : JSON.parse(text),
        });
        void this.respond(line, response);
      });
    });
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
    // A server that listens on a port has an address object.
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  sendEvents(...events: readonly AgentEvent[]): void {
    for (const event of events)
      this.send(`event: ${event.type}\nid: ${(this.id += 1)}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  send(frames: string): void {
    for (const stream of this.streams) stream.write(frames);
  }

  /** Breaks every stream, as a network failure does. */
  cut(): void {
    for (const stream of this.streams) stream.destroy();
    this.streams.clear();
  }

  count(line: string): number {
    return this.requests.filter((request) => request.line === line).length;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server?.close(() => resolve());
      this.server?.closeAllConnections();
    });
  }

  private async respond(line: string, response: ServerResponse): Promise<void> {
    const found = this.responses.get(line);
    const { status = 200, body } =
      (typeof found === 'function' ? await found() : found) ??
      (line.startsWith('GET /api/runs/stream')
        ? {}
        : { status: 404, body: { error: { code: 'not-found', message: 'Not found.' } } });
    if (status === 200 && line.startsWith('GET /api/runs/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`id: ${this.id}\n\n`);
      this.streams.add(response);
      response.on('close', () => this.streams.delete(response));
      return;
    }
    await turn();
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }
}
