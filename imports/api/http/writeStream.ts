/** Encodes events and writes them to a sink as they arrive, with backpressure and exactly one end. */
import type { EventBatches } from '../../business/ai/domain/events/EventBatches';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../business/ai/domain/types/StreamEvents';
import type { ByteRelay } from './ByteRelay';
import type { FrameSink } from './FrameSink';
import { KeepAliveTimer } from './KeepAliveTimer';

/** Turns events into frames. */
export interface EventEncoder<Event> {
  push(event: Event): readonly string[];
  /** The frames after the last event. */
  end(): readonly string[];
  /** The frames of a failure after something was sent. */
  fail(error: LLMError): readonly string[];
}

export interface WriteStreamOptions<Event = ResponseStreamEvent> {
  /** The client has disconnected, so nothing is written any more. */
  readonly hasLeft: () => boolean;
  /** Milliseconds without a write after which a keep-alive message is sent. */
  readonly keepAliveAfter: number;
  readonly toError: (thrown: unknown) => LLMError;
  /** Replaces an event before it is encoded. May throw to reject it. */
  readonly prepare?: (event: Event) => Event;
  /** Awaited before the frames of the completed response are sent. */
  readonly beforeComplete?: (frames: readonly string[]) => Promise<void>;
  /** Writes other frames of the stream. */
  readonly relay?: ByteRelay | undefined;
  /** The frames of a failure. Default: the encoder's. */
  readonly fail?: (error: LLMError) => readonly string[] | Promise<readonly string[]>;
}

/**
 * Frames of events that arrived together are written together. Resolves when the stream has ended, with or without an
 * error, or its client has disconnected.
 * @throws the stream's error, if nothing has been sent yet
 */
export async function writeStream<Event extends { readonly type: string }>(
  events: EventBatches<Event>,
  encoder: EventEncoder<Event>,
  sink: FrameSink,
  options: WriteStreamOptions<Event>,
): Promise<void> {
  const { hasLeft, prepare, beforeComplete, relay } = options;
  const keepAlive = new KeepAliveTimer(options.keepAliveAfter, () => sink.keepAlive());
  if (relay !== undefined) relay.onWrite = () => keepAlive.touch();
  let frames: string[] = [];
  const write = (): Promise<void> | undefined => {
    if (frames.length === 0) return undefined;
    const drained = sink.write(frames);
    frames = [];
    keepAlive.touch();
    return drained;
  };
  try {
    for (let batch = await events.read(); batch !== undefined; batch = await events.read()) {
      for (const event of batch) {
        const encoded = encoder.push(prepare === undefined ? event : prepare(event));
        if (beforeComplete !== undefined && event.type === 'response.completed') {
          await write();
          await beforeComplete(encoded);
        }
        frames.push(...encoded);
      }
      const drained = write();
      if (drained !== undefined) await drained;
    }
    frames.push(...encoder.end());
    await write();
  } catch (thrown) {
    // The first error counts.
    await events.close().catch(() => undefined);
    if (hasLeft()) return;
    // The frames of the events before the failed one are still sent.
    await write();
    if (!sink.hasStarted) throw thrown;
    const error = options.toError(thrown);
    const failure = (await options.fail?.(error)) ?? encoder.fail(error);
    frames.push(...failure);
    await write();
    // A stream that has reported its own failure ends as it does at its vendor.
    if (failure.length > 0) sink.fail();
    else sink.end();
    return;
  } finally {
    keepAlive.stop();
  }
  sink.end();
}
