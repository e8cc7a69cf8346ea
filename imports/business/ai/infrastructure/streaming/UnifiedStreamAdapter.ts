/**
 * Any vendor's stream in, any scheme out: one decoder, one encoder, and beside every line the chunk that the loop
 * reads.
 */
import { LLMInvalidRequestError, LLMStreamError } from '../../domain/errors/LLMErrors';
import type { JsonObject, SchemeName } from '../../domain/types/VendorTypes';
import { ChatChunks } from '../converters/chat/stream/ChatChunks';
import { createStreamEncoder } from './createStreamEncoder';
import type { OpenAIChunk } from '../converters/chat/stream/OpenAIChunk';
import { SCHEMES } from './schemes';
import { StreamSession } from './StreamSession';
import type { StreamOptions, StreamInput } from './StreamSession';

/**
 * One SSE message in the target scheme, blank line included, or `''` for what is kept from the client; and the
 * loop's chunk.
 */
export type StreamPair = [line: string, chunk: OpenAIChunk];

export class UnifiedStreamAdapter {
  readonly sourceScheme: SchemeName;
  readonly targetScheme: SchemeName;

  /** @throws LLMInvalidRequestError for a scheme that does not exist */
  constructor(sourceScheme: SchemeName, targetScheme: SchemeName) {
    for (const scheme of [sourceScheme, targetScheme]) {
      if (!Object.hasOwn(SCHEMES, scheme))
        throw new LLMInvalidRequestError(
          `There is no scheme ${scheme}: the schemes are ${Object.keys(SCHEMES).join(', ')}.`,
        );
    }
    this.sourceScheme = sourceScheme;
    this.targetScheme = targetScheme;
  }

  /**
   * Pulls no further than its consumer asks. A consumer that leaves gives the body up in the same tick.
   * A stream that fails ends with the target's error as its last line, and then throws; an answer with an error
   * status throws at once, so that it can be answered with one.
   * @throws LLMError for what the vendor reports, LLMStreamError for a stream that breaks off or breaks its
   *   wire's rules, LLMTimeoutError for
   * a stall, the signal's reason when aborted
   */
  processStream(source: StreamInput, options: StreamOptions = {}): AsyncGenerator<StreamPair, void, undefined> {
    const session = new StreamSession(this.sourceScheme, source, options);
    const pairs = this.pairs(session);
    const stop = pairs.return.bind(pairs);
    // A generator that waits for its source would hear of it only when something comes.
    pairs.return = (value) => {
      session.cancel();
      return stop(value);
    };
    return pairs;
  }

  /**
   * The whole answer, as the target scheme's API gives it without streaming. @throws as `processStream` does,
   * without a last line
   */
  async collect(source: StreamInput, options: StreamOptions = {}): Promise<JsonObject> {
    const session = new StreamSession(this.sourceScheme, source, options);
    await session.throwIfRejected();
    try {
      for await (const events of session.events()) {
        const completed = events.find((event) => event.type === 'response.completed');
        if (completed !== undefined) return SCHEMES[this.targetScheme].write(completed.response, options.echo);
      }
    } catch (thrown) {
      throw session.toCallerError(thrown);
    }
    throw new LLMStreamError('The stream ended before the answer did.');
  }

  private async *pairs(session: StreamSession): AsyncGenerator<StreamPair, void, undefined> {
    await session.throwIfRejected();
    const encoder = createStreamEncoder(this.targetScheme, session.encoderOptions);
    const chunks = new ChatChunks(session.encoderOptions);
    let isComplete = false;
    try {
      for await (const events of session.events()) {
        for (const event of events) {
          const lines = encoder.push(event);
          const loopChunks = chunks.push(event);
          // Lines that only prepare come before the one that says what the chunk says.
          const offset = Math.max(0, lines.length - loopChunks.length);
          const length = Math.max(lines.length, loopChunks.length);
          for (let index = 0; index < length; index += 1)
            yield [lines[index] ?? '', loopChunks[index - offset] ?? chunks.empty];
          isComplete = event.type === 'response.completed';
          if (isComplete) break;
        }
        if (isComplete) break;
      }
    } catch (thrown) {
      if (session.isCancelled) return;
      const line = encoder.fail(session.toClientError(thrown)).join('');
      if (line !== '') yield [line, chunks.empty];
      throw session.toCallerError(thrown);
    }
    for (const line of encoder.end()) yield [line, chunks.empty];
  }
}
