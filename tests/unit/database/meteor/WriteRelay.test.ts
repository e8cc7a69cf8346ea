/** Processes of a Meteor app without an oplog, which tell each other what they have written. */
import { expect } from 'chai';
import { runDetached } from '../../../../imports/business/ai/application/services/shared/runDetached';
import { MeteorDatabase } from '../../../../imports/database/meteor/MeteorDatabase';
import { openWriteRelay, PROCESS_WRITES } from '../../../../imports/database/meteor/WriteRelay';
import type { ProcessWritesDocument, WriteRelay } from '../../../../imports/database/meteor/WriteRelay';
import { METEOR_PACKAGES } from '../../../meteor/meteorPackages';
import { resetMeteor } from '../../../stubs/server/registry';
import { VirtualTime } from '../../../support/VirtualTime';

/** What the requirement allows from a write to the other process's look. */
const AT_ONCE_MS = 300;

describe('WriteRelay', () => {
  let time: VirtualTime;
  let database: MeteorDatabase;
  const relays: WriteRelay[] = [];
  beforeEach(() => {
    resetMeteor();
    // Nothing here is shorter than 15 ms.
    time = VirtualTime.startFlowing(10);
    database = new MeteorDatabase(METEOR_PACKAGES);
  });
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.close()));
    time.stop();
    resetMeteor();
  });

  async function open(published: readonly string[] = ['ai_runs', 'ai_deltas'], notifies = false) {
    const refreshed: string[] = [];
    const errors: unknown[] = [];
    const used = { reads: 0, writes: 0 };
    const order: string[] = [];
    let notify = (): void => undefined;
    const stored = database.collection<ProcessWritesDocument>(PROCESS_WRITES);
    const relay = await openWriteRelay({
      collection: {
        ...stored,
        ensureIndex: stored.ensureIndex.bind(stored),
        find: (...args) => ((used.reads += 1), order.push('read'), stored.find(...args)),
        upsertMany: (...args) => ((used.writes += 1), order.push('write'), stored.upsertMany(...args)),
      },
      published: () => published,
      refresh: (name) => refreshed.push(name),
      onChange: async (callback) => {
        notify = callback;
        return notifies ? () => undefined : undefined;
      },
      detached: runDetached,
      onError: (error) => errors.push(error),
    });
    relays.push(relay);
    return { relay, refreshed, errors, used, order, notify: () => notify() };
  }

  /** Watches, until everything at the start was seen. */
  async function openWatching(...args: Parameters<typeof open>) {
    const reader = await open(...args);
    const stop = reader.relay.watch();
    await time.after(2_000);
    reader.refreshed.length = 0;
    return { ...reader, stop };
  }

  it('has the others look again at once at what was written, and at nothing else', async () => {
    const writer = await openWatching();
    const reader = await openWatching();
    for (const name of ['ai_runs', 'ai_runs', 'ai_budgets']) writer.relay.noteWrite(name);
    await time.after(AT_ONCE_MS);
    expect(reader.refreshed).to.deep.equal(['ai_runs']);
    expect(writer.refreshed, 'a process sees its own writes anyway').to.deep.equal([]);
    await time.after(AT_ONCE_MS);
    expect(reader.refreshed, 'once').to.have.length(1);
    expect([...writer.errors, ...reader.errors]).to.deep.equal([]);
  });

  it('notices the end of a run sooner than its beginning, and reads less often when nothing has followed', async () => {
    const writer = await openWatching();
    const reader = await openWatching();
    const delays: number[] = [];
    for (let written = 1; written <= 10; written += 1) {
      const writtenAt = Date.now();
      writer.relay.noteWrite('ai_runs');
      while (reader.refreshed.length < written) await time.after(1);
      delays.push(Date.now() - writtenAt);
      await time.after(1);
    }
    expect(Math.max(...delays.slice(1)), delays.join()).to.be.at.most(40);
    await time.after(1_500);
    const { reads } = reader.used;
    await time.after(1_000);
    expect(reader.used.reads - reads).to.be.at.most(20);
  });

  it('tells known subscribers before it looks whether they are still there', async () => {
    await openWatching();
    const writer = await open();
    writer.relay.noteWrite('ai_runs');
    await time.after(2_000);
    writer.order.length = 0;
    writer.relay.noteWrite('ai_runs');
    await time.after(AT_ONCE_MS);
    expect(writer.order).to.deep.equal(['write', 'read']);
  });

  it('takes one read a second of a process that writes while nobody subscribes, and nothing else', async () => {
    const writer = await open();
    const other = await open();
    for (let written = 0; written < 100; written += 1) {
      writer.relay.noteWrite('ai_runs');
      await time.after(50);
    }
    expect(writer.used).to.deep.include({ writes: 0 });
    expect(writer.used.reads).to.be.within(4, 7);
    expect(other.used).to.deep.equal({ reads: 0, writes: 0 });
  });

  it('misses no write of a process that did not know of its first subscriber', async () => {
    const writer = await open();
    writer.relay.noteWrite('ai_runs');
    await time.after(100);
    const reader = await open();
    reader.relay.watch();
    await time.after(100);
    reader.refreshed.length = 0;
    writer.relay.noteWrite('ai_runs');
    await time.after(1_200);
    expect(reader.refreshed).to.include('ai_runs');
  });

  it('ends when the last subscriber has been gone for a while', async () => {
    const writer = await open();
    const reader = await openWatching();
    reader.stop();
    reader.stop();
    await time.after(12_000);
    const { reads } = reader.used;
    writer.relay.noteWrite('ai_runs');
    await time.after(2_000);
    expect(reader.used.reads).to.equal(reads);
    expect(writer.used.writes).to.equal(0);
    reader.relay.watch();
    await time.after(2_000);
    writer.relay.noteWrite('ai_runs');
    await time.after(AT_ONCE_MS);
    expect(reader.refreshed.length, 'and begins again with the next').to.be.greaterThan(0);
  });

  it('tells of the last writes when it closes', async () => {
    const writer = await openWatching();
    const reader = await openWatching();
    writer.relay.noteWrite('ai_runs');
    await writer.relay.close();
    await time.after(AT_ONCE_MS);
    expect(reader.refreshed).to.deep.equal(['ai_runs']);
  });

  it('polls rarely where the database notifies', async () => {
    const writer = await openWatching();
    const reader = await openWatching(undefined, true);
    const { reads } = reader.used;
    await time.after(4_000);
    expect(reader.used.reads - reads).to.be.at.most(1);
    writer.relay.noteWrite('ai_runs');
    await time.after(50);
    reader.notify();
    await time.after(20);
    expect(reader.refreshed).to.deep.equal(['ai_runs']);
  });
});
