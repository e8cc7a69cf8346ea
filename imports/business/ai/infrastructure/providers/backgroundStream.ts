/**
 * The stream of a response in the background, which the vendor goes on with when a connection ends, and sends again
 * from any event on. https://developers.openai.com/api/docs/guides/background#streaming-a-background-response
 */
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { isLLMError } from '../../domain/errors/LLMErrors';
import { fieldsOf, readJson } from '../../domain/util/json';
import { sleep } from './backgroundResponse';

/** Opens the stream again, after the event of this number. */
export type Reopen = (responseId: string, startingAfter: number) => Promise<AsyncIterable<Uint8Array>>;

const ENDS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'error',
]);
/** Connections in a row that bring no event, after which the stream counts as broken. */
const MAX_FAILURES = 4;
const FIRST_PAUSE_MS = 250;

/**
 * The messages of a stream, whole, with those that its vendor sends over further connections.
 * @throws the error of the first connection without a message if there is no response to go on with, or of the last one
 */
export async function* resumedStream(
  body: AsyncIterable<Uint8Array>,
  reopen: Reopen,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const place = new Place();
  let connection = body;
  for (let failures = 0; ;) {
    const start = place.after;
    let failure: { readonly error: unknown } | undefined;
    try {
      yield* place.follow(connection);
    } catch (error) {
      failure = { error };
    }
    if (place.hasEnded) return;
    failures = place.after === start ? failures + 1 : 0;
    const { responseId, after } = place;
    const isLost = failure === undefined || (isLLMError(failure.error) && failure.error.retryable);
    if (responseId === undefined || after === undefined || !isLost || failures >= MAX_FAILURES) {
      if (failure !== undefined) throw failure.error;
      return;
    }
    if (failures > 0) await sleep(FIRST_PAUSE_MS * 2 ** failures, signal);
    connection = reopened(reopen, responseId, after);
  }
}

/** A connection whose failure to open is one of its own. */
async function* reopened(reopen: Reopen, responseId: string, after: number): AsyncGenerator<Uint8Array> {
  yield* await reopen(responseId, after);
}

/** How far a stream has been read. */
class Place {
  responseId: string | undefined;
  /** The number of the last message. */
  after: number | undefined;
  hasEnded = false;

  /** Half a message, with which a connection ended, is sent again by the next one. */
  async *follow(connection: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const utf8 = new StringDecoder('utf8');
    const messages: string[] = [];
    const parser = createParser({ onEvent: ({ data }) => messages.push(data) });
    let plain = '';
    for await (const chunk of connection) {
      const text = utf8.write(chunk);
      if (this.responseId === undefined) plain += text;
      parser.feed(text);
      for (const data of messages.splice(0)) {
        this.pass(data);
        yield Buffer.from(`data: ${data.replaceAll('\n', '\ndata: ')}\n\n`);
      }
    }
    // Some vendors answer with an error as JSON instead of a stream.
    if (this.responseId === undefined) yield Buffer.from(plain);
  }

  private pass(data: string): void {
    const { type, sequence_number, response } = messageOf(data);
    const { id } = fieldsOf(response);
    if (typeof id === 'string') this.responseId = id;
    if (typeof sequence_number === 'number') this.after = sequence_number;
    if (ENDS.has(type)) this.hasEnded = true;
  }
}

/** What is no JSON is for the decoder to report. */
function messageOf(data: string): Readonly<Record<string, unknown>> {
  return fieldsOf(readJson(data));
}
