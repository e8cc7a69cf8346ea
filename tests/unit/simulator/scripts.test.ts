/** Scripted replies: their order, their forms, and the account that the simulator keeps of them. */
import { expect } from 'chai';
import sinon from 'sinon';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { anthropicClient, failureOf, geminiModel, openaiClient } from './clients';
import { ADDRESS, post } from './post';
import { RECORDINGS_ROOT } from '../../support/recordings';

const CHAT = { model: 'gpt-4.1', messages: [{ role: 'user' as const, content: 'Hello.' }] };

describe('scripted replies', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  const chat = async (): Promise<string | null> =>
    (await openaiClient(simulator).chat.completions.create(CHAT)).choices[0]!.message.content;

  it('come in order, before recordings, and recordings before the model', async () => {
    simulator.playRecording('openai-chat-structured-a', { fixturesRoot: RECORDINGS_ROOT });
    simulator.enqueue({ text: 'first' }, { text: 'second' });
    expect(await chat()).to.equal('first');
    expect(await chat()).to.equal('second');
    expect(await chat()).not.to.match(/simulated|first|second/);
    await chat();
    expect(await chat()).to.match(/simulated/);
    expect(simulator.requests.map((request) => request.answeredBy)).to.deep.equal([
      'script',
      'script',
      'recording',
      'recording',
      'model',
    ]);
  });

  it('wait for the vendor that they name', async () => {
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

  it('say the same on every wire', async () => {
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

  it('may be worked out from the request', async () => {
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

  it('carry broken arguments as they are', async () => {
    simulator.enqueue({ calls: [{ name: 'look', arguments: '{"city": ' }] });
    const answer = await openaiClient(simulator).chat.completions.create(CHAT);
    expect(answer.choices[0]?.message.tool_calls?.[0]).to.have.nested.property('function.arguments', '{"city": ');
  });

  it('are not spent on a refused request', async () => {
    simulator.enqueue({ text: 'kept' });
    expect((await post(simulator, ADDRESS.chat_completions, { ...CHAT, frobnicate: 1 })).status).to.equal(400);
    expect(await chat()).to.equal('kept');
    expect(simulator.requests[0]).to.include({
      answeredBy: 'refusal',
      status: 400,
      refusal: 'Unrecognized request argument supplied: frobnicate',
    });
  });

  it('are missed when they are not asked for, and when they run out', async () => {
    simulator.enqueue({ text: 'one' });
    expect(() => simulator.assertDone()).to.throw('1 scripted reply was never asked for: {"text":"one"}');
    await chat();
    simulator.assertDone();
    await chat();
    expect(() => simulator.assertDone()).to.throw(
      'no reply was scripted for: POST /openai/v1/chat/completions (request 2)',
    );
  });

  it('that throw are told as mistakes of the test, not as a vendor’s answer', async () => {
    simulator.enqueue(() => {
      throw new Error('The script is wrong.');
    });
    const aloud = sinon.stub(console, 'error');
    try {
      const answer = await post(simulator, ADDRESS.chat_completions, CHAT);
      expect(answer.status).to.equal(599);
      expect(await answer.text()).to.include('The script is wrong.');
      expect(aloud.callCount).to.equal(1);
    } finally {
      aloud.restore();
    }
  });
});

describe('what the simulator remembers of requests', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  it('is who asked what on which wire, with keys redacted but told apart', async () => {
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

  it('comes to those who wait, each request once and in order', async () => {
    const early = simulator.nextRequest();
    await post(simulator, ADDRESS.chat_completions, CHAT);
    await post(simulator, ADDRESS.responses, { model: 'gpt-5-mini', input: 'x' });
    expect((await early).wire).to.equal('chat_completions');
    expect((await simulator.nextRequest()).wire).to.equal('responses');
    expect((await simulator.nextFinish()).number).to.equal(1);
    expect((await simulator.nextFinish()).number).to.equal(2);
  });

  it('says when a client left before the end', async () => {
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

  it('is bounded: the oldest go first', async () => {
    const forgetful = await startSimulator({ remember: 2 });
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

  it('says when a client left while a script was still thinking', async () => {
    let think: (text: string) => void = () => undefined;
    const thought = new Promise<string>((resolve) => (think = resolve));
    simulator.enqueue(async () => ({ text: await thought }));
    const leaving = new AbortController();
    const answer = failureOf(openaiClient(simulator).chat.completions.create(CHAT, { signal: leaving.signal }));
    await simulator.nextRequest();
    leaving.abort();
    expect(await simulator.nextAbort()).to.include({ number: 1, aborted: true });
    think('too late');
    await answer;
    simulator.enqueue({ text: 'still there' });
    expect((await openaiClient(simulator).chat.completions.create(CHAT)).choices[0]?.message.content).to.equal(
      'still there',
    );
  });

  it('tells those who still wait that it is closed', async () => {
    const waiting = failureOf(simulator.nextAbort());
    await simulator.close();
    expect((await waiting).message).to.equal('The simulator was closed before the next abort.');
    simulator = await startSimulator();
  });
});
