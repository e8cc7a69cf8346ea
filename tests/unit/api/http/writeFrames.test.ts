import { expect } from 'chai';
import type { FrameSink } from '../../../../imports/api/http/FrameSink';
import { writeFrames } from '../../../../imports/api/http/writeFrames';
import { failure } from '../../../support/failure';

function sinkWith(log: string[]): FrameSink {
  return {
    hasStarted: true,
    write: (frames) => void log.push(...frames),
    keepAlive: () => void log.push('keep-alive'),
    end: () => void log.push('end'),
    fail: () => void log.push('fail'),
  };
}

async function* failingFrames(): AsyncGenerator<string> {
  yield 'first';
  throw new Error('The store is away.');
}

describe('writing encoded frames', () => {
  it('throws what the source throws, so that no client takes the frames for a whole stream', async () => {
    const log: string[] = [];
    const written = writeFrames(failingFrames(), sinkWith(log), { hasLeft: () => false, keepAliveAfter: 60_000 });
    expect(await failure(written)).to.have.property('message', 'The store is away.');
    expect(log).to.deep.equal(['first']);
  });

  it('ignores what fails after the client has disconnected', async () => {
    const log: string[] = [];
    await writeFrames(failingFrames(), sinkWith(log), { hasLeft: () => true, keepAliveAfter: 60_000 });
    expect(log).to.deep.equal(['first']);
  });
});
