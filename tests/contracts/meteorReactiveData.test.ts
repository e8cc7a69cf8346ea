/** Runs as reactive data over the host's publications: in React, and in Tracker computations. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { LiveRun } from '../../imports/ui/conversations/observeRun';
import { check, Match } from '../stubs/meteor/check';
import { MeteorError } from '../stubs/server/MeteorError';
import { registry } from '../stubs/server/registry';
import { failure } from '../support/failure';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { addLogin } from '../support/meteorClient/addLogin';
import { MeteorBrowser } from '../support/meteorClient/MeteorBrowser';
import { IS_SOAK } from '../support/soak';
import { inFlowingTime } from '../support/VirtualTime';

describe(
  'reactive data for Meteor clients',
  inFlowingTime(() => {
    let app: MeteorApp;
    let browser: MeteorBrowser;
    let requests = 0;
    beforeEach(async () => {
      app = await startMeteorApp();
      addLogin(['ann', 'bob']);
      browser = await MeteorBrowser.open({ token: { token: 'token-of-ann', userId: 'ann' } });
    });
    afterEach(async () => {
      browser.close();
      await app.stop();
    });

    const startRun = async (input: string | readonly object[], tools: readonly string[] = []): Promise<string> => {
      const request = { requestId: `run-${(requests += 1)}`, providerId: 'shared', input, tools };
      return ((await app.call('ann', 'ai.runs.start', request)) as { executionId: string }).executionId;
    };
    const approve = async (executionId: string): Promise<void> => {
      const call = await app.events.seen('tool:pending', (event) => event.executionId === executionId);
      const argumentsHash = createHash('sha256').update(call.arguments).digest('hex');
      await app.events.seen('tool:approval_required', (event) => event.executionId === executionId);
      await app.call('ann', 'ai.runs.approve', { executionId, callId: call.callId, argumentsHash });
    };
    const subscriptions = (name?: string): number =>
      browser.sent.filter(({ msg, name: sent }) => msg === 'sub' && (name === undefined || sent === name)).length;
    const unsubscriptions = (): number => browser.sent.filter(({ msg }) => msg === 'unsub').length;

    it('starts a run once, however often Meteor sends its method', async () => {
      const count = IS_SOAK ? 200 : 10;
      await browser.waitFor(() => browser.page.Meteor.userId() === 'ann');
      let cut = 0;
      for (let started = 0; started < count; started += 1) {
        app.simulator.enqueue({ text: 'Hello.' });
        const { length } = browser.sent;
        const run = browser.page.bolide.runs.start(browser.own({ providerId: 'shared', input: `Run ${started}` }));
        // Before the server's answer arrives, and after it has begun to work.
        await browser.waitFor(() => browser.sent.slice(length).some(({ method }) => method === 'ai.runs.start'));
        browser.dropConnection();
        expect(await run).to.have.property('executionId');
        cut += browser.sent.slice(length).filter(({ method }) => method === 'ai.runs.start').length - 1;
      }
      expect(cut, 'calls that were sent again').to.be.at.least(count);
      expect(await app.host.database.collection('ai_runs').count({})).to.equal(count);
    });

    it('shows runs in collections with their types', async () => {
      const executionId = await startRun('Hello');
      const { RunsCollection } = browser.page.collections;
      void browser.page.subscribe('ai.run', JSON.stringify({ executionId }));
      await browser.waitFor(() => RunsCollection.findOne(browser.own({ _id: executionId }))?.providerId === 'shared');
      expect(RunsCollection).to.equal(browser.page.collection('ai_runs'));
    });

    describe('useRun', () => {
      for (const isStrict of [true, false]) {
        it(`follows a run to its end over one subscription ${isStrict ? 'under' : 'without'} StrictMode`, async () => {
          const { page } = browser;
          app.simulator.enqueue({ text: 'First. ', calls: [{ name: 'danger', arguments: {} }] });
          const executionId = await startRun('Launch', ['danger']);
          let renderings = 0;
          let last = '';
          const unmount = page.mountWithData(() => {
            const { status, calls, text } = page.useRun(executionId);
            renderings += 1;
            last = [status, calls.map(({ state }) => state).join(), text].join(' | ');
            return null;
          }, isStrict);
          await browser.waitFor(() => last.endsWith('| awaiting_approval | First. '));
          app.simulator.enqueue({ text: 'Launched.' });
          await approve(executionId);
          await browser.waitFor(() => last === 'completed | completed | First. Launched.');
          expect(subscriptions('ai.run')).to.equal(1);
          await browser.settle();
          const rendered = renderings;
          await startRun('Another run');
          await app.events.seen('run:completed', (event) => event.executionId !== executionId);
          await browser.settle();
          expect(renderings, 'renderings for another run').to.equal(rendered);
          unmount();
          await browser.waitFor(() => unsubscriptions() === 1);
          expect(browser.errors).to.deep.equal([]);
        });
      }

      it('shows a run and its calls when they are complete, although a list has published a part of them', async () => {
        const { page } = browser;
        app.simulator.enqueue({ calls: [{ name: 'danger', arguments: { text: 'now' } }] });
        const executionId = await startRun('Launch', ['danger']);
        await app.events.seen('tool:approval_required', (event) => event.executionId === executionId);
        await page.subscribe('ai.runs', '{}');
        await page.subscribe('ai.toolCalls', '{"summary":true}');
        const seen = new Set<string>();
        page.mountWithData(() => {
          const { run, calls } = page.useRun(executionId);
          seen.add(
            `${run?.input === undefined ? 'no run' : 'a run'}, ${JSON.stringify(calls.map((call) => call.arguments))}`,
          );
          return null;
        }, true);
        await browser.waitFor(() => seen.has('a run, ["{\\"text\\":\\"now\\"}"]'));
        expect([...seen]).to.deep.equal(['no run, []', 'a run, ["{\\"text\\":\\"now\\"}"]']);
      });

      it('renders once for a batch of deltas, however many they are', async () => {
        const { page } = browser;
        app.simulator.enqueue({ calls: [{ name: 'danger', arguments: {} }] });
        const executionId = await startRun('Write', ['danger']);
        const renderings: string[] = [];
        page.mountWithData(() => {
          renderings.push(page.useRun(executionId).text);
          return null;
        }, false);
        await browser.waitFor(() => subscriptions('ai.run') === 1);
        app.simulator.enqueue({ text: 'word '.repeat(500) });
        await approve(executionId);
        await browser.waitFor(() => renderings.at(-1) === 'word '.repeat(500));
        expect(renderings.length).to.be.below(100);
      });

      it('waits without a subscription until there is a run, and follows the next one', async () => {
        const { page } = browser;
        app.simulator.enqueue({ text: 'One.' }, { text: 'Two.' });
        const ids = [await startRun('1'), await startRun('2')];
        const current = new page.Tracker.Dependency();
        let index = -1;
        let last = '';
        page.mountWithData(() => {
          const { id } = page.useTracked(() => {
            current.depend();
            return { id: ids[index] };
          });
          const { status, text } = page.useRun(id);
          last = `${status} ${text}`;
          return null;
        }, true);
        await browser.settle();
        expect([last, subscriptions('ai.run')]).to.deep.equal(['idle ', 0]);
        for (const text of ['One.', 'Two.']) {
          index += 1;
          current.changed();
          await browser.waitFor(() => last === `completed ${text}`);
        }
        await browser.waitFor(() => unsubscriptions() === 1);
      });

      it('reports the error of a refused subscription, and subscribes again on demand', async () => {
        const { page } = browser;
        const publication = registry.publications.get('ai.run');
        registry.publications.set('ai.run', (...args: never[]) => {
          check(args, [Match.Any]);
          throw new MeteorError('too-many-requests', 'Slow down.');
        });
        app.simulator.enqueue({ text: 'Here.' });
        const executionId = await startRun('Hello');
        let last: LiveRun | undefined;
        page.mountWithData(() => {
          last = page.useRun(executionId);
          return null;
        }, true);
        await browser.waitFor(() => last?.error !== undefined);
        expect(last).to.include({ status: 'unavailable', run: undefined });
        expect(last?.error).to.include({ code: 'too-many-requests', message: 'Slow down.' });
        await browser.settle();
        expect(subscriptions('ai.run'), 'no endless attempts').to.equal(1);
        registry.publications.set('ai.run', publication as never);
        last?.retry();
        await browser.waitFor(() => last?.status === 'completed');
        expect(last?.error).to.equal(undefined);
      });

      it('does not find a run that does not exist', async () => {
        let last: LiveRun | undefined;
        browser.page.mountWithData(() => {
          last = browser.page.useRun('no-such-run');
          return null;
        }, true);
        await browser.waitFor(() => last?.status === 'not-found');
        expect(last).to.include({ run: undefined, error: undefined });
      });
    });

    describe('the functions for computations', () => {
      it('subscribe while the computation runs, and end the subscription when it stops', async () => {
        const { Tracker, trackDelta, trackRun, trackToolCalls } = browser.page;
        app.simulator.enqueue({ text: 'Hello ', calls: [{ name: 'danger', arguments: {} }] });
        const executionId = await startRun('Launch', ['danger']);
        const seen: string[] = [];
        const computation = Tracker.autorun(() => {
          const { run, isLoading } = trackRun(executionId);
          seen.push(`${isLoading} ${run?.state} ${trackToolCalls(executionId).toolCalls.length}`);
        });
        const text = { last: '' };
        const other = Tracker.autorun(() => void (text.last = trackDelta(executionId).text));
        expect(seen).to.deep.equal(['true undefined 0']);
        app.simulator.enqueue({ text: 'world.' });
        await approve(executionId);
        await browser.waitFor(() => seen.at(-1) === 'false completed 1' && text.last === 'Hello world.');
        expect(subscriptions('ai.run')).to.equal(1);
        computation.stop();
        await browser.settle();
        expect(unsubscriptions()).to.equal(0);
        other.stop();
        await browser.waitFor(() => unsubscriptions() === 1);
      });

      it('filter tool calls by state, whichever object the filter is', async () => {
        const { Tracker, trackToolCalls } = browser.page;
        app.simulator.enqueue({ calls: [{ name: 'danger', arguments: {} }] });
        const executionId = await startRun('Launch', ['danger']);
        const shown = [-1, -1];
        const computations = shown.map((_count, index) =>
          Tracker.autorun(() => {
            shown[index] = trackToolCalls({ state: 'awaiting_approval' }).toolCalls.length;
          }),
        );
        await browser.waitFor(() => shown.join() === '1,1');
        app.simulator.enqueue({ text: 'Launched.' });
        await approve(executionId);
        await browser.waitFor(() => shown.join() === '0,0');
        expect(subscriptions('ai.toolCalls')).to.equal(1);
        computations.forEach((computation) => computation.stop());
      });

      it('follow a conversation while a computation reads it, and send its messages', async () => {
        const { Tracker, createConversation } = browser.page;
        app.simulator.enqueue({ text: 'Hello, Ann.' });
        const conversation = createConversation(browser.own({ id: 'harbours', model: 'shared' }));
        const seen: string[] = [];
        const computation = Tracker.autorun(() => {
          const { status, messages } = conversation.get();
          seen.push(`${status} ${messages.length}`);
        });
        await browser.waitFor(() => seen.at(-1) === 'ready 0');
        await conversation.get().send('My name is Ann.');
        await browser.waitFor(() => seen.at(-1) === 'ready 2');
        expect(seen).to.include('submitted 1');
        computation.stop();
        await browser.waitFor(() => unsubscriptions() === subscriptions());
      });

      it('return what has arrived outside of a computation, without subscribing', async () => {
        const executionId = await startRun('Hello');
        expect(browser.page.trackRun(executionId)).to.include({ isLoading: true, run: undefined });
        await browser.settle();
        expect(subscriptions()).to.equal(0);
      });
    });

    describe('clientCollection', () => {
      it('returns the same collection on every call, and the one that the app has created', async () => {
        const { page } = browser;
        expect(page.collection('ai_runs')).to.equal(page.collection('ai_runs'));
        expect(page.collection('users')).to.equal(page.Meteor.users);
      });
    });

    describe('callMethod', () => {
      it('resolves to the server’s result', async () => {
        expect(await browser.page.callMethod<object[]>('ai.tools.list', browser.own({}))).to.have.length(3);
      });

      it('rejects with the code and the message of the server’s error', async () => {
        const error = await failure(browser.page.callMethod('ai.runs.cancel', browser.own({ executionId: 'none' })));
        expect(error).to.include({ code: 'invalid-request', message: 'There is no such run.' });
      });

      it('is not sent again after a lost connection, and rejects', async () => {
        let received = 0;
        registry.methods.set('ai.runs.cancel', (...args: never[]) => {
          check(args, [Match.Any]);
          received += 1;
          return new Promise(() => undefined);
        });
        await browser.waitFor(() => !browser.page.Meteor.loggingIn());
        const call = failure(browser.page.callMethod('ai.runs.cancel', browser.own({ executionId: 'r' })));
        await browser.waitFor(() => received === 1);
        browser.dropConnection();
        expect(await call).to.include({ code: 'invocation-failed' });
        await browser.waitFor(() => browser.page.Meteor.status().connected);
        await browser.settle();
        expect(received).to.equal(1);
      });
    });
  }),
);
