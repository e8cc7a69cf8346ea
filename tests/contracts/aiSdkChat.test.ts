/** `/api/chat` against the AI SDK's own client. */
import { expect } from 'chai';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import type { UIMessage } from 'ai';
import { stub } from 'sinon';
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { VENDOR_VARIABLES } from '../../imports/host/settings/vendors';
import { chatClient, textOf } from '../support/ChatClient';
import { allInSoak, itInSoak } from '../support/soak';
import { startChatServer } from '../support/startChatServer';
import { until } from '../support/until';
import type { ChatServer } from '../support/startChatServer';

type Part = UIMessage['parts'][number];

function partsOf(message: UIMessage | undefined): readonly Part[] {
  return (message?.parts ?? []).filter(({ type }) => type !== 'reasoning' && type !== 'custom');
}

function toolOf(message: UIMessage | undefined, name: string): Part | undefined {
  return message?.parts.find(({ type }) => type === `tool-${name}`);
}

const typesOf = (message: UIMessage | undefined): readonly string[] => partsOf(message).map(({ type }) => type);
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('the chat endpoint', () => {
  let server: ChatServer;
  beforeEach(async () => {
    server = await startChatServer();
  });
  afterEach(() => server.close());

  const get = (path: string, token = server.token): Promise<Response> =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } });
  const post = (path: string, body?: unknown, token = server.token): Promise<Response> =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const storedMessages = async (id: string, token?: string): Promise<readonly UIMessage[]> =>
    ((await (await get(`/api/chat/${id}`, token)).json()) as { readonly messages: readonly UIMessage[] }).messages;
  const user = (text: string, id = 'm1'): object => ({ id, role: 'user', parts: [{ type: 'text', text }] });

  for (const vendor of allInSoak(Object.keys(VENDOR_VARIABLES), 1))
    it(`streams a conversation with a blocking call on ${vendor}`, async () => {
      const { chat, errors } = chatClient(server, { body: { model: vendor } });
      await chat.sendMessage({ text: 'What is the weather in Lisbon?' });
      expect(errors.map(({ message }) => message)).to.deep.equal([]);
      const message = chat.messages.at(-1);
      expect(typesOf(message)).to.deep.equal(['step-start', 'tool-get_weather', 'step-start', 'text']);
      expect(toolOf(message, 'get_weather')).to.deep.include({
        state: 'output-available',
        input: { city: 'Lisbon' },
        output: { city: 'Lisbon', sky: 'clear' },
      });
      expect(textOf(message)).to.contain('get_weather returned');
      expect(message?.metadata).to.have.nested.property('usage.totalTokens').that.is.greaterThan(0);
      await chat.sendMessage({ text: 'Hello again' });
      expect(errors.map(({ message: text }) => text)).to.deep.equal([]);
      expect(textOf(chat.messages.at(-1))).to.contain('Hello again');
      expect(await storedMessages(chat.id)).to.deep.equal(plain(chat.messages));
    });

  it('groups the runs of a chat as a conversation', async () => {
    const { chat, errors } = chatClient(server, { id: 'trip-to-lisbon' });
    await chat.sendMessage({ text: 'Hello' });
    await chat.sendMessage({ text: 'Hello again' });
    expect(errors).to.deep.equal([]);
    const started = server.events.events.filter((event) => event.type === 'run:started');
    expect(started.map(({ conversationId }) => conversationId)).to.deep.equal(['trip-to-lisbon', 'trip-to-lisbon']);
    expect((await post('/api/chat', { id: 'an id with spaces', messages: [user('Hello')] })).status).to.equal(200);
  });

  it('sends the header of the protocol', async () => {
    const response = await post('/api/chat', { id: 'c', messages: [user('Hello')] });
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).to.equal('v1');
    expect(response.headers.get('content-type')).to.contain('text/event-stream');
    expect(await response.text()).to.match(/data: \[DONE\]\n\n$/);
  });

  it('updates the part of a non-blocking call when its result arrives, while the model goes on', async () => {
    const { chat, errors } = chatClient(server);
    const sent = chat.sendMessage({ text: 'Research the topic cats in the background' });
    await server.events.seen('llm:response', ({ iteration }) => iteration === 2);
    server.release();
    await sent;
    expect(errors).to.deep.equal([]);
    const message = chat.messages.at(-1);
    expect(toolOf(message, 'research_topic')).to.deep.include({ state: 'output-available' });
    expect(typesOf(message).filter((type) => type !== 'data-tool-progress')).to.deep.equal([
      'step-start',
      'tool-research_topic',
      'step-start',
      'text',
      'data-tool-result',
      'step-start',
      'text',
    ]);
    expect(message?.parts.find(({ type }) => type === 'data-tool-progress')).to.have.nested.property(
      'data.note',
      'half',
    );
  });

  it('continues the run when its call is approved', async () => {
    const { chat, errors, ...client } = chatClient(server, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    await chat.sendMessage({ text: 'Send a reminder with the text "tea"' });
    const requested = toolOf(chat.messages.at(-1), 'send_reminder') as { readonly approval: { readonly id: string } };
    expect(requested).to.include({ state: 'approval-requested' });
    expect(chat.status).to.equal('ready');
    await chat.addToolApprovalResponse({ id: requested.approval.id, approved: true });
    await client.idle(() => textOf(chat.messages.at(-1)) !== '');
    expect(errors).to.deep.equal([]);
    const message = chat.messages.at(-1);
    expect(chat.messages).to.have.length(2);
    expect(typesOf(message)).to.deep.equal(['step-start', 'tool-send_reminder', 'step-start', 'text']);
    expect(toolOf(message, 'send_reminder')).to.include({ state: 'output-available' });
    expect(server.events.events.filter(({ type }) => type === 'run:started')).to.have.length(1);
    expect(await storedMessages(chat.id)).to.deep.equal(plain(chat.messages));
    const admin = { userId: 'local', isAdmin: true, source: 'http' } as const;
    const { entries } = await server.host.operations['ai.audit.list'](admin, { action: 'call.approve' });
    expect(entries.map(({ outcome, address, subject }) => [outcome, address, subject.ownerId])).to.deep.equal([
      ['done', '127.0.0.1', 'local'],
    ]);
  });

  it('tells the model when a call is rejected', async () => {
    const { chat, ...client } = chatClient(server, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    await chat.sendMessage({ text: 'Send a reminder with the text "tea"' });
    const { approval } = toolOf(chat.messages.at(-1), 'send_reminder') as {
      readonly approval: { readonly id: string };
    };
    await chat.addToolApprovalResponse({ id: approval.id, approved: false, reason: 'Not now.' });
    await client.idle(() => textOf(chat.messages.at(-1)) !== '');
    expect(toolOf(chat.messages.at(-1), 'send_reminder')).to.include({ state: 'output-denied' });
    expect(textOf(chat.messages.at(-1))).to.contain('Not now.');
  });

  it('takes the result of an external tool from the client', async () => {
    const { chat, errors } = chatClient(server, { body: { tools: ['ask_browser'] } });
    await chat.sendMessage({ text: 'Ask the browser the question "where"' });
    const part = toolOf(chat.messages.at(-1), 'ask_browser') as { readonly toolCallId: string };
    expect(part).to.include({ state: 'input-available' });
    await chat.addToolOutput({ tool: 'ask_browser', toolCallId: part.toolCallId, output: { place: 'here' } });
    await chat.sendMessage();
    expect(errors).to.deep.equal([]);
    expect(typesOf(chat.messages.at(-1))).to.deep.equal(['step-start', 'tool-ask_browser', 'step-start', 'text']);
    expect(textOf(chat.messages.at(-1))).to.contain('here');
  });

  it('resumes in another tab from the beginning, and follows to the end', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await server.events.seen('tool:executing');
    const other = chatClient(server, { id: 'c', messages: [...(await storedMessages('c'))] as UIMessage[] });
    const resumed = other.chat.resumeStream();
    server.release();
    await Promise.all([sent, resumed]);
    await other.idle(() => textOf(other.chat.messages.at(-1)) !== '');
    expect(other.errors).to.deep.equal([]);
    expect(plain(other.chat.messages)).to.deep.equal(plain(chat.messages));
  });

  it('continues the run of a client that left', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await server.events.seen('tool:executing');
    await chat.stop();
    await sent;
    server.release();
    await server.events.seen('run:completed');
    expect(textOf((await storedMessages('c')).at(-1))).to.contain('tea is here');
  });

  it('answers HEAD of a stream in progress at once, and leaves the stream as it was', async () => {
    const head = (id: string, token = server.token): Promise<Response> =>
      fetch(`${server.url}/api/chat/${id}/stream`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(60_000),
      });
    const sent = await post('/api/chat', { id: 'c', model: 'openai', messages: [user('Wait for what "tea"')] });
    await server.events.seen('tool:executing');
    const { status, headers } = await head('c');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.contain('text/event-stream');
    expect(headers.get('x-vercel-ai-ui-message-stream')).to.equal('v1');
    expect((await head('unknown')).status).to.equal(204);
    expect((await head('c', 'no-token')).status).to.equal(401);
    const resumed = await get('/api/chat/c/stream');
    server.release();
    for (const stream of [sent, resumed]) expect(await stream.text()).to.contain('"type":"finish"');
  });

  it('gives the rest of an answer that ends between the reading of the messages and the resumption', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await server.events.seen('tool:executing');
    const other = chatClient(server, { id: 'c', messages: [...(await storedMessages('c'))] as UIMessage[] });
    server.release();
    await sent;
    await other.chat.resumeStream();
    expect(other.errors).to.deep.equal([]);
    expect(textOf(other.chat.messages.at(-1))).to.contain('tea is here');
    expect(plain(other.chat.messages)).to.deep.equal(plain(chat.messages));
    // Nor is anything doubled for a page that had it all.
    await other.chat.resumeStream();
    expect(plain(other.chat.messages)).to.deep.equal(plain(chat.messages));
  });

  it('has no stream of an answer that ended long ago', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    await chat.sendMessage({ text: 'Hello' });
    const ended = Date.now();
    const clock = stub(Date, 'now').returns(ended + 4 * 60_000);
    try {
      const recent = await get('/api/chat/c/stream');
      expect(await recent.text()).to.contain('Hello');
      clock.returns(ended + 6 * 60_000);
      expect((await get('/api/chat/c/stream')).status).to.equal(204);
    } finally {
      clock.restore();
    }
  });

  it('cancels the run of a chat that is stopped, and tells its readers', async () => {
    const { chat, errors } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await server.events.seen('tool:executing');
    const stopped = await post('/api/chat/c/stop');
    expect(stopped.status).to.equal(200);
    await sent;
    expect(errors).to.deep.equal([]);
    expect(chat.status).to.equal('ready');
    await server.events.seen('run:cancelled');
    expect((await post('/api/chat/c/stop')).status).to.equal(204);
    expect(await (await get('/api/chat/c/stream')).text()).to.contain('"type":"abort"');
  });

  it('regenerates an answer by a run of its own', async () => {
    const { chat, errors } = chatClient(server);
    await chat.sendMessage({ text: 'Hello' });
    const first = chat.messages.at(-1)?.id;
    await chat.regenerate();
    await chat.regenerate();
    expect(errors).to.deep.equal([]);
    expect(chat.messages).to.have.length(2);
    expect(chat.messages.at(-1)?.id).not.to.equal(first);
    expect(server.events.events.filter(({ type }) => type === 'run:started')).to.have.length(3);
  });

  it('answers an edited message anew', async () => {
    const { chat, errors } = chatClient(server);
    await chat.sendMessage({ text: 'Hello' });
    await chat.sendMessage({ text: 'Goodbye', messageId: chat.messages[0]?.id ?? '' });
    expect(errors).to.deep.equal([]);
    expect(textOf(chat.messages.at(-1))).to.contain('Goodbye');
  });

  it('starts one run for a request that is repeated', async () => {
    const body = { id: 'c', messages: [user('Hello')], trigger: 'submit-message' };
    const [first, second] = await Promise.all(
      [post('/api/chat', body), post('/api/chat', body)].map(async (sent) => (await sent).text()),
    );
    const third = await (await post('/api/chat', body)).text();
    const idIn = (text: string | undefined): string | undefined => /"messageId":"([^"]+)"/.exec(text ?? '')?.[1];
    expect(idIn(third)).to.be.oneOf([idIn(first), idIn(second)]);
    expect(server.events.events.filter(({ type }) => type === 'run:started')).to.have.length(1);
  });

  it('answers a message that is sent while it answers as the next one', async () => {
    const tab = chatClient(server, { id: 'c' });
    const queue = async (): Promise<readonly unknown[]> => {
      const run = server.events.events.find(({ type }) => type === 'run:started')?.executionId ?? '';
      return ((await (await get(`/api/runs/${run}/messages`)).json()) as { readonly messages: readonly unknown[] })
        .messages;
    };
    const first = tab.chat.sendMessage({ text: 'Wait for what "tea"' });
    await server.events.seen('tool:executing');
    const second = tab.chat.sendMessage({ text: 'Another' });
    await until(async () => (await queue()).length === 1);
    server.release();
    await Promise.all([first, second]);
    expect(tab.errors).to.deep.equal([]);
    expect(server.events.events.filter(({ type }) => type === 'run:started')).to.have.length(1);
    const stored = await storedMessages('c');
    expect(stored.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'assistant']);
    expect(textOf(stored.at(-1))).to.contain('Another');
    expect(tab.chat.messages.map(textOf).filter((text) => text.includes('Another'))).to.have.length(2);
  });

  it('answers a message once in a page that was reloaded and resumes the answer before', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    void chat.sendMessage({ text: 'Wait for what "tea"' });
    const { executionId } = await server.events.seen('tool:executing');
    const areQueued = (count: number): Promise<void> =>
      until(async () => (await server.host.module.loop.queuedMessages(executionId)).length === count);
    void chat.sendMessage({ text: 'Another' });
    await areQueued(1);
    const page = chatClient(server, { id: 'c', messages: [...(await storedMessages('c'))] });
    const resumed = page.chat.resumeStream();
    await until(() => page.chat.status === 'streaming');
    const third = page.chat.sendMessage({ text: 'A third' });
    await areQueued(2);
    server.release();
    await Promise.all([resumed, third]);
    expect(page.errors).to.deep.equal([]);
    const answers = page.chat.messages.filter(({ role }) => role === 'assistant').map(textOf);
    for (const text of ['Another', 'A third'])
      expect(answers.join('').split(`You wrote: “${text}”`), text).to.have.length(2);
    expect(answers.at(-1)).to.include('A third');
  });

  it('refuses a message that the run does not take, instead of trying again', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await server.events.seen('tool:executing');
    const refused = stub(server.host.module.loop, 'send').callThrough();
    refused.onFirstCall().rejects(new ConflictError('The run takes no more.'));
    const response = await post('/api/chat', {
      id: 'c',
      messages: [user('Wait for what "tea"'), user('Another', 'm2')],
    });
    expect(response.status).to.equal(409);
    server.release();
    await sent;
  });

  it('answers a message at once for which the answer was stopped', async () => {
    const { chat, errors } = chatClient(server, { id: 'c', experimental_queue: true });
    const isAnswered = (text: string): boolean =>
      chat.messages.some((message) => message.role === 'assistant' && textOf(message).includes(text));
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await until(() => toolOf(chat.messages.at(-1), 'wait_for') !== undefined);
    await chat.sendMessage({ text: 'Another' });
    const answered = chat.experimental_sendQueuedMessageNow(chat.experimental_queuedMessages[0]!.id);
    await until(() => isAnswered('Another'));
    await sent;
    await chat.stop();
    await answered;
    void chat.sendMessage({ text: 'A third' });
    await until(() => isAnswered('A third'));
    server.release();
    await server.events.seen('run:completed');
    expect(errors).to.deep.equal([]);
    expect(server.events.events.filter(({ type }) => type === 'run:started')).to.have.length(1);
    const stored = await storedMessages('c');
    expect(stored.map(({ role }) => role)).to.deep.equal(Array.from({ length: 3 }, () => ['user', 'assistant']).flat());
    expect(toolOf(stored[1], 'wait_for')).to.include({ state: 'output-available', output: 'tea is here' });
    await chat.sendMessage({ text: 'Finally' });
    const last = server.events.events.findLast(({ type }) => type === 'run:started')?.executionId ?? '';
    const { input = [] } = (await server.host.module.runs.load(last))?.run ?? {};
    const results = input.filter((item) => item.type === 'function_call_output');
    expect(results.map(({ output }) => output)).to.deep.equal(['tea is here']);
  });

  it('queues the message of a stopped tab while another one is sent the answer', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    const { executionId } = await server.events.seen('tool:executing');
    const other = await get('/api/chat/c/stream');
    await chat.stop();
    await sent;
    const queued = chat.sendMessage({ text: 'Another' });
    await until(async () => (await (await get(`/api/runs/${executionId}/messages`)).text()).includes('"when":"after"'));
    server.release();
    await queued;
    expect(await other.text())
      .to.contain('wait_for returned')
      .and.not.to.contain('Another');
  });

  it('answers anew what was stopped', async () => {
    const { chat, errors } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    await server.events.seen('tool:executing');
    await chat.stop();
    await sent;
    const again = chat.regenerate();
    await server.events.seen('run:cancelled');
    server.release();
    await again;
    expect(errors).to.deep.equal([]);
    expect(chat.messages).to.have.length(2);
    expect(textOf(chat.messages.at(-1))).to.contain('tea is here');
  });

  it('ends a run that waits for an approval when the user writes instead', async () => {
    const { chat, errors } = chatClient(server);
    await chat.sendMessage({ text: 'Send a reminder with the text "tea"' });
    await chat.sendMessage({ text: 'Never mind' });
    expect(errors).to.deep.equal([]);
    expect(textOf(chat.messages.at(-1))).to.contain('Never mind');
    await server.events.seen('run:cancelled');
  });

  it('never shows the chats and runs of another user', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: 'Wait for what "tea"' });
    const { executionId } = await server.events.seen('tool:executing');
    const bob = await server.tokenOf('bob');
    expect(await storedMessages('c', bob)).to.deep.equal([]);
    expect((await get('/api/chat/c/stream', bob)).status).to.equal(204);
    expect((await post('/api/chat/c/stop', undefined, bob)).status).to.equal(204);
    const assistant = { id: executionId, role: 'assistant', parts: [{ type: 'text', text: 'x' }] };
    const stolen = await post('/api/chat', { id: 'c', messages: [user('Hello'), assistant] }, bob);
    const unknown = await post('/api/chat', { id: 'c', messages: [user('Hello'), { ...assistant, id: 'none' }] }, bob);
    expect([stolen.status, unknown.status]).to.deep.equal([404, 404]);
    expect(await stolen.text()).to.equal(await unknown.text());
    const own = chatClient(server, { id: 'c', token: bob });
    await own.chat.sendMessage({ text: 'Hello from bob' });
    expect(own.errors).to.deep.equal([]);
    server.release();
    await sent;
    expect(textOf(chat.messages.at(-1))).to.contain('tea is here');
  });

  it('needs a token with the scope', async () => {
    expect((await fetch(`${server.url}/api/chat/c`)).status).to.equal(401);
    expect((await post('/api/chat', { id: 'c', messages: [user('Hello')] }, 'wrong')).status).to.equal(401);
  });

  it('names what is wrong with a request, in plain text', async () => {
    const cases: readonly (readonly [unknown, number, string])[] = [
      ['{"id":', 400, 'not valid JSON'],
      [{ id: 'c' }, 400, '"messages"'],
      [{ id: 'c', messages: [] }, 400, '"messages"'],
      [{ messages: [user('x')] }, 400, '"id"'],
      [{ id: 'c', messages: [user('x')], instruction: 'typo' }, 400, '"instruction"'],
      [{ id: 'c', messages: [{ id: 'm', role: 'system', parts: [] }] }, 400, 'messages[0].role'],
      [{ id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'video', url: 'x' }] }] }, 400, '"video"'],
      [{ id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text' }] }] }, 400, 'messages[0].parts[0].text'],
      [{ id: 'c', messages: [user('x')], model: 'no/such' }, 404, 'no/such'],
      [{ id: 'c', messages: [user('x')], tools: ['no_such_tool'] }, 400, 'no_such_tool'],
      [{ id: 'c', messages: [user('x')], trigger: 'resume-stream' }, 400, '"trigger"'],
      [`{"id":"c","messages":[${JSON.stringify(user('x'))}],"__proto__":{"tools":["x"]}}`, 400, '__proto__'],
      [`{"id":"c","messages":${'['.repeat(200)}${']'.repeat(200)}}`, 400, 'nested deeper'],
      ['x'.repeat(33 * 1024 * 1024), 413, 'larger than'],
    ];
    for (const [body, status, text] of cases) {
      const response = await post('/api/chat', body);
      const sent = await response.text();
      expect([response.status, sent], sent).to.deep.equal([status, sent]);
      expect(sent).to.contain(text).and.not.match(/^[{[]/);
    }
    expect(await storedMessages('c')).to.deep.equal([]);
  });

  const withFile = (mediaType: string, url: string): object => ({
    id: 'm1',
    role: 'user',
    parts: [
      { type: 'text', text: 'What is this?' },
      { type: 'file', mediaType, url, filename: 'file' },
    ],
  });
  const dataUrl = (mediaType: string, bytes: number): string =>
    `data:${mediaType};base64,${Buffer.alloc(bytes, 7).toString('base64')}`;

  for (const mediaType of ['image/jpeg', 'application/pdf'])
    (mediaType === 'image/jpeg' ? it : itInSoak)(`takes a large file of the type ${mediaType}`, async () => {
      const url = dataUrl(mediaType, 3_200_000);
      const response = await post('/api/chat', { id: 'c', messages: [withFile(mediaType, url)] });
      const sent = await response.text();
      expect(response.status, sent).to.equal(200);
      expect(sent).to.contain('"finish"').and.not.contain('"error"');
      expect((await storedMessages('c'))[0]?.parts[1]).to.have.property('url', url);
    });

  it('refuses files that no database could store with the run, and states the limit', async () => {
    const url = dataUrl('image/png', 5_500_000);
    const response = await post('/api/chat', { id: 'c', messages: [withFile('image/png', url)] });
    expect(response.status).to.equal(413);
    expect(await response.text()).to.contain('7 MB');
    expect(await storedMessages('c')).to.deep.equal([]);
  });

  it('refuses text of the length of a file', async () => {
    const messages = [user('x'.repeat(3_000_000)), user('y'.repeat(3_000_000), 'm2')];
    const response = await post('/api/chat', { id: 'c', messages });
    expect(response.status).to.equal(400);
    expect(await response.text()).to.contain('4000000 characters');
  });

  it('keeps the messages of a chat whose next message was refused', async () => {
    const { chat } = chatClient(server, { id: 'c' });
    await chat.sendMessage({ text: 'Hello' });
    const before = await storedMessages('c');
    const refused = await post('/api/chat', { id: 'c', messages: [user('Next')], tools: ['no_such_tool'] });
    expect(refused.status).to.equal(400);
    expect(await storedMessages('c')).to.deep.equal(before);
  });

  it('serves the transport of the AI SDK without its hooks', async () => {
    const transport = new DefaultChatTransport({
      api: `${server.url}/api/chat`,
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect(await transport.reconnectToStream({ chatId: 'none' })).to.equal(null);
  });
});
