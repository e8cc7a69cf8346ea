/**
 * Translates a stream from any scheme to any other: one decoder, one encoder, and with every line the chunk that the
 * agentic loop reads.
 */
import type { EventStream } from '../../domain/events/EventStream';
import { LLMInvalidRequestError, LLMStreamError } from '../../domain/errors/LLMErrors';
import type { JsonObject, SchemeName, ServedScheme } from '../../domain/types/VendorTypes';
import { ChatChunks } from '../converters/chat/stream/ChatChunks';
import { createStreamEncoder } from './createStreamEncoder';
import type { OpenAIChunk } from '../converters/chat/stream/OpenAIChunk';
import { SCHEMES, SOURCE_SCHEMES } from './schemes';
import { StreamSession } from './StreamSession';
import type { StreamOptions, StreamInput } from './StreamSession';

/**
 * One SSE message in the target scheme, including its blank line, or `''` if the client must not see it; and the
 * chunk for the loop. All tool calls are in the chunk with the finish reason, each with its complete arguments.
 */
export type StreamPair = [line: string, chunk: OpenAIChunk];

export class UnifiedStreamAdapter {
  readonly sourceScheme: SchemeName;
  readonly targetScheme: ServedScheme;

  /** @throws LLMInvalidRequestError for a scheme that does not exist, or that streams cannot be written in */
  constructor(sourceScheme: SchemeName = 'openai', targetScheme: ServedScheme = 'openai') {
    for (const [scheme, schemes] of [
      [sourceScheme, SOURCE_SCHEMES],
      [targetScheme, SCHEMES],
    ] as const) {
      if (!Object.hasOwn(schemes, scheme))
        throw new LLMInvalidRequestError(
          `Unknown scheme "${scheme}". Expected one of: ${Object.keys(schemes).join(', ')}.`,
        );
    }
    this.sourceScheme = sourceScheme;
    this.targetScheme = targetScheme;
  }

  /**
   * Reads the source only as fast as the consumer pulls. Calling `return()` cancels the source in the same tick.
   * A stream that fails ends with an error line in the target's format, and then throws. A source with an error
   * status throws before the first line, so that the caller can still respond with an error status.
   * @throws LLMError for an error that the vendor reports
   * @throws LLMStreamError for a stream that is truncated or violates its wire's format
   * @throws LLMTimeoutError when no data arrives for `streamIdleTimeout`
   * @throws the signal's reason when aborted
   */
  processStream(source: StreamInput, options: StreamOptions = {}): AsyncGenerator<StreamPair, void, undefined> {
    const session = new StreamSession(this.sourceScheme, source, options);
    const pairs = this.pairs(session);
    const stop = pairs.return.bind(pairs);
    // A generator that is waiting for its source handles `return` only once the source delivers something.
    pairs.return = (value) => {
      session.cancel();
      return stop(value);
    };
    return pairs;
  }

  /**
   * Reads the stream to its end.
   * @returns the complete response, as the target scheme's API returns it without streaming
   * @throws as `processStream` does
   */
  async collect(source: StreamInput, options: StreamOptions = {}): Promise<JsonObject> {
    const session = new StreamSession(this.sourceScheme, source, options);
    await session.throwIfRejected();
    try {
      for await (const event of session.events())
        if (event.type === 'response.completed') return SCHEMES[this.targetScheme].write(event.response, options.echo);
    } catch (thrown) {
      throw session.toCallerError(thrown);
    }
    throw new LLMStreamError('The stream ended before the response was complete.');
  }

  private async *pairs(session: StreamSession): AsyncGenerator<StreamPair, void, undefined> {
    await session.throwIfRejected();
    const encoder = createStreamEncoder(this.targetScheme, session.encoderOptions);
    const chunks = new ChatChunks(session.encoderOptions);
    let source: EventStream | undefined;
    let isComplete = false;
    try {
      source = session.events();
      for (let events = await source.read(); events !== undefined; events = await source.read()) {
        for (const event of events) {
          const lines = encoder.push(event);
          const loopChunks = chunks.push(event);
          // Preparatory lines come first; the line with the chunk's content is paired with the chunk.
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
    } finally {
      await source?.close();
    }
    for (const line of encoder.end()) yield [line, chunks.empty];
  }
}
