/**
 * Requests of servers of the revisions before 2026-07-28 to ask a person. The protocol does not say during which call
 * a server asks, so a request belongs to the only call that can have caused it: asking on behalf of another one would
 * show it to another user.
 */
import type { Client } from '@modelcontextprotocol/client';
import type { InputRequest } from '../../ai/domain/entities/Tool';
import type { InputAnswer } from '../../ai/domain/interfaces/IToolExecutor';
import { DECLINED, readElicitation, toElicitationAnswer } from './readElicitation';
import type { ElicitationAnswer } from './readElicitation';

/** A call in progress. */
export interface AskingCall {
  /** Waits for a person. */
  ask(request: Omit<InputRequest, 'id'>): Promise<InputAnswer>;
}

interface OpenRequest {
  readonly client: Client;
  /** The calls that may have caused it. */
  readonly candidates: Set<AskingCall>;
  readonly resolve: (call: AskingCall | undefined) => void;
}

export class McpElicitations {
  private readonly server: string;
  private readonly calls = new Map<AskingCall, Client>();
  /** The calls that wait for an answer, and thus ask nothing else. */
  private readonly asking = new Set<AskingCall>();
  private readonly open = new Set<OpenRequest>();

  constructor(server: string) {
    this.server = server;
  }

  /** @returns ends the call */
  begin(client: Client, call: AskingCall): () => void {
    this.calls.set(call, client);
    return () => {
      this.calls.delete(call);
      for (const { candidates } of this.open) candidates.delete(call);
      this.assign(client);
    };
  }

  /** @param params of `elicitation/create` */
  async answer(client: Client, params: unknown): Promise<ElicitationAnswer> {
    const request = readElicitation(this.server, params);
    if (request === undefined) return DECLINED;
    const call = await this.callOf(client);
    if (call === undefined) return DECLINED;
    this.asking.add(call);
    try {
      return toElicitationAnswer(await call.ask(request), request);
    } finally {
      this.asking.delete(call);
    }
  }

  /** @returns undefined if there is none, or it cannot be told which one it is */
  private callOf(client: Client): Promise<AskingCall | undefined> {
    return new Promise((resolve) => {
      const calls = [...this.calls].filter(([call, of]) => of === client && !this.asking.has(call));
      this.open.add({ client, candidates: new Set(calls.map(([call]) => call)), resolve });
      this.assign(client);
    });
  }

  /** A call that waits for its answer stays until only it can have asked. */
  private assign(client: Client): void {
    const open = [...this.open].filter((request) => request.client === client);
    for (const request of open) {
      const [first, second] = request.candidates;
      if (second === undefined) this.settle(request, first);
    }
    const left = open.filter((request) => this.open.has(request));
    // All of them ask, and none will end before it has its answer.
    const candidates = new Set(left.flatMap((request) => [...request.candidates]));
    if (left.length >= candidates.size) for (const request of left) this.settle(request, undefined);
  }

  private settle(request: OpenRequest, call: AskingCall | undefined): void {
    this.open.delete(request);
    request.resolve(call);
  }
}
