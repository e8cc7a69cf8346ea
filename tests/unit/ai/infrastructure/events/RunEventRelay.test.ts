/** Processes that show each other the events of their runs, through one database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunEventStore } from '../../../../../imports/business/ai/domain/interfaces/RunEventStore';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import { RunEventLog } from '../../../../../imports/business/ai/infrastructure/events/RunEventLog';
import { RunEventRelay } from '../../../../../imports/business/ai/infrastructure/events/RunEventRelay';
import { openSqliteDatabase } from '../../../../../imports/database/sqlite/SqliteDatabase';
import type { SqliteDatabase } from '../../../../../imports/database/sqlite/SqliteDatabase';
import {
  openRunEvents,
  RUN_EVENTS,
} from '../../../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunEvents';
import { RecordingLogger } from '../../../../support/RecordingLogger';
import { until } from '../../../../support/until';
import { itInVirtualTime } from '../../../../support/itInVirtualTime';

const TIMES = { read: 5, look: 5, publish: 5, linger: 20, lateness: 120_000 };

describe('RunEventRelay', () => {
  let directory: string;
  let database: SqliteDatabase;
  let store: RunEventStore;
  const relays: RunEventRelay[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-relay-'));
    database = await openSqliteDatabase({ directory });
    store = await openRunEvents(database);
  });
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.close()));
    await database.close();
    await rm(directory, { recursive: true });
  });

  function open(logger = new RecordingLogger()) {
    const relay: RunEventRelay = new RunEventRelay({
      store,
      log: () => log,
      onRemote: () => undefined,
      detached: (work) => work(),
      logger,
      times: TIMES,
    });
    const log: RunEventLog = new RunEventLog(undefined, relay);
    relays.push(relay);
    let seq = 0;
    const emit = (userId: string, text = '', executionId = `of-${userId}`): void => {
      seq += 1;
      log.add({ type: 'llm:delta', kind: 'text', delta: text, executionId, at: Date.now(), seq }, userId);
      relay.record(userId);
    };
    /** @param userId absent: everyone's */
    const watch = (userId?: string, since?: string) => {
      const texts: string[] = [];
      const positions: string[] = [];
      const gaps: string[] = [];
      const stop = log.subscribe(
        {
          ...(userId === undefined ? {} : { userId }),
          accepts: (event) => userId === undefined || event.userId === userId,
          event: ({ data, position }) => {
            const event = JSON.parse(data) as AgentEvent;
            texts.push(event.type === 'llm:delta' ? event.delta : event.type);
            positions.push(position);
          },
          gap: () => gaps.push(log.positionFor(userId)),
        },
        since,
      );
      return { texts, positions, gaps, stop };
    };
    return { relay, log, emit, watch };
  }
  const numbers = (count: number, from = 0): readonly string[] =>
    Array.from({ length: count }, (_, index) => String(from + index));

  itInVirtualTime(
    'shows the events of another process once and in their order, also those before it knew the watcher',
    async (time) => {
      const [first, second] = [open(), open()];
      for (const text of numbers(20)) first.emit('ann', text);
      const { texts, gaps } = second.watch('ann');
      await until(() => texts.length >= 20);
      for (const text of numbers(80, 20)) {
        first.emit('ann', text);
        if (Number(text) % 10 === 0) await time.after(3);
      }
      await until(() => texts.length >= 100);
      expect(texts).to.deep.equal(numbers(100));
      expect(gaps).to.deep.equal([]);
    },
  );

  it('shows a user no events of others, and stores none of them', async () => {
    const [first, second] = [open(), open()];
    const ofAnn = second.watch('ann');
    first.emit('bob', 'secret');
    first.emit('ann', 'own');
    await until(() => ofAnn.texts.length > 0);
    expect(ofAnn.texts).to.deep.equal(['own']);
    const stored = await database.collection(RUN_EVENTS).find({});
    expect(JSON.stringify(stored)).to.include('own').and.not.include('secret');
  });

  it('goes on in another process where a stream was, without loss and without repetition', async () => {
    const [first, second, third] = [open(), open(), open()];
    const seen = first.watch('ann');
    for (const text of numbers(5)) first.emit('ann', text);
    for (const text of numbers(5, 5)) second.emit('ann', text, 'another');
    await until(() => seen.texts.length === 10);
    seen.stop();
    first.emit('ann', '10');
    second.emit('ann', '11', 'another');
    const rest = third.watch('ann', seen.positions.at(-1));
    await until(() => rest.texts.length >= 2);
    first.emit('ann', '12');
    await until(() => rest.texts.length >= 3);
    expect([...rest.texts].sort()).to.deep.equal(['10', '11', '12']);
    expect(rest.gaps).to.deep.equal([]);
  });

  itInVirtualTime('writes nothing while nobody watches, and stops when the last watcher has left', async (time) => {
    const [first, second] = [open(), open()];
    const count = (): Promise<number> => database.collection(RUN_EVENTS).count({});
    let reads = 0;
    const read = store.read.bind(store);
    store.read = (...args) => {
      reads += 1;
      return read(...args);
    };
    first.emit('ann', 'unseen');
    await time.after(30);
    expect([await count(), reads]).to.deep.equal([0, 0]);
    const { stop } = second.watch('ann');
    await until(async () => {
      // Looks for watchers end soon after an event.
      first.emit('ann', 'seen');
      return (await count()) > 0;
    });
    stop();
    // It lingers, so that one that reconnects misses nothing.
    await time.after(TIMES.linger + 30);
    const before = reads;
    await time.after(30);
    expect(reads).to.equal(before);
  });

  itInVirtualTime('reads each segment once, also if more are new than are read at a time', async (time) => {
    const { watch } = open();
    const [origins, users] = [numbers(7), numbers(100)];
    for (const origin of origins)
      await store.publish(
        users.map((userId) => {
          const delta = `${origin}:${userId}`;
          const event = { type: 'llm:delta', kind: 'text', delta, executionId: delta, at: Date.now(), seq: 1 } as const;
          const events = [{ number: 1, event }];
          return { origin: `0000000${origin}`, batch: 1, userId, after: 0, upTo: 1, events };
        }),
      );
    let read = 0;
    const original = store.read.bind(store);
    store.read = async (...args) => {
      const segments = await original(...args);
      read += segments.length;
      return segments;
    };
    const { texts } = watch();
    await until(() => texts.length >= 700);
    await time.after(30);
    expect(new Set(texts).size).to.equal(700);
    expect(read).to.equal(700);
  });

  it('notifies of a gap where a user’s events are more than what is kept, and goes on', async () => {
    const [first, second] = [open(), open()];
    const { texts, gaps } = second.watch('ann');
    first.emit('ann', 'begin');
    await until(() => texts.length === 1);
    // What is kept of a user is bounded; these are more, before they could be published.
    for (let index = 0; index < 10; index += 1) first.emit('ann', 'x'.repeat(1024 * 1024));
    first.emit('ann', 'end');
    await until(() => texts.at(-1) === 'end');
    expect(gaps).not.to.be.empty;
    expect(texts.length).to.be.below(12);
  });

  it('publishes later what the store did not take', async () => {
    const logger = new RecordingLogger();
    const [first, second] = [open(logger), open()];
    const { texts } = second.watch('ann');
    first.emit('ann', '0');
    await until(() => texts.length === 1);
    const publish = store.publish.bind(store);
    let failures = 0;
    store.publish = () => {
      failures += 1;
      return Promise.reject(new Error('The disk is full.'));
    };
    first.emit('ann', '1');
    await until(() => failures > 0);
    // What seemed to fail may have succeeded.
    store.publish = async (segments) => {
      store.publish = publish;
      await publish(segments);
      throw new Error('The connection was closed.');
    };
    first.emit('ann', '2');
    await until(() => store.publish === publish);
    first.emit('ann', '3');
    await until(() => texts.at(-1) === '3');
    expect(texts).to.deep.equal(['0', '1', '2', '3']);
  });
});
