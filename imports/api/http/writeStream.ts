/** A model's events, encoded, into a sink: as they come, at the reader's pace, with one end. */
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../business/ai/domain/types/StreamEvents';
import type { StreamEncoder } from '../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { FrameSink } from './FrameSink';
import { KeepAliveTimer } from './KeepAliveTimer';

export interface PumpOptions {
  /** The reader is gone: nothing is said any more. */
  readonly hasLeft: () => boolean;
  /** Milliseconds of silence after which the connection is kept alive. */
  readonly keepAliveAfter: number;
  readonly toError: (thrown: unknown) => LLMError;
  /** What is encoded instead of an event. May throw what is wrong with it. */
  readonly prepare?: (event: ResponseStreamEvent) => ResponseStreamEvent;
  /** Waited for before the frames of the whole response go out. */
  readonly beforeComplete?: (frames: readonly string[]) => Promise<void>;
  /** The frames of a failure. Default: the encoder's. */
  readonly fail?: (error: LLMError) => readonly string[] | Promise<readonly string[]>;
}

/**
 * Resolves when the stream has ended, well or not, or its reader has left.
 * @throws what the events throw before anything was sent
 */
export async function writeStream(
  events: AsyncIterable<ResponseStreamEvent>,
  encoder: StreamEncoder,
  sink: FrameSink,
  options: PumpOptions,
): Promise<void> {
  const { hasLeft, prepare, beforeComplete } = options;
  const silence = new KeepAliveTimer(options.keepAliveAfter, () => sink.keepAlive());
  const writeAll = async (frames: readonly string[]): Promise<void> => {
    for (const frame of frames) {
      const room = sink.write(frame);
      silence.touch();
      if (room !== undefined) await room;
    }
  };
  try {
    for await (const event of events) {
      const frames = encoder.push(prepare === undefined ? event : prepare(event));
      if (beforeComplete !== undefined && event.type === 'response.completed') await beforeComplete(frames);
      if (frames.length > 0) await writeAll(frames);
    }
    await writeAll(encoder.end());
  } catch (thrown) {
    if (hasLeft()) return;
    if (!sink.hasBegun) throw thrown;
    const error = options.toError(thrown);
    await writeAll((await options.fail?.(error)) ?? encoder.fail(error));
    sink.fail();
    return;
  } finally {
    silence.stop();
  }
  sink.end();
}
