/** Messages that a process has accepted, and leaves without an answer: another process answers each of them, once. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { MAX_MESSAGE_ATTEMPTS } from '../../imports/business/ai/application/services/runs/durable/recoveryLimit';
import { StoreUnavailableError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { ChatTurnStore } from '../../imports/business/ai/domain/interfaces/ChatTurnStore';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { ChannelEvent } from '../../imports/business/ai/infrastructure/events/ConversationChannel';
import { createChat } from '../../imports/business/ai/infrastructure/factories/createChat';
import type { Chat } from '../../imports/business/ai/infrastructure/factories/createChat';
import { openChatTurns } from '../../imports/business/ai/infrastructure/persistence/conversations/DocumentChatTurns';
import {
  DocumentConversationStore,
  MESSAGES,
} from '../../imports/business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { deferred } from '../support/deferred';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { RecordingLogger } from '../support/RecordingLogger';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const CONVERSATION = 'c';

/** A process. */
interface Life {
  readonly chat: Chat;
  readonly loop: AgenticLoop;
  readonly recovery: RunRecovery;
  readonly provider: ScriptedProvider;
}

/** The text of each answer, and of the one that has not ended. What precedes a `restarted` event is void. */
function answersIn(events: readonly ChannelEvent[]): readonly string[] {
  const texts = [''];
  for (const { data, type } of events)
    if (data === '[DONE]') texts.push('');
    else texts[texts.length - 1] = type === 'restarted' ? '' : (texts.at(-1) ?? '') + data;
  return texts;
}

for (const [kind, open] of Object.entries(QUICK_DATABASES))
  describe(
    `messages of a process that ends (${kind})`,
    inFlowingTime((time) => {
      let opened: TestDatabase;
      let database: DocumentDatabase;
      let runs: RunStore;
      let turns: ChatTurnStore;
      beforeEach(async () => {
        opened = await open();
        ({ database } = opened);
        [runs, turns] = await Promise.all([openRunStore(database), openChatTurns(database)]);
      });
      afterEach(() => opened.close());

      /** @param store of messages */
      function live(script: readonly ScriptedStep[], store = turns): Life {
        const provider = new ScriptedProvider(script);
        const logger = new RecordingLogger();
        const tools = new ToolRegistry();
        const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: runs, logger });
        const memory = new DocumentConversationStore(database.collection(MESSAGES));
        const chat = createChat(
          { settings: { providers: [], defaultProvider: 'm' }, loop, tools, runs },
          { memory, turns: store, logger },
        );
        const recovery = new RunRecovery({ loop, store: runs, logger });
        recovery.add(chat.handler);
        return { chat, loop, recovery, provider };
      }

      /** Ends a process in an orderly way: it hands over what it has not answered. */
      async function end({ chat, loop }: Life): Promise<void> {
        chat.handler.stop();
        await loop.close();
        await until(async () => (await turns.leased(10)).every(({ owner }) => owner === ''));
        // No other process has them within the same millisecond.
        await time.pass(1);
      }

      async function listen({ chat }: Life, lastEventId?: string) {
        const events: ChannelEvent[] = [];
        let isReached = (): boolean => false;
        let reached = deferred();
        const stop = await chat.subscribe(
          'ann',
          CONVERSATION,
          {
            start: () => undefined,
            gap: () => undefined,
            event: (event) => {
              events.push(event);
              if (isReached()) reached.resolve();
            },
          },
          lastEventId,
        );
        return {
          events,
          stop,
          async ends(count: number): Promise<readonly string[]> {
            isReached = () => answersIn(events).length > count;
            reached = deferred();
            if (isReached()) reached.resolve();
            await reached.promise;
            return answersIn(events).slice(0, -1);
          },
        };
      }

      const historyIn = async (): Promise<readonly string[]> =>
        (await new DocumentConversationStore(database.collection(MESSAGES)).getHistory('ann', CONVERSATION)).map(
          ({ text }) => text,
        );

      it('are answered by the next one, in order, with one answer each', async () => {
        const asked = deferred();
        const first = live([() => (asked.resolve(), new Promise(() => undefined))]);
        for (const message of ['one', 'two', 'three']) await first.chat.handler.accept('ann', CONVERSATION, message);
        await asked.promise;
        await end(first);
        const second = live(['Answer 1', 'Answer 2', 'Answer 3']);
        const stream = await listen(second);
        await second.recovery.scan();
        expect(await stream.ends(3)).to.deep.equal(['Answer 1', 'Answer 2', 'Answer 3']);
        // Nothing is left to be taken over.
        await second.recovery.scan();
        second.provider.assertPlayedOut();
        expect(await historyIn()).to.deep.equal(['one', 'Answer 1', 'two', 'Answer 2', 'three', 'Answer 3']);
        expect(await turns.leased(10)).to.deep.equal([]);
        stream.stop();
        await end(second);
      });

      for (const [beginning, expected] of [
        ['Answ', ['Answ', 'er 1', '[DONE]']],
        ['Other', ['Other', 'restarted', 'Answer 1', '[DONE]']],
      ] as const)
        it(`go on where the listeners of the next one are, or begin again if they heard "${beginning}"`, async () => {
          const asked = deferred();
          const first = live([() => (asked.resolve(), new Promise(() => undefined))]);
          const { executionId } = await first.chat.handler.accept('ann', CONVERSATION, 'one');
          await asked.promise;
          await end(first);
          const second = live(['Answer 1']);
          const stream = await listen(second);
          // The live text of the first process arrives here.
          second.chat.channels.of('ann', CONVERSATION).follow(executionId).send(beginning);
          await second.recovery.scan();
          await stream.ends(1);
          expect(stream.events.map(({ data, type = data }) => type)).to.deep.equal(expected);
          stream.stop();
          await end(second);
        });

      it('have their answers on the stream of a process that gave them up, and lives on', async () => {
        const finish = (): Promise<void> => Promise.reject(new StoreUnavailableError('The database is down.'));
        const first = live(['Answer 1'], Object.assign(Object.create(turns) as ChatTurnStore, { finish }));
        const stream = await listen(first);
        const { answered } = await first.chat.handler.accept('ann', CONVERSATION, 'one');
        await answered;
        expect((await turns.leased(10)).map(({ owner }) => owner)).to.deep.equal(['']);
        const second = live([]);
        await second.recovery.scan();
        await until(async () => (await turns.leased(10)).length === 0);
        // Nobody else answers in this process's stead if the store is its own.
        if (turns.isExclusive) (await listen(first)).stop();
        expect(await stream.ends(1)).to.deep.equal(['Answer 1']);
        stream.stop();
        await end(first);
        await end(second);
      });

      it('have their answers on the stream of a process that wrote none of them, from where a client was', async () => {
        const first = live(['Answer 1', 'Answer 2', 'Answer 3']);
        const before = await listen(first);
        for (const message of ['one', 'two', 'three'])
          await first.chat.handler.handleMessage('ann', CONVERSATION, message);
        await before.ends(3);
        before.stop();
        const second = live([]);
        const latest = await listen(second);
        expect(answersIn(latest.events)).to.deep.equal(['Answer 3', '']);
        for (const [index, { id }] of before.events.entries()) {
          const rest = await listen(second, id);
          const all = [...before.events.slice(0, index + 1), ...rest.events];
          expect(answersIn(all), id).to.deep.equal(['Answer 1', 'Answer 2', 'Answer 3', '']);
          expect(all.map(({ type }) => type)).not.to.include('restarted');
          // The ids of the second process are as good as those of the first.
          const again = await listen(second, rest.events[0]?.id ?? id);
          expect(answersIn([...all.slice(0, index + 2), ...again.events])).to.deep.equal(answersIn(all));
          for (const each of [rest, again]) each.stop();
        }
        latest.stop();
        await end(first);
        await end(second);
      });

      it('are cancelled by their ids before their runs begin, from any process', async () => {
        const asked = deferred();
        const go = deferred();
        const first = live([() => (asked.resolve(), go.promise.then(() => 'Answer 1')), 'Answer 3']);
        const stream = await listen(first);
        const ids: string[] = [];
        for (const message of ['one', 'two', 'three'])
          ids.push((await first.chat.handler.accept('ann', CONVERSATION, message)).executionId);
        await asked.promise;
        const [, queued = ''] = ids;
        const { handler } = live([]).chat;
        expect(await handler.userOf(queued)).to.equal('ann');
        await handler.cancel(queued);
        expect(await handler.userOf(queued)).to.equal(undefined);
        go.resolve();
        const [one, two, three] = await stream.ends(3);
        expect([one, three]).to.deep.equal(['Answer 1', 'Answer 3']);
        expect(two).to.contain('cancelled');
        expect(await runs.head(queued)).to.equal(undefined);
        first.provider.assertPlayedOut();
        stream.stop();
        await end(first);
      });

      it('whose run was parked are given up, so that those behind them are answered', async () => {
        const asked = deferred();
        const first = live([() => (asked.resolve(), new Promise(() => undefined))]);
        const { executionId } = await first.chat.handler.accept('ann', CONVERSATION, 'one');
        await first.chat.handler.accept('ann', CONVERSATION, 'two');
        await asked.promise;
        await end(first);
        await runs.park((await runs.head(executionId))!, {
          reason: 'max-takeovers',
          message: 'It kills.',
          at: Date.now(),
        });
        const second = live(['Answer 2']);
        const stream = await listen(second);
        await second.recovery.scan();
        expect(await stream.ends(2)).to.deep.equal([
          'ERROR: The message was given up: every process that began to answer it has died.',
          'Answer 2',
        ]);
        expect((await runs.head(executionId))?.state).to.equal('cancelled');
        stream.stop();
        await end(second);
      });

      it('that no process can start a run for are given up after a few attempts', async () => {
        const first = live([]);
        await turns.add({ id: 'm', userId: 'ann', conversationId: CONVERSATION, text: 'one', at: 1 }, 'gone');
        for (let attempt = 0; attempt <= MAX_MESSAGE_ATTEMPTS; attempt += 1) await turns.countAttempt('m');
        const stream = await listen(first);
        await first.recovery.scan();
        expect(await stream.ends(1)).to.deep.equal([
          'ERROR: The message was given up: every process that began to answer it has died.',
        ]);
        stream.stop();
        await end(first);
      });
    }),
  );
