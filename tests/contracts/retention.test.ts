/** Retention of ended runs on every store, by a clock that the test controls. */
import { expect } from 'chai';
import { userMessage } from '../../imports/business/ai/domain/entities/Message';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RUNS, TOOL_CALLS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { CHATS, ChatStore } from '../../imports/api/chat/ChatStore';
import { COLLECTIONS } from '../../imports/host/collections';
import { RunRetention } from '../../imports/business/ai/infrastructure/persistence/runs/RunRetention';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { answer, callItem, textItem } from '../../imports/testing/responses';
import { runRequest, toolCall } from '../support/runRequests';

const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 22);
const LONG_TEXT = 'x'.repeat(20_000);

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`RunRetention on ${name}`, () => {
    let opened: TestDatabase;
    let store: RunStore;
    const clock = { now: START };
    let retention: RunRetention;
    beforeEach(async () => {
      opened = await open();
      store = await openRunStore(opened.database);
      clock.now = START;
      retention = new RunRetention(opened.database, { now: () => clock.now, collections: COLLECTIONS });
      await retention.ready();
    });
    afterEach(() => opened.close());

    const reply = (): LLMResponse =>
      answer('', {
        id: 'resp',
        output: [callItem({ name: 'clock', arguments: { LONG_TEXT } }), textItem('Noon.')],
        output_text: 'Noon.',
      });

    /** A run that ended at the given time, or not at all, with one long call. */
    const run = async (executionId: string, endedAt: number | undefined): Promise<void> => {
      const lease = await store.create(
        runRequest(executionId, { input: [userMessage('Earlier'), userMessage(`What time is it? ${LONG_TEXT}`)] }),
        'running',
        'me',
      );
      await store.saveCalls(lease, [
        toolCall(`${executionId}-call`, {
          state: 'completed',
          arguments: JSON.stringify({ LONG_TEXT }),
          result: LONG_TEXT,
          startTime: START,
          endTime: START,
          executionTime: 0,
          deliveredIn: 'resp',
          answers: [
            {
              input: { id: 'q', message: LONG_TEXT, schema: { title: LONG_TEXT } },
              ...{ expiresAt: START, answeredAt: START },
              answer: { action: 'accept', values: JSON.stringify({ LONG_TEXT }) },
            },
          ],
        }),
      ]);
      const ended = endedAt === undefined ? {} : ({ state: 'completed', endedAt } as const);
      const response = reply();
      await store.saveRun(lease, {
        ...ended,
        response,
        transcript: [userMessage(LONG_TEXT), ...response.output],
        turnStart: 1,
        iterations: 2,
      });
    };
    const size = async (): Promise<number> => {
      const documents = [
        ...(await opened.database.collection(RUNS).find({})),
        ...(await opened.database.collection(TOOL_CALLS).find({})),
      ];
      return JSON.stringify(documents).length;
    };

    it('keeps a run that a call of an unfinished run has started', async () => {
      const lease = await store.create(runRequest('parent'), 'running', 'me');
      const child = await store.create(runRequest('child', { parentExecutionId: 'parent' }), 'running', 'me');
      await store.saveRun(child, { state: 'completed', endedAt: START });
      await run('other', START);
      clock.now = START + 31 * DAY;
      expect((await retention.sweep()).removed).to.equal(1);
      expect(await store.head('child')).to.include({ state: 'completed' });
      await store.saveRun(lease, { state: 'completed', endedAt: clock.now });
      expect((await retention.sweep()).removed).to.equal(1);
      expect(await store.head('child')).to.equal(undefined);
    });

    it('ends parked runs that nobody resumed, and keeps the others', async () => {
      for (const [id, at] of [
        ['old', START],
        ['new', START + DAY],
      ] as const) {
        const lease = await store.create(runRequest(id), 'running', 'me');
        await store.saveCalls(lease, [toolCall(`${id}-call`, { state: 'awaiting_approval' })]);
        await store.park(lease, { reason: 'max-takeovers', message: 'It kills.', at });
      }
      clock.now = START + 30 * DAY + 1;
      await retention.sweep();
      expect((await store.load('new'))?.run.parked?.at).to.equal(START + DAY);
      expect((await store.load('old'))?.run).to.deep.include({
        state: 'cancelled',
        endedAt: clock.now,
        error: { code: 'aborted', message: 'The run was parked, and nobody resumed it within 30 days.' },
      });
      expect(await opened.database.collection(TOOL_CALLS).count({ state: 'awaiting_approval' })).to.equal(1);
      const ended: (readonly string[])[] = [];
      clock.now += DAY;
      await new RunRetention(opened.database, {
        now: () => clock.now,
        endParked: (...given) => Promise.resolve(ended.push(given)),
      }).sweep();
      expect(ended).to.deep.equal([['new', 'The run was parked, and nobody resumed it within 30 days.']]);
      clock.now += 30 * DAY;
      await retention.sweep();
      expect(await store.head('old')).to.equal(undefined);
    });

    it('leaves runs unchanged for a week', async () => {
      await run('done', START);
      const before = await store.load('done');
      clock.now = START + 7 * DAY;
      expect(await retention.sweep()).to.deep.equal({ compacted: 0, removed: 0 });
      expect(await store.load('done')).to.deep.equal(before);
    });

    it('then retains question, answer and the beginnings of the calls', async () => {
      await run('done', START);
      const before = await size();
      clock.now = START + 7 * DAY + 1;
      expect(await retention.sweep()).to.deep.equal({ compacted: 1, removed: 0 });
      expect(await size()).to.be.below(before / 5);
      const stored = await store.load('done');
      expect(stored?.run).to.include({ state: 'completed', iterations: 2, endedAt: START, title: 'A question' });
      expect(stored?.run.response?.output_text).to.equal('Noon.');
      expect(stored?.run.transcript).to.have.length(2);
      expect(JSON.stringify(stored?.run.transcript[0])).to.contain('What time is it?');
      const [call] = stored?.calls ?? [];
      expect(call).to.include({ state: 'completed', deliveredIn: 'resp' });
      expect((call as { result: string }).result).to.have.length(257);
      const [asked] = call?.answers ?? [];
      expect(asked).to.have.nested.property('input.message').with.length(257);
      expect(asked).to.have.nested.property('answer.values').with.length(257);
      expect(asked).to.have.deep.nested.property('input.schema', {});
      expect(await retention.sweep()).to.deep.equal({ compacted: 0, removed: 0 });
    });

    it('removes runs and their calls after thirty days', async () => {
      await run('old', START);
      await run('newer', START + DAY);
      clock.now = START + 30 * DAY + 1;
      expect(await retention.sweep()).to.deep.equal({ compacted: 1, removed: 1 });
      expect(await store.load('old')).to.equal(undefined);
      expect(await store.findRequest('ann', 'old')).to.equal(undefined);
      expect(await opened.database.collection(TOOL_CALLS).find({ executionId: 'old' })).to.deep.equal([]);
      expect(await store.load('newer')).to.not.equal(undefined);
    });

    for (const [what, days] of [
      ['compacts', 8],
      ['removes', 31],
    ] as const)
      it(`gives chats the texts of a run back before it ${what} it`, async () => {
        await run('done', START);
        const chats = new ChatStore(opened.database.collection(CHATS));
        await chats.ready();
        const messages = JSON.stringify([{ text: `What time is it? ${LONG_TEXT}` }]);
        const chat = { userId: 'ann', chatId: 'c', requestId: 'done', fingerprint: 'f', messages };
        await chats.replace(chat, undefined);
        await chats.shareTexts(chat, 'done', (await store.load('done'))?.run.input);
        expect((await chats.find('ann', 'c'))?.messages.length).to.be.below(100);
        clock.now = START + days * DAY;
        await retention.sweep();
        const found = await chats.find('ann', 'c');
        expect(found).to.deep.include(chat);
        expect(found).not.to.have.property('inputOf');
      });

    it('leaves unfinished runs alone, however old', async () => {
      await run('waiting', undefined);
      const before = await store.load('waiting');
      clock.now = START + 365 * DAY;
      expect(await retention.sweep()).to.deep.equal({ compacted: 0, removed: 0 });
      expect(await store.load('waiting')).to.deep.equal(before);
    });

    it('processes all runs in batches', async () => {
      for (let number = 0; number < 205; number += 1) {
        const lease = await store.create(runRequest(`run-${number}`), 'running', 'me');
        await store.saveRun(lease, { state: 'cancelled', endedAt: START + number });
      }
      clock.now = START + 31 * DAY;
      expect(await retention.sweep()).to.deep.equal({ compacted: 0, removed: 205 });
    });
  });
}
