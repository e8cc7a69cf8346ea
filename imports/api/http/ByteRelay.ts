/** Writes messages of a relayed stream to the client as bytes, between the frames of its encoder. */
import type { MessageRun, RelayTarget } from '../../business/ai/domain/types/RelayTarget';
import type { ResponseSink } from './ResponseSink';

/** An encoder that can tell that it would not change messages. */
export interface PassingEncoder {
  /** The last message was encoded as it came. */
  readonly passes: boolean;
  /** @returns the messages as the client gets them */
  pass(run: MessageRun): Uint8Array;
}

export class ByteRelay implements RelayTarget {
  characters = 0;
  /** Called after every write. */
  onWrite: (() => void) | undefined;
  private readonly sink: ResponseSink;
  private readonly encoder: PassingEncoder;

  constructor(sink: ResponseSink, encoder: PassingEncoder) {
    this.sink = sink;
    this.encoder = encoder;
  }

  get isOpen(): boolean {
    return this.encoder.passes;
  }

  write(run: MessageRun): Promise<void> | undefined {
    this.characters += run.characters;
    const drained = this.sink.writeBytes(this.encoder.pass(run));
    this.onWrite?.();
    return drained;
  }
}
