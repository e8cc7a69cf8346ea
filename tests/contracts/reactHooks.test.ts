import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLayoutEffect } from 'react';
import { DashboardError } from '../../imports/ui/data/DashboardData';
import type { RunningServer } from '../../imports/host/node/startServer';
import { createHttpData } from '../../imports/ui/data/http/createHttpData';
import type { HttpDashboardData } from '../../imports/ui/data/http/toDashboardData';
import { useConversation } from '../../imports/ui/hooks/useConversation';
import type { Conversation, ConversationOptions } from '../../imports/ui/conversations/observeConversation';
import type { ConversationMessage, ToolPart } from '../../imports/ui/conversations/ConversationMessage';
import { useRun } from '../../imports/ui/hooks/useRun';
import type { LiveRun } from '../../imports/ui/conversations/observeRun';
import { startDemoServer } from '../support/startDemoServer';
import { renderHook } from '../support/react/renderHook';
import type { RenderedHook } from '../support/react/renderHook';
import { inFlowingTime } from '../support/VirtualTime';

const TOKEN = 'a-token-for-the-hooks-tests';

describe(
  'React hooks over HTTP',
  inFlowingTime((time) => {
    let server: RunningServer;
    let directory: string;
    let data: HttpDashboardData;
    const mounted: RenderedHook<never, never>[] = [];
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-hooks-'));
      server = await startDemoServer({ PORT: '0', BOLIDE_API_TOKEN: TOKEN, DATA_DIR: directory });
    });
    after(async () => {
      await server.close();
      await rm(directory, { recursive: true });
    });
    beforeEach(() => {
      data = createHttpData({ origin: server.url, token: TOKEN });
    });
    afterEach(() => {
      for (const hook of mounted.splice(0)) hook.unmount();
    });

    const mount = <T, P>(useHook: (props: P) => T, props: P): RenderedHook<T, P> => {
      const hook = renderHook({ useHook, props, data });
      mounted.push(hook as never);
      return hook;
    };
    const openConversation = (options: Partial<ConversationOptions> = {}) =>
      mount((props: ConversationOptions) => useConversation(props), { model: 'openai', ...options });
    const textOf = ({ parts }: ConversationMessage): string =>
      parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    const callsOf = ({ messages }: Pick<Conversation, 'messages'>): readonly ToolPart[] =>
      messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'));
    const isReady = ({ status }: Conversation): boolean => status === 'ready';
    const start = async (input: string, tools: readonly string[] = []): Promise<string> =>
      (await data.call('ai.runs.start', { requestId: `r${(requests += 1)}`, providerId: 'openai', input, tools }))
        .executionId;
    let requests = 0;
    /** The newest of a conversation's runs is the one that was created last. */
    const nextMillisecond = (): Promise<void> => time.after(5);

    describe('useRun', () => {
      const openRun = (executionId: string | undefined) =>
        mount((id: string | undefined): LiveRun => useRun(id), executionId);

      it('is idle without an id, and follows a run from its start to its end', async () => {
        const hook = openRun(undefined);
        expect((await hook.until(() => true)).status).to.equal('idle');
        const executionId = await start('Tell me about harbours.');
        hook.render(executionId);
        const ended = await hook.until(({ status }) => status === 'completed');
        expect(ended.text).to.not.equal('');
        expect(ended.isActive).to.equal(false);
        expect(ended.usage.total_tokens).to.be.above(0);
        const seen = hook.values.filter(({ run }) => run !== undefined).map(({ text }) => text);
        for (const [index, text] of seen.entries())
          expect(ended.text.startsWith(text), `rendering ${index} shows a part of the text`).to.equal(true);
      });

      it('decides on a call as soon as it is rendered, even before it is painted', async () => {
        const refusals: unknown[] = [];
        const useApproval = (id: string): LiveRun => {
          const run = useRun(id);
          const { approve, calls } = run;
          const asking = calls.find(({ state }) => state === 'awaiting_approval')?.callId;
          useLayoutEffect(() => {
            if (asking !== undefined) approve(asking).catch((error: unknown) => refusals.push(error));
          }, [asking, approve]);
          return run;
        };
        const hook = mount(useApproval, await start('Use send_reminder "take a coat"', ['send_reminder']));
        await hook.until(({ status }) => status === 'completed' || refusals.length > 0);
        expect(refusals).to.deep.equal([]);
      });

      it('reports an unknown run', async () => {
        const hook = openRun('no-such-run');
        await hook.until(({ status }) => status === 'not-found');
      });
    });

    describe('useConversation', () => {
      it('answers messages one after another, each with what was said before', async () => {
        const hook = openConversation({ id: 'harbours' });
        await hook.until(isReady);
        void hook.current.send('My name is Ann.');
        await hook.until(({ status }) => status === 'submitted');
        expect(hook.current.messages.map(textOf)).to.deep.equal(['My name is Ann.']);
        await hook.until((shown) => isReady(shown) && shown.messages.length === 2);
        await nextMillisecond();
        void hook.current.send('What is my name?');
        const shown = await hook.until((value) => isReady(value) && value.messages.length === 4);
        expect(shown.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'assistant']);
        expect(new Set(shown.messages.map(({ id }) => id)).size).to.equal(4);
        for (const { messages } of hook.values.slice(hook.values.findIndex(({ messages: { length } }) => length === 2)))
          expect(messages.length, 'no rendering loses messages').to.be.at.least(2);
        const reopened = openConversation({ id: 'harbours' });
        const restored = await reopened.until((value) => value.messages.length === 4);
        expect(restored.messages.map(textOf)).to.deep.equal(shown.messages.map(textOf));
      });

      it('shows a blocking and a non-blocking call live, and the late result', async () => {
        const hook = openConversation({ tools: ['get_weather', 'research_topic'] });
        await hook.until(isReady);
        void hook.current.send('Use get_weather for Lisbon, research_topic "harbour fog"');
        const waiting = await hook.until((value) =>
          callsOf(value).some(({ name, progress }) => name === 'research_topic' && progress !== undefined),
        );
        expect(callsOf(waiting).map(({ name, blocking }) => [name, blocking])).to.deep.equal([
          ['get_weather', true],
          ['research_topic', false],
        ]);
        const done = await hook.until(isReady);
        expect(callsOf(done).map(({ state }) => state)).to.deep.equal(['completed', 'completed']);
        expect(callsOf(done)[1]?.result).to.include('harbour fog');
      });

      it('approves and rejects calls', async () => {
        const hook = openConversation({ tools: ['send_reminder'] });
        await hook.until(isReady);
        void hook.current.send('Use send_reminder "take a coat"');
        const asked = await hook.until((value) => callsOf(value)[0]?.state === 'awaiting_approval');
        expect(asked.status).to.equal('waiting');
        await asked.approve(callsOf(asked)[0]?.callId ?? '');
        await hook.until(isReady);
        await nextMillisecond();
        void hook.current.send('Use send_reminder "take a hat"');
        const again = await hook.until((value) => callsOf(value)[1]?.state === 'awaiting_approval');
        await again.reject(callsOf(again)[1]?.callId ?? '', 'No hats.');
        const done = await hook.until(isReady);
        expect(callsOf(done).map(({ state }) => state)).to.deep.equal(['completed', 'failed']);
        expect(callsOf(done)[1]?.error).to.include('No hats.');
      });

      it('stops, and then answers the next message', async () => {
        const hook = openConversation({ tools: ['render_video'] });
        await hook.until(isReady);
        void hook.current.send('Use render_video "fog" 30 seconds');
        await hook.until((value) => callsOf(value)[0]?.state === 'executing');
        await hook.current.stop();
        await hook.until(isReady);
        await nextMillisecond();
        void hook.current.send('Hello?');
        const done = await hook.until((value) => isReady(value) && textOf(value.messages.at(-1)!) !== '');
        expect(callsOf(done)[0]?.state).to.equal('cancelled');
      });

      it('stops a message whose run is not known yet', async () => {
        const hook = openConversation({ tools: ['render_video'] });
        await hook.until(isReady);
        void hook.current.send('Use render_video "fog" 30 seconds');
        await hook.until(({ status }) => status === 'submitted');
        await hook.current.stop();
        const done = await hook.until((value) => value.run.status === 'cancelled');
        expect(done.status).to.equal('ready');
      });

      it('sends a message to the run that answers once, although the connection is lost and the message is sent again', async () => {
        let losses = 1;
        const { call } = data;
        data = {
          ...data,
          call: (async (name, argument) => {
            const result = await call(name, argument);
            if (name !== 'ai.runs.send' || losses === 0) return result;
            losses -= 1;
            throw new DashboardError('connection-failed', 'The connection was lost.');
          }) as HttpDashboardData['call'],
        };
        const hook = openConversation({ tools: ['render_video'] });
        await hook.until(isReady);
        void hook.current.send('Use render_video "fog" 30 seconds');
        const { run } = await hook.until((value) => callsOf(value)[0]?.state === 'executing');
        await hook.current.send('And ships?');
        await hook.until(({ error }) => error?.code === 'connection-failed');
        hook.current.retry();
        await hook.until(({ error }) => error === undefined);
        const { messages } = await data.call('ai.runs.messages', { executionId: run.run!._id });
        expect(messages).to.have.length(1);
        await hook.current.stop();
      });

      it('regenerates the last answer', async () => {
        const hook = openConversation();
        await hook.until(isReady);
        void hook.current.send('Tell me about harbours.');
        const first = await hook.until((value) => isReady(value) && value.messages.length === 2);
        void hook.current.regenerate();
        const second = await hook.until((value) => isReady(value) && value.run.run?._id !== first.run.run?._id);
        expect(second.messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant']);
      });

      it('refuses a second message while the first is being answered', async () => {
        const hook = openConversation();
        await hook.until(isReady);
        void hook.current.send('Tell me about harbours.');
        void hook.current.send('Tell me about ships.');
        const refused = await hook.until(({ error }) => error !== undefined);
        expect(refused.error?.code).to.equal('conflict');
        const answered = await hook.until((value) => isReady(value) && value.messages.length === 2);
        expect(textOf(answered.messages[0]!)).to.equal('Tell me about harbours.');
      });

      it('reports a refused message, and sends the next one', async () => {
        const hook = openConversation({ model: 'no-such-provider' });
        await hook.until(isReady);
        await hook.current.send('Hello?');
        const failed = await hook.until(({ status }) => status === 'failed');
        expect(failed.error?.message).to.include('no-such-provider');
        const renderings = hook.values.length;
        hook.render({ model: 'openai' });
        await hook.until(() => hook.values.length > renderings);
        await nextMillisecond();
        void hook.current.send('Hello?');
        await hook.until((value) => isReady(value) && value.messages.length === 2);
      });

      it('sends with the options of the last rendering, even before it is painted', async () => {
        const useSender = (options: ConversationOptions): Conversation => {
          const conversation = useConversation(options);
          const { send } = conversation;
          useLayoutEffect(() => {
            if (options.model === 'openai') void send('Hello?');
          }, [options.model, send]);
          return conversation;
        };
        const hook = mount(useSender, { model: 'no-such-provider' });
        await hook.until(isReady);
        hook.render({ model: 'openai' });
        const shown = await hook.until(({ status, messages }) => status === 'failed' || messages.length === 2);
        expect(shown.error).to.equal(undefined);
      });

      it('follows the conversation in another tab', async () => {
        const [one, two] = [openConversation({ id: 'tabs' }), openConversation({ id: 'tabs' })];
        await Promise.all([one.until(isReady), two.until(isReady)]);
        void one.current.send('Tell me about harbours.');
        const shown = await two.until((value) => isReady(value) && value.messages.length === 2);
        expect(textOf(shown.messages[0]!)).to.equal('Tell me about harbours.');
      });
    });
  }),
);
