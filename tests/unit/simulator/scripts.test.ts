/** Scripted responses: their order, their forms, and how the simulator accounts for them. */
import { expect } from 'chai';
import sinon from 'sinon';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { anthropicClient, failureOf, geminiModel, openaiClient } from './clients';
import { ADDRESS, post } from './post';
import { RECORDINGS_ROOT } from '../../support/recordings';

const CHAT = { model: 'gpt-4.1', messages: [{ role: 'user' as const, content: 'Hello.' }] };

describe('scripted responses', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  const chat = async (): Promise<string | null> =>
    (await openaiClient(simulator).chat.completions.create(CHAT)).choices[0]!.message.content;

  it('are sent in order, before recordings, which come before the model', async () => {
    simulator.playRecording('openai-chat-structured-a', { fixturesRoot: RECORDINGS_ROOT });
    simulator.enqueue({ text: 'first' }, { text: 'second' });
    expect(await chat()).to.equal('first');
    expect(await chat()).to.equal('second');
    expect(await chat()).not.to.match(/simulated|first|second/);
    await chat();
    expect(await chat()).to.match(/simulated/);
    expect(simulator.requests.map((request) => request.responseSource)).to.deep.equal([
      'script',
      'script',
      'recording',
      'recording',
      'model',
    ]);
  });

  it('wait for a request to the vendor that they name', async () => {
    simulator.enqueue({ text: 'for Claude', vendor: 'anthropic' }, { text: 'for anyone' });
    expect(await chat()).to.equal('for anyone');
    const message = await anthropicClient(simulator).messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 9,
      messages: CHAT.messages,
    });
    expect(message.content[0]).to.include({ text: 'for Claude' });
    simulator.assertDone();
  });

  it('have the same content on every wire', async () => {
    simulator.enqueue({ text: 'same' }, { text: 'same' }, { text: 'same' }, { text: 'same' });
    const response = await openaiClient(simulator).responses.create({ model: 'gpt-5-mini', input: 'x' });
    const message = await anthropicClient(simulator).messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 9,
      messages: CHAT.messages,
    });
    const generated = await geminiModel(simulator, { model: 'gemini-2.5-flash' }).generateContent('x');
    expect([
      await chat(),
      response.output_text,
      (message.content[0] as { text: string }).text,
      generated.response.text(),
    ]).to.deep.equal(['same', 'same', 'same', 'same']);
  });

  it('may be computed from the request', async () => {
    simulator.enqueue(async (request) => ({
      text: `request ${request.number} asked ${(request.body as typeof CHAT).messages[0]?.content ?? ''}`,
    }));
    expect(await chat()).to.equal('request 1 asked Hello.');
  });

  it('may be a status with a body, or raw bytes', async () => {
    simulator.enqueue(
      { status: 429, body: { error: { message: 'Slow down.' } }, headers: { 'retry-after': '7' } },
      { status: 503, body: 'upstream connect error' },
      { raw: 'data: {"odd":1}\n\n', headers: { 'content-type': 'text/event-stream' } },
    );
    const limited = await failureOf(chat());
    expect(limited).to.include({ status: 429 });
    expect(limited.message).to.include('Slow down.');
    const plain = await post(simulator, ADDRESS.chat_completions, CHAT);
    expect([plain.status, plain.headers.get('content-type'), await plain.text()]).to.deep.equal([
      503,
      'text/plain; charset=utf-8',
      'upstream connect error',
    ]);
    const raw = await post(simulator, ADDRESS.chat_completions, CHAT);
    expect([raw.status, raw.headers.get('content-type'), await raw.text()]).to.deep.equal([
      200,
      'text/event-stream',
      'data: {"odd":1}\n\n',
    ]);
  });

  it('carry invalid arguments verbatim', async () => {
    simulator.enqueue({ calls: [{ name: 'search', arguments: '{"city": ' }] });
    const response = await openaiClient(simulator).chat.completions.create(CHAT);
    expect(response.choices[0]?.message.tool_calls?.[0]).to.have.nested.property('function.arguments', '{"city": ');
  });

  it('are not consumed by a rejected request', async () => {
    simulator.enqueue({ text: 'unused' });
    expect((await post(simulator, ADDRESS.chat_completions, { ...CHAT, frobnicate: 1 })).status).to.equal(400);
    expect(await chat()).to.equal('unused');
    expect(simulator.requests[0]).to.include({
      responseSource: 'rejection',
      status: 400,
      rejection: 'Unrecognized request argument supplied: frobnicate',
    });
  });

  it('are reported when they are left over, and when they run out', async () => {
    simulator.enqueue({ text: 'one' });
    expect(() => simulator.assertDone()).to.throw('1 scripted response was never requested: {"text":"one"}');
    await chat();
    simulator.assertDone();
    await chat();
    expect(() => simulator.assertDone()).to.throw(
      'No response was scripted for: POST /openai/v1/chat/completions (request 2)',
    );
  });

  it('that throw are reported as bugs of the test, not as a vendor’s response', async () => {
    simulator.enqueue(() => {
      throw new Error('The script is wrong.');
    });
    const consoleError = sinon.stub(console, 'error');
    try {
      const response = await post(simulator, ADDRESS.chat_completions, CHAT);
      expect(response.status).to.equal(599);
      expect(await response.text()).to.include('The script is wrong.');
      expect(consoleError.callCount).to.equal(1);
    } finally {
      consoleError.restore();
    }
  });
});

describe('the journal of requests', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  it('records vendor, wire and body, with redacted but distinguishable keys', async () => {
    await openaiClient(simulator, 'openai', 'key one').chat.completions.create(CHAT);
    await openaiClient(simulator, 'openai', 'key two').chat.completions.create(CHAT);
    const [first, second] = simulator.requests;
    expect(first).to.include({
      number: 1,
      vendor: 'openai',
      wire: 'chat_completions',
      method: 'POST',
      path: '/openai/v1/chat/completions',
      finished: true,
      aborted: false,
    });
    expect(first?.body).to.deep.equal(CHAT);
    expect(first?.headers.authorization).to.equal('[redacted]');
    expect(JSON.stringify(simulator.requests)).not.to.match(/key (one|two)/);
    expect(first?.keyHash).to.be.a('string').and.not.equal(second?.keyHash);
  });

  it('hands each request to the waiting tests once, in order', async () => {
    const early = simulator.nextRequest();
    await post(simulator, ADDRESS.chat_completions, CHAT);
    await post(simulator, ADDRESS.responses, { model: 'gpt-5-mini', input: 'x' });
    expect((await early).wire).to.equal('chat_completions');
    expect((await simulator.nextRequest()).wire).to.equal('responses');
    expect((await simulator.nextFinish()).number).to.equal(1);
    expect((await simulator.nextFinish()).number).to.equal(2);
  });

  it('reports a client that left before the end', async () => {
    simulator.enqueue({ text: 'Never heard.', fault: { kind: 'stall', after: { events: 2 } } });
    const leaving = new AbortController();
    const stream = await openaiClient(simulator).chat.completions.create(
      { ...CHAT, stream: true },
      { signal: leaving.signal },
    );
    leaving.abort();
    const left = await simulator.nextAbort();
    expect(left).to.include({ number: 1, aborted: true, finished: false });
    expect(stream.controller.signal.aborted).to.equal(true);
  });

  it('is bounded, and drops the oldest requests first', async () => {
    const forgetful = await startSimulator({ historyLimit: 2 });
    try {
      const ids = [];
      for (let count = 0; count < 3; count += 1)
        ids.push((await openaiClient(forgetful).responses.create({ model: 'gpt-5-mini', input: 'x' })).id);
      expect(forgetful.requests.map((request) => request.number)).to.deep.equal([2, 3]);
      expect((await forgetful.nextRequest()).number).to.equal(2);
      expect(await failureOf(openaiClient(forgetful).responses.retrieve(ids[0]!))).to.include({ status: 404 });
      expect((await openaiClient(forgetful).responses.retrieve(ids[2]!)).id).to.equal(ids[2]);
    } finally {
      await forgetful.close();
    }
  });

  it('reports a client that left while a scripted function was running', async () => {
    let think: (text: string) => void = () => undefined;
    const thought = new Promise<string>((resolve) => (think = resolve));
    simulator.enqueue(async () => ({ text: await thought }));
    const leaving = new AbortController();
    const response = failureOf(openaiClient(simulator).chat.completions.create(CHAT, { signal: leaving.signal }));
    await simulator.nextRequest();
    leaving.abort();
    expect(await simulator.nextAbort()).to.include({ number: 1, aborted: true });
    think('too late');
    await response;
    simulator.enqueue({ text: 'still there' });
    expect((await openaiClient(simulator).chat.completions.create(CHAT)).choices[0]?.message.content).to.equal(
      'still there',
    );
  });

  it('rejects everyone who still waits when it is closed', async () => {
    const waiting = failureOf(simulator.nextAbort());
    await simulator.close();
    expect((await waiting).message).to.equal('The simulator was closed before the next abort.');
    simulator = await startSimulator();
  });
});
