import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { FrameBatcher } from '../../../../imports/api/runs/FrameBatcher';

describe('FrameBatcher', () => {
  let clock: SinonFakeTimers;
  let sent: string[];
  let gatherer: FrameBatcher;
  beforeEach(() => {
    clock = useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    sent = [];
    gatherer = new FrameBatcher((frames) => sent.push(frames));
  });
  afterEach(() => clock.restore());

  it('sends the first frame at once, and frames that follow closely together and in order', () => {
    for (const frame of ['a', 'b', 'c']) gatherer.add(frame);
    expect(sent).to.deep.equal(['a']);
    expect(gatherer.bufferedLength).to.equal(2);
    clock.runToLast();
    expect(sent).to.deep.equal(['a', 'bc']);
    gatherer.add('d');
    expect(sent, 'it has just sent').to.deep.equal(['a', 'bc']);
    clock.runAll();
    gatherer.add('e');
    expect(sent, 'after a silence nothing waits').to.deep.equal(['a', 'bc', 'd', 'e']);
  });

  it('sends a large batch without waiting', () => {
    gatherer.add('a');
    const large = 'x'.repeat(40_000);
    gatherer.add(large);
    expect(sent).to.deep.equal(['a']);
    gatherer.add(large);
    expect(sent).to.deep.equal(['a', large + large]);
    expect(gatherer.bufferedLength).to.equal(0);
  });

  it('sends the current batch on flush, and nothing after stop', () => {
    for (const frame of ['a', 'b']) gatherer.add(frame);
    gatherer.flush();
    expect(sent).to.deep.equal(['a', 'b']);
    gatherer.add('c');
    gatherer.stop();
    clock.runAll();
    expect(sent).to.deep.equal(['a', 'b']);
    expect(clock.countTimers()).to.equal(0);
  });

  it('leaves no timer running when there is nothing to send', () => {
    gatherer.add('a');
    clock.runAll();
    expect(clock.countTimers()).to.equal(0);
  });
});
