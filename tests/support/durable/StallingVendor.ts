/**
 * A vendor that speaks Chat Completions and repeats the last message. The first answer to a message that contains
 * `stall` stops in its middle, the one to a message with `hang` before its beginning, for ever.
 */
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Request {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export class StallingVendor {
  /** The last message of each request. */
  readonly asked: string[] = [];
  private readonly histories = new Map<string, readonly string[]>();
  /** Answers end as they should from now on. */
  isWell = false;
  private readonly server: Server;
  private readonly arrivals = new EventEmitter();

  private constructor() {
    this.server = createServer((request, response) => void this.respond(request, response));
  }

  static async start(): Promise<StallingVendor> {
    const vendor = new StallingVendor();
    vendor.server.listen(0, '127.0.0.1');
    await once(vendor.server, 'listening');
    return vendor;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  timesAsked(message: string): number {
    return this.asked.filter((asked) => asked === message).length;
  }

  /** All messages of the last request that ended with this one. */
  historyOf(message: string): readonly string[] {
    return this.histories.get(message) ?? [];
  }

  /** Resolves when the message has reached the vendor so often. */
  async hasBeenAsked(message: string, times = 1): Promise<void> {
    while (this.timesAsked(message) < times) await once(this.arrivals, 'message');
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    // Boundary: what the wire of Chat Completions sends.
    const { stream = false, messages } = JSON.parse(body) as Request;
    const message = messages.at(-1)?.content ?? '';
    this.asked.push(message);
    this.histories.set(
      message,
      messages.map(({ content }) => content),
    );
    this.arrivals.emit('message');
    if (message.includes('hang') && !this.isWell) return;
    const pieces = answerTo(message).split(/(?<= )/);
    const common = { id: 'c1', created: 1, model: 'talker' };
    if (!stream) {
      const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: pieces.join('') } };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...common, object: 'chat.completion', choices: [choice], usage: USAGE }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (choice: object): void => {
      const chunk = { ...common, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    for (const [index, content] of pieces.entries()) {
      if (index === 2 && message.includes('stall') && !this.isWell) return;
      send({ delta: { role: 'assistant', content }, finish_reason: null });
    }
    send({ delta: {}, finish_reason: 'stop' });
    response.end('data: [DONE]\n\n');
  }
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

export function answerTo(message: string): string {
  return `You said: ${message}`;
}
