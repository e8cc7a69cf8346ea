/** A client of the Responses API's WebSocket that validates every message it receives. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { checkEvents, expectValid } from './openResponses';
import type { OpenResponsesEvent } from './openResponses';

export interface SocketTurn {
  readonly events: readonly OpenResponsesEvent[];
  /** Set unless the turn ended with an error. */
  readonly response?: JsonObject;
  readonly error?: { readonly code: string; readonly message: string };
  readonly status?: number;
}

export interface ResponsesSocketClient {
  readonly socket: WebSocket;
  turn(request: JsonObject): Promise<SocketTurn>;
  /** The next message, whatever it is. */
  next(): Promise<JsonObject>;
  close(): Promise<void>;
}

export async function openSocket({
  url,
  token,
  headers = {},
}: {
  readonly url: string;
  readonly token: string;
  readonly headers?: Readonly<Record<string, string>>;
}): Promise<ResponsesSocketClient> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  const arrived: JsonObject[] = [];
  const waiting: ((message: JsonObject) => void)[] = [];
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as JsonObject;
    const next = waiting.shift();
    if (next === undefined) arrived.push(message);
    else next(message);
  });
  await once(socket, 'open');
  const next = (): Promise<JsonObject> => {
    const message = arrived.shift();
    return message === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(message);
  };
  return {
    socket,
    next,
    async turn(request) {
      const create = { type: 'response.create', ...request };
      expectValid('websocket-create-event', create);
      socket.send(JSON.stringify(create));
      const events: OpenResponsesEvent[] = [];
      for (;;) {
        const message = await next();
        if (message['type'] === 'error') {
          expectValid('websocket-error-event', message);
          // An error ends the turn; items streamed before it stay unfinished.
          return {
            events,
            error: message['error'] as { code: string; message: string },
            status: message['status'] as number,
          };
        }
        const event = message as OpenResponsesEvent;
        events.push(event);
        if (/^response\.(?:completed|incomplete|failed)$/.test(event.type))
          return { events, response: checkEvents(events) };
      }
    },
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
