/** Chat over HTTP: what a browser or a script receives from `POST /api/input` and `GET /api/output/stream`. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import express from 'express';
import { createHttpApi } from '../../imports/api/createHttpApi';
import type { HttpApi } from '../../imports/api/createHttpApi';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { deferred } from '../support/deferred';
import { startGateway, TOKENS } from '../support/gateway';
import { RecordingLogger } from '../support/RecordingLogger';
import type { StaticResponse } from '../../imports/simulator/ScriptedResponse';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { itInSoak } from '../support/soak';

const KEY = 'sk-canary0123456789abcdef';

/** One connection to the stream; events are awaited, never polled. */
class Listener {
  readonly events: EventSourceMessage[] = [];
  readonly comments: string[] = [];
  raw = '';
  /** The last id as EventSource tracks it: events without data update it, too. */
  lastId = '';
  private readonly controller = new AbortController();
  private wake: () => void = () => undefined;
  private ended = false;
  /** The server has ended the stream, or the listener has disconnected. */
  end: Promise<void> = Promise.resolve();

  static async open(url: string, token: string, headers: Readonly<Record<string, string>> = {}): Promise<Listener> {
    const listener = new Listener();
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}`, ...headers },
      signal: listener.controller.signal,
    });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).to.equal('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).to.equal('no');
    listener.end = listener.read(response);
    return listener;
  }

  async until(reached: (listener: this) => boolean): Promise<this> {
    while (!reached(this)) {
      if (this.ended) throw new Error(`the stream ended after ${JSON.stringify(this.raw)}`);
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    return this;
  }

  ends(count: number): Promise<this> {
    return this.until(({ events }) => events.filter(({ data }) => data === '[DONE]').length >= count);
  }

  get text(): string {
    return this.events.map(({ data }) => data).join('|');
  }

  leave(): void {
    this.controller.abort();
  }

  private async read(response: Response): Promise<void> {
    const parser = createParser({
      onEvent: (event) => this.events.push(event),
      onComment: (comment) => this.comments.push(comment),
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        const text = decoder.decode(chunk, { stream: true });
        this.raw += text;
        parser.feed(text);
        this.lastId = [...this.raw.slice(-text.length - 100).matchAll(/^id: (.*)\n/gm)].at(-1)?.[1] ?? this.lastId;
        this.wake();
      }
    } catch (error) {
      if (!this.controller.signal.aborted) throw error;
    }
    this.ended = true;
    this.wake();
  }
}

describe('chat over HTTP', () => {
  let simulator: Simulator;
  let module: AIModule;
  let api: HttpApi;
  let server: Server;
  let url: string;
  const logger = new RecordingLogger();
  const open: Listener[] = [];

  before(async () => {
    simulator = await startSimulator();
    const tools = new ToolRegistry()
      .register({ name: 'clock', execute: () => 'noon' })
      .register({ name: 'guarded', needsApproval: true, execute: () => 'no' })
      .register({ name: 'outside', kind: 'external' });
    module = createAIModule(
      {
        providers: [
          {
            id: 'openai',
            vendor: 'openai',
            apiKey: KEY,
            baseURL: simulator.baseURL('openai'),
            allowPrivateHosts: true,
          },
        ],
        systemPrompt: 'Be kind.',
      },
      { tools, logger },
    );
    api = createHttpApi(module, {
      authenticate: ({ headers }) => {
        const userId = /^Bearer (ann|bob|guest)$/.exec(headers.authorization ?? '')?.[1];
        return userId === undefined ? undefined : { userId };
      },
      access: {
        decide: async ({ userId }) =>
          userId === 'guest' ? { allowed: false, reason: 'You are a guest.' } : { allowed: true },
      },
      limits: { keepAliveAfter: 5 },
    });
    server = createServer(express().use(api.router));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await simulator.close();
  });
  afterEach(() => {
    for (const listener of open.splice(0)) listener.leave();
    simulator.assertDone();
  });

  const listen = async (conversation: string, { token = 'ann', lastEventId = '' } = {}): Promise<Listener> => {
    const listener = await Listener.open(
      `${url}/api/output/stream?conversation=${encodeURIComponent(conversation)}`,
      token,
      lastEventId === '' ? {} : { 'last-event-id': lastEventId },
    );
    open.push(listener);
    return listener;
  };
  const post = (body: unknown, token = 'ann'): Promise<Response> =>
    fetch(`${url}/api/input`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('accepts a message with 202 at once, and streams the response to its end', async () => {
    const reply = deferred<StaticResponse>();
    simulator.enqueue(() => reply.promise);
    const listener = await listen('first');
    const accepted = await post({ conversation: 'first', message: 'Hello?' });
    expect(accepted.status).to.equal(202);
    const { executionId, ...facts } = (await accepted.json()) as Record<string, unknown>;
    expect(executionId).to.match(/^[0-9a-f-]{36}$/);
    expect(facts).to.deep.equal({
      conversation: 'first',
      accepted: true,
      status: 'processing',
      stream: '/api/output/stream?conversation=first',
    });
    reply.resolve({ text: 'Hello, Ann.' });
    await listener.ends(1);
    expect(listener.events.map(({ data }) => data).join('')).to.equal('Hello, Ann.[DONE]');
    expect(listener.raw).to.match(/\n\nid: \S+\ndata: \[DONE\]\n\n/);
    const sent = JSON.stringify(simulator.requests.at(-1)?.body);
    expect(sent)
      .to.contain('Be kind.')
      .and.to.contain('"stream":true')
      .and.to.contain('clock')
      .and.not.to.contain('guarded')
      .and.not.to.contain('outside');
  });

  it('sends a text with several lines as several data lines of one event', async () => {
    simulator.enqueue({ text: 'One.\n\nTwo:\r\n- three\n' });
    const listener = await listen('lines');
    await post({ conversation: 'lines', message: 'List.' });
    await listener.ends(1);
    expect(
      listener.events
        .slice(0, -1)
        .map(({ data }) => data)
        .join(''),
    ).to.equal('One.\n\nTwo:\n- three\n');
    for (const line of listener.raw.split('\n')) expect(line).to.match(/^(id: \S+|data: .*|: .*|)$/);
  });

  it('preserves the order of concurrent messages', async () => {
    for (const n of [1, 2, 3, 4, 5]) simulator.enqueue({ text: `Answer${n}` });
    const listener = await listen('order');
    for (const n of [1, 2, 3, 4, 5]) await post({ conversation: 'order', message: `Question ${n}` });
    await listener.ends(5);
    expect(listener.text).to.equal([1, 2, 3, 4, 5].map((n) => `Answer${n}|[DONE]`).join('|'));
    const last = JSON.stringify(simulator.requests.at(-1)?.body);
    for (const n of [1, 2, 3, 4]) expect(last.indexOf(`Question ${n}`)).to.be.lessThan(last.indexOf(`Answer${n}`));
  });

  it('sends the complete response to a subscriber that connects later', async () => {
    simulator.enqueue({ text: 'Long ago.' });
    const first = await listen('late');
    await post({ conversation: 'late', message: 'When?' });
    await first.ends(1);
    expect((await (await listen('late')).ends(1)).text).to.equal(first.text);
  });

  it('resumes after Last-Event-ID without losing events', async () => {
    const uninterrupted = await listen('cut');
    const cut = await listen('cut');
    const texts = ['one two three', 'four five six', 'seven eight nine'];
    let received: string[] = [];
    let listener = cut;
    for (const text of texts) {
      simulator.enqueue({ text });
      await post({ conversation: 'cut', message: text });
      // Disconnects in the middle of the response to this text, after the rest of the previous one.
      await listener.until(({ events }) => events.some(({ data }) => text.startsWith(data)));
      listener.leave();
      received = [...received, ...listener.events.map(({ data }) => data)];
      await uninterrupted.ends(texts.indexOf(text) + 1);
      listener = await listen('cut', { lastEventId: listener.lastId });
    }
    await listener.until(({ events }) => received.length + events.length >= uninterrupted.events.length);
    expect([...received, ...listener.events.map(({ data }) => data)]).to.deep.equal(
      uninterrupted.events.map(({ data }) => data),
    );
  });

  it('lets a client resume that was disconnected before its first event', async () => {
    const early = await listen('early');
    await early.until(({ lastId }) => lastId !== '');
    early.leave();
    const other = await listen('early');
    simulator.enqueue({ text: 'Meanwhile.' });
    await post({ conversation: 'early', message: 'Now?' });
    await other.ends(1);
    expect((await (await listen('early', { lastEventId: early.lastId })).ends(1)).text).to.equal(other.text);
  });

  it('separates conversations of the same name by user', async () => {
    simulator.enqueue({ text: 'For Ann.' }, { text: 'For Bob.' });
    const [ann, bob] = [await listen('shared'), await listen('shared', { token: 'bob' })];
    await post({ conversation: 'shared', message: 'I am Ann.' });
    await ann.ends(1);
    await post({ conversation: 'shared', message: 'I am Bob.' }, 'bob');
    await bob.ends(1);
    expect(ann.events.map(({ data }) => data).join('')).to.equal('For Ann.[DONE]');
    expect(bob.events.map(({ data }) => data).join('')).to.equal('For Bob.[DONE]');
    expect(JSON.stringify(simulator.requests.at(-1)?.body)).not.to.contain('I am Ann.');
  });

  it('ends the stream with a visible error if the key is rejected, without showing the key', async () => {
    simulator.enqueue({
      status: 401,
      body: {
        error: {
          message: `Incorrect API key provided: ${KEY}.`,
          type: 'invalid_request_error',
          code: 'invalid_api_key',
          param: null,
        },
      },
    });
    const listener = await listen('key');
    await post({ conversation: 'key', message: 'Hi' });
    await listener.ends(1);
    expect(listener.text).to.equal('ERROR: Unauthorized LLM API key|[DONE]');
    expect(listener.raw).not.to.contain('canary');
    expect(logger.errors).to.have.length(1);
  });

  it('ends the stream with a visible error if the vendor’s stream breaks', async () => {
    simulator.enqueue({ text: 'one two three four', fault: { kind: 'close-without-end-marker' } });
    const listener = await listen('broken');
    await post({ conversation: 'broken', message: 'Hi' });
    await listener.ends(1);
    expect(listener.events.at(-2)?.data).to.match(/^ERROR: /);
    expect(listener.events.at(-1)?.data).to.equal('[DONE]');
  });

  it('sends heartbeat comments on an idle stream', async () => {
    const listener = await listen('silent');
    await listener.until(({ comments }) => comments.length >= 2);
    expect(listener.events).to.deep.equal([]);
  });

  for (const [title, body, path] of [
    ['an invalid conversation name', { conversation: 'a\nb', message: 'Hi' }, 'conversation'],
    ['a conversation name that is too long', { conversation: 'a'.repeat(257), message: 'Hi' }, 'conversation'],
    ['no message', { conversation: 'c' }, 'message'],
    ['a blank message', { conversation: 'c', message: ' ' }, 'message'],
    ['a message that is not a string', { conversation: 'c', message: { text: 'Hi' } }, 'message'],
    ['a message that is too long', { conversation: 'c', message: 'a'.repeat(1_000_001) }, 'message'],
    ['a list', [], null],
  ] as const) {
    it(`rejects ${title} with the field’s path`, async () => {
      const response = await post(body);
      expect(response.status).to.equal(400);
      expect(await response.json()).to.have.nested.property('error.param', path);
    });
  }

  it('uses the model that a message names, if its user may use the provider', async () => {
    simulator.enqueue({ text: 'Four.' });
    const listener = await listen('model');
    await post({ conversationId: 'model', input: 'Two and two?', model: 'openai/gpt-4.1-mini' });
    await listener.ends(1);
    expect(simulator.requests.at(-1)?.body).to.have.property('model', 'gpt-4.1-mini');
    const requestsBefore = simulator.requests.length;
    for (const model of ['nobody/nothing', undefined])
      expect((await post({ conversation: 'model', message: 'Hi', model }, 'guest')).status).to.equal(404);
    expect((await post({ conversation: 'model', message: 'Hi', model: 7 })).status).to.equal(400);
    expect(simulator.requests).to.have.length(requestsBefore);
  });

  it('rejects unauthenticated requests', async () => {
    expect((await post({ conversation: 'c', message: 'Hi' }, 'eve')).status).to.equal(401);
    expect((await fetch(`${url}/api/output/stream?conversation=c`)).status).to.equal(401);
    expect((await fetch(`${url}/api/output/stream`)).status).to.equal(401);
  });

  itInSoak('disconnects a subscriber that does not read, without losing events for others', async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write(`GET /api/output/stream?conversation=slow HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ann\r\n\r\n`);
    const channel = module.conversations.channels.of('ann', 'slow');
    const started = deferred();
    const listen_ = channel.subscribe.bind(channel);
    channel.subscribe = (listener, id) => {
      const stop = listen_(listener, id);
      started.resolve();
      return stop;
    };
    await started.promise;
    const other = await listen('slow');
    await other.until(({ lastId }) => lastId !== '');
    const answer = channel.begin();
    for (let n = 0; n < 20; n += 1) {
      answer.send('x'.repeat(1_000_000));
      await other.until(({ events }) => events.length > n);
    }
    answer.done();
    await other.ends(1);
    const closed = once(socket, 'close');
    socket.on('error', () => undefined);
    socket.resume();
    await closed;
    expect(socket.bytesRead).to.be.lessThan(20_000_000);
    expect(other.events).to.have.length(21);
  });
});

describe('chat over HTTP during a shutdown', () => {
  it('completes the current response, then ends the streams', async () => {
    const gateway = await startGateway({ api: { limits: { shutdownGrace: 600_000 } } });
    const hear = (conversation: string): Promise<Listener> =>
      Listener.open(`${gateway.url}/api/output/stream?conversation=${conversation}`, TOKENS.ann);
    const reply = deferred<StaticResponse>();
    gateway.simulator.enqueue(() => reply.promise);
    const [idle, busy] = [await hear('idle'), await hear('busy')];
    await (await gateway.request('/api/input', { conversation: 'busy', message: 'Hello?' })).json();
    await gateway.simulator.nextRequest();
    const closed = gateway.api.close();
    await idle.end;
    reply.resolve({ text: 'Hello, Ann.' });
    await busy.end;
    expect(busy.events.map(({ data }) => data).join('')).to.equal('Hello, Ann.[DONE]');
    await closed;
    await gateway.close();
  });
});
