/** `BolideChatTransport` in the AI SDK's own chat: stopping cancels the run, leaving does not. */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { BolideChatTransport } from '../../imports/interop/aiSdk/BolideChatTransport';
import type { BolideChatTransportOptions } from '../../imports/interop/aiSdk/BolideChatTransport';
import type { UIMessageChunk as OurChunk } from '../../imports/interop/aiSdk/UIMessages';
import { chatClient, textOf } from '../support/ChatClient';
import type { ChatClient } from '../support/ChatClient';
import { deferred } from '../support/deferred';
import { startChatServer } from '../support/startChatServer';
import type { ChatServer } from '../support/startChatServer';

/** The transport passes texts. */
const urlOf = (input: string | URL | Request): string => (input instanceof Request ? input.url : input.toString());

describe('BolideChatTransport', () => {
  let server: ChatServer;
  before(async () => {
    server = await startChatServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.hold();
  });

  let count = 0;
  /** Runs of earlier tests. */
  const seen = new Set<string>();
  function client(options: BolideChatTransportOptions = {}, id = `chat-${(count += 1)}`): ChatClient {
    const transport = new BolideChatTransport({
      api: `${server.url}/api/chat`,
      headers: () => ({ authorization: `Bearer ${server.token}` }),
      ...options,
    });
    return chatClient(server, { id, transport });
  }

  it('is a ChatTransport', () => {
    const transport: ChatTransport<UIMessage> = new BolideChatTransport();
    const chunk = (ours: OurChunk): UIMessageChunk => ours;
    expect([transport, chunk]).to.have.length(2);
  });

  it('streams, and sends its fields with every message', async () => {
    const { chat, errors } = client({ body: () => ({ model: 'anthropic' }) });
    await chat.sendMessage({ text: 'What is the weather in Lisbon?' });
    expect(errors).to.deep.equal([]);
    expect(textOf(chat.messages.at(-1))).to.contain('get_weather returned');
    expect(chat.messages.at(-1)?.metadata).to.have.property('model').that.contains('claude');
  });

  it('leaves no listener at a signal that serves any number of messages', async () => {
    const { signal } = new AbortController();
    const transport = new BolideChatTransport({
      api: `${server.url}/api/chat`,
      headers: { authorization: `Bearer ${server.token}` },
    });
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };
    const stream = await transport.sendMessages({
      chatId: 'signalled',
      trigger: 'submit-message',
      messageId: undefined,
      messages: [message],
      abortSignal: signal,
    });
    expect(getEventListeners(signal, 'abort'), 'while it streams').to.have.length(1);
    for await (const _chunk of stream as unknown as AsyncIterable<OurChunk>);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('shows the server’s message', async () => {
    const { chat, errors } = client({ body: { model: 'no/such' } });
    await chat.sendMessage({ text: 'Hello' });
    expect(errors[0]?.message).to.contain('no/such');
    const nobody = client({ headers: {} });
    await nobody.chat.sendMessage({ text: 'Hello' });
    expect(nobody.errors[0]?.message).to.contain('API token');
  });

  it('cancels the run when the chat is stopped', async () => {
    const { chat, errors } = client();
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    const { executionId } = await server.events.seen(
      'tool:executing',
      ({ name, executionId: id }) => name === 'wait_for' && !seen.has(id),
    );
    seen.add(executionId);
    await chat.stop();
    await sent;
    await server.events.seen('run:cancelled', ({ executionId: id }) => id === executionId);
    expect(errors).to.deep.equal([]);
    expect(chat.status).to.equal('ready');
  });

  it('cancels a run that was stopped before the server answered', async () => {
    const reached = deferred<undefined>();
    const mayGoOn = deferred<undefined>();
    const id = 'stopped-early';
    const options: BolideChatTransportOptions = {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (init?.method === 'POST' && !urlOf(input).endsWith('/stop')) {
          reached.resolve(undefined);
          await mayGoOn.promise;
        }
        return response;
      },
    };
    const { chat } = client(options, id);
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await reached.promise;
    await chat.stop();
    await sent;
    mayGoOn.resolve(undefined);
    const { executionId } = await server.events.seen('run:started', ({ conversationId }) => conversationId === id);
    seen.add(executionId);
    await server.events.seen('run:cancelled', (event) => event.executionId === executionId);
  });

  it('stops a resumed run, but not when only the attempt to resume is given up', async () => {
    const first = client({}, 'resumed');
    void first.chat.sendMessage({ text: 'Wait for what "tea"' });
    const { executionId } = await server.events.seen(
      'tool:executing',
      ({ name, executionId: id }) => name === 'wait_for' && !seen.has(id),
    );
    seen.add(executionId);
    const hesitant = client({}, 'resumed');
    const attempt = hesitant.chat.resumeStream();
    await hesitant.chat.stop();
    await attempt;
    const second = client({}, 'resumed');
    const resumed = second.chat.resumeStream();
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (second.chat.messages.length > 0) resolve();
      };
      second.chat['~registerMessagesCallback'](check);
      check();
    });
    expect(server.host.module.loop.local.has(executionId)).to.equal(true);
    await second.chat.stop();
    await resumed;
    await server.events.seen('run:cancelled', ({ executionId: id }) => id === executionId);
  });

  it('reports a run that could not be cancelled', async () => {
    const failed = deferred<unknown>();
    const { chat } = client({
      onStopError: failed.resolve,
      fetch: (input, init) =>
        urlOf(input).endsWith('/stop') ? Promise.reject(new Error('offline')) : fetch(input, init),
    });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await server.events.seen('tool:executing', ({ name, executionId: id }) => name === 'wait_for' && !seen.has(id));
    await chat.stop();
    await sent;
    expect(await failed.promise).to.have.property('message', 'offline');
  });
});
