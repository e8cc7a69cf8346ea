import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import sinon from 'sinon';
import { CLOSE_TIMEOUT_MS, closeOnSignals } from '../../../imports/host/closeOnSignals';
import type { SignalledProcess } from '../../../imports/host/closeOnSignals';

class TestProcess extends EventEmitter implements SignalledProcess {
  readonly exit = sinon.stub<[number]>();

  signal(name: 'SIGTERM' | 'SIGINT'): void {
    this.emit(name, name);
  }
}

describe('closeOnSignals', () => {
  let target: TestProcess;
  let clock: sinon.SinonFakeTimers;
  let resolve: () => void;
  let reject: (error: Error) => void;
  let stopListening: () => void;
  let close: sinon.SinonStub<[AbortSignal], Promise<void>>;
  let logger: { readonly warn: sinon.SinonStub; readonly error: sinon.SinonStub };

  beforeEach(() => {
    clock = sinon.useFakeTimers();
    target = new TestProcess();
    logger = { warn: sinon.stub(), error: sinon.stub() };
    close = sinon.stub<[AbortSignal], Promise<void>>().callsFake(
      () =>
        new Promise<void>((onClosed, onFailed) => {
          resolve = onClosed;
          reject = onFailed;
        }),
    );
    stopListening = closeOnSignals({ close, graceMs: 1_000, process: target, logger });
  });
  afterEach(() => {
    clock.restore();
  });
  const settled = (): Promise<unknown> => clock.tickAsync(0);

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`closes on ${signal}, and exits as soon as it is closed`, async () => {
      target.signal(signal);
      await settled();
      expect(close.callCount).to.equal(1);
      expect(target.exit.args).to.deep.equal([]);
      resolve();
      await settled();
      expect(target.exit.args).to.deep.equal([[0]]);
      await clock.tickAsync(10_000);
      expect(target.exit.callCount).to.equal(1);
    });
  }

  it('exits after the timeout if closing takes longer', async () => {
    target.signal('SIGTERM');
    await clock.tickAsync(999 + CLOSE_TIMEOUT_MS);
    expect(target.exit.args).to.deep.equal([]);
    await clock.tickAsync(1);
    expect(target.exit.args).to.deep.equal([[1]]);
  });

  it('exits with 1, and logs why, if closing fails', async () => {
    target.signal('SIGTERM');
    const failed = new Error('The database is gone.');
    reject(failed);
    await settled();
    expect(target.exit.args).to.deep.equal([[1]]);
    expect(logger.error.firstCall.args[1]).to.equal(failed);
  });

  it('ends the waiting when the same signal is repeated, and exits as soon as it is closed', async () => {
    target.signal('SIGTERM');
    const hurry = close.firstCall.args[0];
    expect(hurry.aborted).to.equal(false);
    target.signal('SIGTERM');
    expect(hurry.aborted).to.equal(true);
    expect(target.exit.args).to.deep.equal([]);
    resolve();
    await settled();
    expect(target.exit.args).to.deep.equal([[0]]);
    expect(close.callCount).to.equal(1);
  });

  it('exits after the time for closing alone when the signal is repeated', async () => {
    target.signal('SIGINT');
    await clock.tickAsync(100);
    target.signal('SIGINT');
    await clock.tickAsync(CLOSE_TIMEOUT_MS - 1);
    expect(target.exit.args).to.deep.equal([]);
    await clock.tickAsync(1);
    expect(target.exit.args).to.deep.equal([[1]]);
  });

  it('exits at once at the third signal', () => {
    for (let count = 0; count < 3; count += 1) target.signal('SIGTERM');
    expect(target.exit.args).to.deep.equal([[143]]);
  });

  it('closes once for a SIGINT and the SIGTERM that meteor run sends after it', async () => {
    target.signal('SIGINT');
    target.signal('SIGTERM');
    expect(close.firstCall.args[0].aborted).to.equal(false);
    await settled();
    expect(target.exit.args).to.deep.equal([]);
    expect(close.callCount).to.equal(1);
    resolve();
    await settled();
    expect(target.exit.args).to.deep.equal([[0]]);
  });

  it('leaves the exit to the app if it listens too, until the timeout', async () => {
    const other = sinon.stub();
    target.on('SIGTERM', other);
    target.signal('SIGTERM');
    resolve();
    await clock.tickAsync(999 + CLOSE_TIMEOUT_MS);
    expect(other.callCount).to.equal(1);
    expect(target.exit.args).to.deep.equal([]);
    await clock.tickAsync(1);
    expect(target.exit.args).to.deep.equal([[0]]);
  });

  it('listens no more once it is stopped', () => {
    stopListening();
    expect([target.listenerCount('SIGTERM'), target.listenerCount('SIGINT')]).to.deep.equal([0, 0]);
  });
});
