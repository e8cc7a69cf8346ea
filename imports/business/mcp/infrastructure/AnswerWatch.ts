/**
 * Follows the events that a server answers a request with. A server that dies leaves the request without an answer, for
 * which the client would wait until its time limit.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { fieldsOf, readJson } from '../../ai/domain/util/json';

export type RequestId = string | number;

export class AnswerWatch {
  readonly requestId: RequestId;
  /** The event after which the server can go on over another connection. */
  lastEventId: string | undefined;
  hasAnswer = false;
  private readonly utf8 = new StringDecoder('utf8');
  private readonly parser = createParser({
    onEvent: ({ id, data }) => {
      if (id !== undefined && id !== '') this.lastEventId = id;
      // Only a message that has it can be the answer, and most of the others are long.
      this.hasAnswer ||= /"(?:result|error)"/.test(data) && isAnswer(data, this.requestId);
    },
  });

  constructor(requestId: RequestId, lastEventId?: string) {
    this.requestId = requestId;
    this.lastEventId = lastEventId;
  }

  read(chunk: Uint8Array): void {
    this.parser.feed(this.utf8.write(chunk));
  }
}

function isAnswer(data: string, requestId: RequestId): boolean {
  // What is not JSON is for the client to report.
  const message = fieldsOf(readJson(data));
  return message.id === requestId && ('result' in message || 'error' in message);
}
