import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import { LLMError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { EventBatches } from '../../../../imports/business/ai/domain/events/EventBatches';
import type { FrameSink } from '../../../../imports/api/http/FrameSink';
import { writeStream } from '../../../../imports/api/http/writeStream';
import type { EventEncoder, WriteStreamOptions } from '../../../../imports/api/http/writeStream';
import { deferred } from '../../../support/deferred';

interface Letter {
  readonly type: string;
}

const letters = (text: string): Letter[] => Array.from(text, (type) => ({ type }));

/** Fails after the last batch if there is an error. */
class Source implements EventBatches<Letter> {
  reads = 0;
  isClosed = false;
  private readonly batches: (readonly Letter[])[];
  private readonly error: Error | undefined;

  constructor(batches: readonly (readonly Letter[])[], error?: Error) {
    this.batches = [...batches];
    this.error = error;
  }

  read(): Promise<readonly Letter[] | undefined> {
    this.reads += 1;
    const batch = this.batches.shift();
    return batch === undefined && this.error !== undefined ? Promise.reject(this.error) : Promise.resolve(batch);
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

class Sink implements FrameSink {
  readonly log: string[] = [];
  hasStarted = false;
  /** What `write` returns. */
  drained: Promise<void> | undefined;

  write(frames: readonly string[]): Promise<void> | undefined {
    this.hasStarted = true;
    this.log.push(frames.join(' '));
    return this.drained;
  }

  keepAlive(): void {
    this.log.push('keep-alive');
  }

  end(): void {
    this.log.push('end');
  }

  fail(): void {
    this.log.push('fail');
  }
}

/** Writes each letter twice, except a dash. */
const encoder: EventEncoder<Letter> = {
  push: ({ type }) => {
    if (type === '!') throw new Error('Not encodable.');
    return type === '-' ? [] : [type, type];
  },
  end: () => ['last'],
  fail: ({ message }) => [`failed: ${message}`],
};

const OPTIONS: WriteStreamOptions<Letter> = {
  hasLeft: () => false,
  keepAliveAfter: 60_000,
  toError: (thrown) => new LLMError('vendor-error', (thrown as Error).message),
};

describe('writeStream', () => {
  it('writes the frames of events that arrived together at once, and nothing for events without any', async () => {
    const sink = new Sink();
    await writeStream(new Source([letters('ab'), letters('-'), letters('c')]), encoder, sink, OPTIONS);
    expect(sink.log).to.deep.equal(['a a b b', 'c c', 'last', 'end']);
  });

  it('reads no further events until the client has taken those before', async () => {
    const sink = new Sink();
    let drain = (): void => undefined;
    sink.drained = new Promise((resolve) => (drain = resolve));
    const source = new Source([letters('a'), letters('b')]);
    const written = writeStream(source, encoder, sink, OPTIONS);
    for (let tick = 0; tick < 20; tick += 1) await Promise.resolve();
    expect(source.reads).to.equal(1);
    drain();
    await written;
    expect(sink.log).to.deep.equal(['a a', 'b b', 'last', 'end']);
  });

  it('writes the frames before an event that cannot be encoded, then the failure, and closes the source', async () => {
    const sink = new Sink();
    const source = new Source([letters('ab!c'), letters('d')]);
    await writeStream(source, encoder, sink, OPTIONS);
    expect(sink.log).to.deep.equal(['a a b b', 'failed: Not encodable.', 'fail']);
    expect([source.reads, source.isClosed]).to.deep.equal([1, true]);
  });

  it('throws the error of a source that fails before anything is written', async () => {
    const sink = new Sink();
    const error = new Error('Refused.');
    const thrown = await writeStream(new Source([letters('-')], error), encoder, sink, OPTIONS).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(thrown).to.equal(error);
    expect(sink.log).to.deep.equal([]);
  });

  it('writes nothing to a client that has left, and closes the source', async () => {
    const sink = new Sink();
    const source = new Source([letters('ab!')]);
    await writeStream(source, encoder, sink, { ...OPTIONS, hasLeft: () => true });
    expect(sink.log).to.deep.equal([]);
    expect(source.isClosed).to.equal(true);
  });

  it('writes what precedes the completed response before it waits for what must happen first', async () => {
    const sink = new Sink();
    await writeStream(new Source([[...letters('a'), { type: 'response.completed' }]]), encoder, sink, {
      ...OPTIONS,
      beforeComplete: (frames) => {
        sink.log.push(`before ${frames.length} frames`);
        return Promise.resolve();
      },
    });
    expect(sink.log).to.deep.equal(['a a', 'before 2 frames', 'response.completed response.completed', 'last', 'end']);
  });
  it('shows that it lives while there is nothing to write, and no longer than that', async () => {
    const clock = useFakeTimers();
    try {
      const sink = new Sink();
      const late = deferred<readonly Letter[]>();
      const source = new Source([letters('a')]);
      const read = source.read.bind(source);
      source.read = () => (source.reads === 1 ? ((source.reads += 1), late.promise) : read());
      const written = writeStream(source, encoder, sink, { ...OPTIONS, keepAliveAfter: 1_000 });
      await clock.tickAsync(2_500);
      expect(sink.log).to.deep.equal(['a a', 'keep-alive', 'keep-alive']);
      late.resolve(letters('b'));
      await written;
      expect(clock.countTimers()).to.equal(0);
    } finally {
      clock.restore();
    }
  });
});
