/**
 * The environment of runs in child processes, on loopback: the model's vendor, the remote services, and a record of all
 * requests to them.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { mixedAnswer } from './mixedModel';

interface WorldRequest {
  readonly run: string;
  readonly items: readonly Item[];
  readonly tool: string;
  readonly key: string;
  readonly result: string;
  readonly call: string;
  readonly effect: string;
}

export interface Effect {
  readonly pid: number;
  readonly effect: string;
}

export class RunWorld {
  readonly effects: Effect[] = [];
  /** Whether reviewers check that a call had its effect; otherwise they assume that it had. */
  reviewersCheckEffects = true;
  /** `run:call` of the calls that were reviewed. */
  readonly reviewed = new Set<string>();
  private readonly requests = new Map<string, (readonly Item[])[]>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      void read(request).then(({ pid, body }) =>
        response.end(JSON.stringify(this.answer(request.url ?? '', pid, body))),
      );
    });
  }

  async open(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The inputs of the model calls of a run. */
  requestsOf(run: string): readonly (readonly Item[])[] {
    return this.requests.get(run) ?? [];
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(path: string, pid: number, { run, items, tool, key, result, call, effect }: WorldRequest): unknown {
    switch (path) {
      case '/model':
        this.requests.set(run, [...this.requestsOf(run), items]);
        return mixedAnswer(items);
      case '/effect':
        this.effects.push({ pid, effect: `${tool} ${key}` });
        return result;
      default:
        this.reviewed.add(`${run}:${call}`);
        return !this.reviewersCheckEffects || this.effects.some((done) => done.effect === effect);
    }
  }
}

async function read(request: IncomingMessage): Promise<{ readonly pid: number; readonly body: WorldRequest }> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  // Sent by `runChild`, which is trusted.
  return JSON.parse(text) as { readonly pid: number; readonly body: WorldRequest };
}
