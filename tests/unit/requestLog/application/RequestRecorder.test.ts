/** Writing the request log in the background. */
import { expect } from 'chai';
import { RequestRecorder } from '../../../../imports/business/requestLog/application/RequestRecorder';
import { NO_USAGE } from '../../../../imports/business/ai/domain/entities/Response';
import type { LoggedCall } from '../../../../imports/business/requestLog/domain/RequestLog';
import type { RequestEntry } from '../../../../imports/business/ai/domain/types/RequestRecords';
import { deferred } from '../../../support/deferred';
import { RecordingLogger } from '../../../support/RecordingLogger';

function entry(at: number): RequestEntry {
  return {
    at,
    userId: 'ann',
    source: 'manager',
    isStream: false,
    state: 'completed',
    attempts: [],
    duration: 1,
    usage: NO_USAGE,
  };
}

/** Remembers its batches. */
class Store {
  readonly batches: (readonly LoggedCall[])[] = [];
  failure: Error | undefined;
  gate: Promise<void> = Promise.resolve();

  async save(calls: readonly LoggedCall[]): Promise<void> {
    this.batches.push(calls);
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
  }
}

describe('RequestRecorder', () => {
  it('stores entries by themselves, in batches and in order', async () => {
    const store = new Store();
    const stored = deferred();
    const recorder = new RequestRecorder({ store, delayMs: 1, onStored: () => stored.resolve() });
    for (let at = 0; at < 3; at += 1) recorder.add(entry(at));
    expect(store.batches).to.have.length(0);
    await stored.promise;
    expect(store.batches.map((batch) => batch.map(({ entry: { at } }) => at))).to.deep.equal([[0, 1, 2]]);
  });

  it('stores everything before a flush resolves, including what was added meanwhile', async () => {
    const store = new Store();
    const recorder = new RequestRecorder({ store, delayMs: 60_000 });
    for (let at = 0; at < 450; at += 1) recorder.add(entry(at));
    const flushed = recorder.flush();
    recorder.add(entry(450));
    await flushed;
    expect(store.batches.map(({ length }) => length)).to.deep.equal([200, 200, 51]);
    recorder.add(entry(451));
    await recorder.flush();
    expect(store.batches).to.have.length(4);
  });

  it('stores what is added at the moment in which a write ends', async () => {
    const store = new Store();
    const recorder = new RequestRecorder({ store, delayMs: 0, onStored: () => undefined });
    for (let at = 0; at < 50; at += 1) {
      recorder.add(entry(at));
      await recorder.flush();
      await Promise.resolve();
    }
    expect(store.batches.flat()).to.have.length(50);
  });

  it('logs a failing store once a minute, and goes on', async () => {
    const store = new Store();
    const logger = new RecordingLogger();
    let now = 0;
    const recorder = new RequestRecorder({ store, delayMs: 60_000, logger, now: () => now });
    store.failure = new Error('The disk is full.');
    for (let at = 0; at < 5; at += 1) {
      recorder.add(entry(at));
      await recorder.flush();
    }
    expect(logger.errors).to.deep.equal(['Could not store 1 entries of the request log.']);
    expect(logger.details).to.deep.equal([store.failure]);
    now = 60_000;
    recorder.add(entry(5));
    await recorder.flush();
    expect(logger.errors.at(-1)).to.equal('Could not store 5 entries of the request log.');
    store.failure = undefined;
    recorder.add(entry(6));
    await recorder.flush();
    expect(store.batches.at(-1)).to.have.length(1);
    expect(logger.errors).to.have.length(2);
  });

  it('drops entries rather than to fill the memory while the store does not respond', async () => {
    const store = new Store();
    const gate = deferred();
    store.gate = gate.promise;
    const logger = new RecordingLogger();
    const recorder = new RequestRecorder({ store, delayMs: 60_000, logger });
    recorder.add(entry(0));
    const flushed = recorder.flush();
    for (let at = 1; at <= 10_500; at += 1) recorder.add(entry(at));
    expect(store.batches).to.have.length(1);
    gate.resolve();
    await flushed;
    expect(store.batches.flat()).to.have.length(10_001);
    expect(logger.errors).to.have.length(1);
  });
});
