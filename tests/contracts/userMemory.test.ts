/** What every memory does, whatever its records are kept in, with and without a model for embeddings. */
import { expect } from 'chai';
import type { Memory } from '../../imports/business/ai/domain/interfaces/Memory';
import { LLMOverloadedError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { openMemoryRecords } from '../../imports/business/memory/infrastructure/DocumentMemoryRecords';
import type { MemoryRecords } from '../../imports/business/memory/infrastructure/MemoryRecords';
import { ProcessMemoryRecords } from '../../imports/business/memory/infrastructure/ProcessMemoryRecords';
import { UserMemory } from '../../imports/business/memory/infrastructure/UserMemory';
import type { Embedder, UserMemoryOptions } from '../../imports/business/memory/infrastructure/UserMemory';
import { DATABASES } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { RecordingLogger } from '../support/RecordingLogger';
import { inFlowingTime } from '../support/VirtualTime';

interface Opened {
  open(age?: { readonly maxAgeMs: number }): Promise<MemoryRecords>;
  close(): Promise<void>;
}

let now = 1_800_000_000_000;
const clock = (): number => (now += 1_000);

const STORES: Readonly<Record<string, () => Promise<Opened>>> = {
  'this process': async () => {
    const kept = new ProcessMemoryRecords();
    return {
      open: async (age) => (age === undefined ? kept : new ProcessMemoryRecords({ ...age, now: clock })),
      close: async () => undefined,
    };
  },
  ...Object.fromEntries(
    Object.entries(DATABASES).map(([name, openDatabase]) => [
      name,
      async () => {
        const test = await openDatabase();
        return { open: (age) => openMemoryRecords(test.database, { ...age, now: clock }), close: () => test.close() };
      },
    ]),
  ),
};

/** Each dimension is a topic, so that texts of one topic have the same direction without sharing a word. */
const TOPICS = [/\b(dog|puppy|pet|rex|animal)\b/i, /\b(tea|coffee|drink|espresso)\b/i, /\b(train|travel|berlin)\b/i];

class TopicEmbedder implements Embedder {
  readonly calls: (readonly string[])[] = [];
  fails = false;
  readonly model: string;

  constructor(model = 'test/topics') {
    this.model = model;
  }

  embed(_userId: string, texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    this.calls.push(texts);
    if (this.fails) return Promise.reject(new LLMOverloadedError('Busy.'));
    return Promise.resolve(texts.map((text) => [...TOPICS.map((topic) => (topic.test(text) ? 1 : 0)), 0.01]));
  }
}

for (const [name, start] of Object.entries(STORES)) {
  describe(
    `a memory in ${name}`,
    inFlowingTime(() => {
      let opened: Opened;
      beforeEach(async () => {
        opened = await start();
      });
      afterEach(() => opened.close());

      const memoryWith = async (options: Partial<UserMemoryOptions> = {}): Promise<UserMemory> =>
        new UserMemory({ records: await opened.open(), now: clock, logger: new RecordingLogger(), ...options });
      const found = async (memory: Memory, query: string, userId = 'ann', limit = 5): Promise<readonly string[]> =>
        (await memory.search(userId, { query, limit })).memories.map(({ text }) => text);

      it('finds by words: prefixes, small errors, other case and accents, and scripts without spaces', async () => {
        const memory = await memoryWith();
        const texts = [
          'Her dog is called Rex.',
          'Trinkt gern Café au lait.',
          '彼は京都に住んでいます',
          'Works on compilers.',
        ];
        for (const text of texts) await memory.save('ann', { text });
        expect(await found(memory, 'what is the DOG called?')).to.deep.equal([texts[0]]);
        expect(await found(memory, 'cafe')).to.deep.equal([texts[1]]);
        expect(await found(memory, '京都')).to.deep.equal([texts[2]]);
        expect(await found(memory, 'compilars')).to.deep.equal([texts[3]]);
        expect(await found(memory, 'comp')).to.deep.equal([texts[3]]);
        expect(await found(memory, 'nothing of it')).to.deep.equal([]);
        expect(await memory.search('ann', { query: 'rex' })).to.include({
          by: 'words',
          notice: 'No model for embeddings is configured, so only words were compared.',
        });
      });

      it('finds by meaning, too, and says when it cannot', async () => {
        const embedder = new TopicEmbedder();
        const memory = await memoryWith({ embedder });
        await memory.save('ann', { text: 'Rex is five years old.' });
        await memory.save('ann', { text: 'Prefers espresso in the morning.' });
        expect((await found(memory, 'my pet'))[0]).to.equal('Rex is five years old.');
        expect(await memory.search('ann', { query: 'my pet' })).to.include({ by: 'words-and-meaning' });
        embedder.fails = true;
        await memory.save('ann', { text: 'The animal sleeps a lot.' });
        const failed = await memory.search('ann', { query: 'my pet sleeps' });
        expect(failed).to.include({
          by: 'words',
          notice: 'Embeddings failed (overloaded), so only words were compared.',
        });
        expect(failed.memories.map(({ text }) => text)).to.deep.equal(['The animal sleeps a lot.']);
        embedder.fails = false;
        // What was saved without a vector gets one.
        expect((await found(memory, 'pet')).slice(0, 2).toSorted()).to.deep.equal([
          'Rex is five years old.',
          'The animal sleeps a lot.',
        ]);
        embedder.calls.length = 0;
        await found(memory, 'pet');
        expect(embedder.calls).to.deep.equal([['pet']]);
        // Another model's vectors are not compared with these, and replace them.
        const other = new TopicEmbedder('test/others');
        expect((await found(await memoryWith({ embedder: other }), 'pet')).length).to.be.greaterThan(1);
        expect(other.calls[0]).to.have.length(4);
      });

      it('is its user’s alone', async () => {
        const memory = await memoryWith({ embedder: new TopicEmbedder() });
        const { id } = await memory.save('ann', { text: 'A secret about Rex.', key: 'dog' });
        expect(await found(memory, 'rex', 'bob')).to.deep.equal([]);
        expect(await memory.list('bob')).to.deep.equal({ memories: [], total: 0 });
        expect(await memory.forget('bob', [id])).to.equal(0);
        expect(await memory.forget('bob')).to.equal(0);
        await memory.save('bob', { text: 'Another.', key: 'dog' });
        expect((await memory.list('ann')).memories.map(({ text }) => text)).to.deep.equal(['A secret about Rex.']);
        for (const call of [
          memory.save('', { text: 'x' }),
          memory.search('', { query: 'x' }),
          memory.list(''),
          memory.forget(''),
        ])
          expect(await failure(call)).to.include({ code: 'invalid-request', path: 'userId' });
      });

      it('has a text once, and replaces what has the same key', async () => {
        const memory = await memoryWith();
        const first = await memory.save('ann', { text: ' Likes tea. ' });
        const again = await memory.save('ann', { text: 'Likes tea.' });
        expect(again).to.deep.include({ id: first.id, createdAt: first.createdAt, text: 'Likes tea.' });
        expect(again.savedAt).to.be.greaterThan(first.savedAt);
        const home = await memory.save('ann', { text: 'Lives in Rome.', key: 'home' });
        const moved = await memory.save('ann', { text: 'Lives in Oslo.', key: 'home' });
        expect(moved.id).to.equal(home.id);
        expect(await found(memory, 'rome')).to.deep.equal([]);
        expect(await found(memory, 'oslo')).to.deep.equal(['Lives in Oslo.']);
        const same = await Promise.all(['a', 'b', 'c'].map(() => memory.save('ann', { text: 'At the same time.' })));
        expect(new Set(same.map(({ id }) => id)).size).to.equal(1);
        for (const [given, path] of [
          [{ text: ' ' }, 'text'],
          [{ text: 'x'.repeat(4_001) }, 'text'],
          [{ text: 7 as never }, 'text'],
          [{ text: 'x', key: '' }, 'key'],
        ] as const)
          expect(await failure(memory.save('ann', given))).to.include({ code: 'invalid-request', path });
      });

      it('lists the last saved first, in pages, and forgets', async () => {
        const memory = await memoryWith();
        const ids: string[] = [];
        for (const text of ['one', 'two', 'three', 'four', 'five']) ids.push((await memory.save('ann', { text })).id);
        const first = await memory.list('ann', { limit: 2 });
        expect(first.memories.map(({ text }) => text)).to.deep.equal(['five', 'four']);
        expect(first.total).to.equal(5);
        await memory.forget('ann', [ids[3] ?? '']);
        const second = await memory.list('ann', { limit: 2, after: first.next ?? '' });
        expect(second.memories.map(({ text }) => text)).to.deep.equal(['three', 'two']);
        const last = await memory.list('ann', { limit: 2, after: second.next ?? '' });
        expect(last).to.not.have.property('next');
        expect(last.memories.map(({ text }) => text)).to.deep.equal(['one']);
        expect(await failure(memory.list('ann', { after: 'x' }))).to.include({ path: 'after' });
        expect(await memory.forget('ann')).to.equal(4);
        expect(await found(memory, 'three')).to.deep.equal([]);
      });

      it('keeps the newest of a user, for as long as it may', async () => {
        const memory = await memoryWith({ maxPerUser: 3 });
        for (const text of ['red', 'green', 'blue', 'black']) await memory.save('ann', { text });
        expect((await memory.list('ann')).memories.map(({ text }) => text)).to.deep.equal(['black', 'blue', 'green']);
        expect(await found(memory, 'red')).to.deep.equal([]);
        const aging = await memoryWith({ records: await opened.open({ maxAgeMs: 60_000 }) });
        await aging.save('bob', { text: 'old' });
        now += 59_000;
        await aging.save('bob', { text: 'young' });
        now += 2_000;
        expect((await aging.list('bob')).memories.map(({ text }) => text)).to.deep.equal(['young']);
        expect(await found(aging, 'old', 'bob')).to.deep.equal([]);
      });

      it('sees what another process has saved, changed and forgotten, and drops indexes that are too large', async () => {
        const here = await memoryWith();
        const there = await memoryWith({ maxIndexBytes: 1 });
        const { id } = await here.save('ann', { text: 'Plays the violin.', key: 'music' });
        expect(await found(there, 'violin')).to.deep.equal(['Plays the violin.']);
        await here.save('ann', { text: 'Plays the cello.', key: 'music' });
        expect(await found(there, 'violin cello')).to.deep.equal(['Plays the cello.']);
        await there.save('bob', { text: 'Sings.' });
        expect(await found(there, 'cello')).to.deep.equal(['Plays the cello.']);
        await here.forget('ann', [id]);
        expect(await found(there, 'cello')).to.deep.equal([]);
      });
    }),
  );
}
