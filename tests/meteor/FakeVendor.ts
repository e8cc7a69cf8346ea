/**
 * A Chat Completions server on loopback with scripted responses, as JSON or as a stream. It has no dependencies,
 * because tests inside Meteor cannot use the simulator.
 */
import { createServer } from 'node:http';
import type { Server } from 'node:http';

export interface FakeResponse {
  readonly text?: string;
  readonly call?: { readonly name: string; readonly arguments: string };
}

export class FakeVendor {
  readonly responses: FakeResponse[] = [];
  /** The `Authorization` header of the last request. */
  lastAuthorization: string | undefined;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      this.lastAuthorization = request.headers.authorization;
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const scripted = this.responses.shift() ?? { text: 'No scripted response.' };
        const isStream = (JSON.parse(body) as { stream?: boolean }).stream === true;
        response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
        response.end(isStream ? streamCompletion(scripted) : JSON.stringify(completion(scripted)));
      });
    });
  }

  /** @returns its base URL */
  start(): Promise<string> {
    return new Promise((resolve) => {
      this.server.listen(0, '127.0.0.1', () => {
        const address = this.server.address();
        resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`);
      });
    });
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

const COMMON_FIELDS = { id: 'chatcmpl-1', created: 1, model: 'fake' } as const;
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } as const;

function completion(scripted: FakeResponse): object {
  return {
    ...COMMON_FIELDS,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', ...messageOf(scripted) }, finish_reason: reasonOf(scripted) }],
    usage: USAGE,
  };
}

function streamCompletion(scripted: FakeResponse): string {
  const chunk = (fields: object): string =>
    `data: ${JSON.stringify({ ...COMMON_FIELDS, object: 'chat.completion.chunk', ...fields })}\n\n`;
  return [
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', ...messageOf(scripted) }, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: reasonOf(scripted) }] }),
    chunk({ choices: [], usage: USAGE }),
    'data: [DONE]\n\n',
  ].join('');
}

function messageOf({ text, call }: FakeResponse): object {
  return call === undefined
    ? { content: text ?? '' }
    : { content: null, tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] };
}

function reasonOf({ call }: FakeResponse): string {
  return call === undefined ? 'stop' : 'tool_calls';
}
