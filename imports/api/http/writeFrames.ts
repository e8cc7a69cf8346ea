/** Writes frames that are encoded already as they arrive, with backpressure and the end marker of OpenAI's streams. */
import type { FrameSink } from './FrameSink';
import { KeepAliveTimer } from './KeepAliveTimer';
import type { WriteStreamOptions } from './writeStream';

const DONE = 'data: [DONE]\n\n';

/** @throws what the source throws, unless the client has disconnected */
export async function writeFrames(
  frames: AsyncIterable<string>,
  sink: FrameSink,
  { hasLeft, keepAliveAfter }: Pick<WriteStreamOptions, 'hasLeft' | 'keepAliveAfter'>,
): Promise<void> {
  const keepAlive = new KeepAliveTimer(keepAliveAfter, () => sink.keepAlive());
  try {
    for await (const frame of frames) {
      await sink.write([frame]);
      keepAlive.touch();
    }
    await sink.write([DONE]);
  } catch (thrown) {
    if (!hasLeft()) throw thrown;
    return;
  } finally {
    keepAlive.stop();
  }
  sink.end();
}
