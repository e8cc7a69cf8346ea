/** Bolide's React hooks over DDP: the same hooks as over HTTP. */
import { expect } from 'chai';
import type { Conversation } from '../../imports/ui/conversations/observeConversation';
import type { ConversationMessage, ToolPart } from '../../imports/ui/conversations/ConversationMessage';
import type { RunView } from '../../imports/business/ai/domain/types/RunViews';
import { check } from '../stubs/meteor/check';
import type { FindSpec } from '../stubs/server/MemoryCollection';
import { holdObservers } from '../stubs/server/observers';
import { registry } from '../stubs/server/registry';
import type { Subscription } from '../stubs/server/Subscription';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { addLogin } from '../support/meteorClient/addLogin';
import { MeteorBrowser } from '../support/meteorClient/MeteorBrowser';
import { inFlowingTime } from '../support/VirtualTime';

describe(
  'React hooks over DDP',
  inFlowingTime(() => {
    let app: MeteorApp;
    let browser: MeteorBrowser;
    beforeEach(async () => {
      app = await startMeteorApp();
      addLogin(['ann', 'bob']);
      browser = await MeteorBrowser.open({ token: { token: 'token-of-ann', userId: 'ann' } });
    });
    afterEach(async () => {
      expect(browser.errors).to.deep.equal([]);
      browser.close();
      await app.stop();
    });

    const textOf = ({ role, parts }: ConversationMessage): string =>
      `${role}: ${parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')}`;
    const callsOf = ({ messages }: Conversation): readonly ToolPart[] =>
      messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'));

    /** The conversation as it is rendered now. */
    const open = (options: { readonly id: string; readonly tools?: readonly string[] }) => {
      const { page } = browser;
      const shown: { current?: Conversation } = {};
      const unmount = page.mountWithData(() => {
        shown.current = page.useConversation({ model: 'shared', ...options });
        return null;
      }, true);
      const until = async (matches: (value: Conversation) => boolean): Promise<Conversation> => {
        await browser.waitFor(() => shown.current !== undefined && matches(shown.current));
        if (shown.current === undefined) throw new Error('Nothing was rendered.');
        return shown.current;
      };
      return { until, unmount };
    };
    const isReady = ({ status }: Conversation): boolean => status === 'ready';

    it('answer messages one after another, and show the conversation again after a reload', async () => {
      const { until, unmount } = open({ id: 'harbours' });
      app.simulator.enqueue({ text: 'Hello, Ann.' });
      await (await until(isReady)).send('My name is Ann.');
      await until((value) => isReady(value) && value.messages.length === 2);
      app.simulator.enqueue({ text: 'Ann.' });
      await (await until(isReady)).send('What is my name?');
      const shown = await until((value) => isReady(value) && value.messages.length === 4);
      const texts = shown.messages.map(textOf);
      expect(texts).to.deep.equal([
        'user: My name is Ann.',
        'assistant: Hello, Ann.',
        'user: What is my name?',
        'assistant: Ann.',
      ]);
      unmount();
      const reopened = await open({ id: 'harbours' }).until((value) => value.messages.length === 4);
      expect(reopened.messages.map(textOf)).to.deep.equal(texts);
    });

    // A list publishes the state of a run, too, and its observer notices an end by itself.
    const isDetails = ({ projection = {} }: FindSpec): boolean => 'output' in projection;
    const isList = ({ projection = {} }: FindSpec): boolean => 'title' in projection && !('output' in projection);
    for (const [late, isLate] of [
      ['its text', isDetails],
      ['its list', isList],
    ] as const)
      it(`are not ready before the whole answer is there, with ${late} after the rest`, async () => {
        const { until } = open({ id: 'late', tools: ['danger'] });
        app.simulator.enqueue({ text: 'First. ', calls: [{ name: 'danger', arguments: {} }] });
        await (await until(isReady)).send('Launch');
        const asked = await until((value) => callsOf(value)[0]?.state === 'awaiting_approval');
        const release = holdObservers(({ spec }) => isLate(spec));
        app.simulator.enqueue({ text: 'Launched.' });
        await asked.approve(callsOf(asked)[0]?.callId ?? '');
        await app.events.seen('run:completed');
        const seen = new Set<string>();
        const whole = until((value) => {
          const text = textOf(value.messages[1]!);
          if (value.status === 'ready') seen.add(text);
          return value.status === 'ready' && text === 'assistant: First. Launched.';
        });
        for (let turn = 0; turn < 20; turn += 1) await browser.settle();
        release();
        await whole;
        expect([...seen], 'when it was ready').to.deep.equal(['assistant: First. Launched.']);
      });

    it('are not ready with an earlier answer while the runs arrive', async () => {
      const { until, unmount } = open({ id: 'order' });
      for (const [index, text] of ['One.', 'Two.', 'Three.'].entries()) {
        app.simulator.enqueue({ text });
        await (await until(isReady)).send(String(index));
        await until((value) => isReady(value) && value.messages.length === 2 * index + 2);
      }
      unmount();
      await browser.waitFor(() => browser.page.collections.RunsCollection.find().count() === 0);
      // An observer that follows the oplog reports existing documents in any order, and Meteor applies them in parts.
      const publication = registry.publications.get('ai.runs');
      const { runs } = (await app.call('ann', 'ai.runs.list', { conversationId: 'order' })) as {
        readonly runs: readonly RunView[];
      };
      registry.publications.set('ai.runs', async function (this: Subscription, argument: unknown) {
        check(argument, Object);
        this.unblock();
        for (const { _id, ...run } of runs.toSorted((one, other) => Number(one.title) - Number(other.title))) {
          this.added('ai_runs', _id, { ...run, createdAt: Number(run.title) });
          for (let turn = 0; turn < 10; turn += 1) await browser.settle();
        }
        this.ready();
      } as never);
      const reopened = open({ id: 'order' });
      expect((await reopened.until(isReady)).messages).to.have.length(6);
      registry.publications.set('ai.runs', publication as never);
    });

    it('show the live state of a call, and approve it', async () => {
      const { until } = open({ id: 'launch', tools: ['danger'] });
      app.simulator.enqueue({ text: 'First. ', calls: [{ name: 'danger', arguments: {} }] });
      await (await until(isReady)).send('Launch');
      const asked = await until((value) => callsOf(value)[0]?.state === 'awaiting_approval');
      expect(asked.status).to.equal('waiting');
      app.simulator.enqueue({ text: 'Launched.' });
      await asked.approve(callsOf(asked)[0]?.callId ?? '');
      const done = await until(isReady);
      expect(callsOf(done)[0]?.state).to.equal('completed');
      expect(textOf(done.messages[1]!)).to.equal('assistant: First. Launched.');
    });

    it('stop a run', async () => {
      const { until } = open({ id: 'stop', tools: ['danger'] });
      app.simulator.enqueue({ calls: [{ name: 'danger', arguments: {} }] });
      await (await until(isReady)).send('Launch');
      await (await until((value) => callsOf(value)[0]?.state === 'awaiting_approval')).stop();
      const stopped = await until(isReady);
      expect(stopped.run.status).to.equal('cancelled');
    });

    it('report why a message was refused', async () => {
      const { until } = open({ id: 'refused', tools: ['no-such-tool'] });
      await (await until(isReady)).send('Hello?');
      const failed = await until(({ status }) => status === 'failed');
      expect(failed.error?.code).to.equal('invalid-request');
      expect(failed.messages.map(textOf)).to.deep.equal(['user: Hello?']);
    });
  }),
);
