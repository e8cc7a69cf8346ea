/** Faults as seen by a client that reads raw bytes. */
import { IncomingMessage, request, ServerResponse } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { splitFrames, planTransmission, takeUntil } from '../../../imports/simulator/exchange/planTransmission';
import { transmit } from '../../../imports/simulator/exchange/transmit';
import type { Fault } from '../../../imports/simulator/Fault';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { deferred } from '../../support/deferred';
import { until } from '../../support/until';
import { ADDRESS } from './post';

interface ReceivedResponse {
  readonly status?: number;
  readonly type?: string;
  readonly text: string;
  readonly error?: string;
}

const STREAM = { model: 'gpt-4.1', stream: true, messages: [{ role: 'user', content: 'x' }] };
const PLAIN = { ...STREAM, stream: false };
const SCRIPT = { text: 'One two three.' };

describe('faults', () => {
  let simulator: Simulator;
  let complete: string;

  beforeEach(async () => {
    simulator = await startSimulator();
    simulator.enqueue(SCRIPT);
    complete = stable((await receive(simulator, STREAM)).text);
  });
  afterEach(() => simulator.close());

  const receiveWithFault = (fault: Fault, body: object = STREAM): Promise<ReceivedResponse> => {
    simulator.enqueue({ ...SCRIPT, fault });
    return receive(simulator, body);
  };

  it('reset breaks the connection after the headers', async () => {
    expect(await receiveWithFault({ kind: 'reset' })).to.deep.equal({
      status: 200,
      type: 'text/event-stream; charset=utf-8',
      text: '',
      error: 'ECONNRESET',
    });
  });

  it('reset can strike before the headers, and after a number of events', async () => {
    expect(await receiveWithFault({ kind: 'reset', after: 'nothing' })).to.deep.equal({
      text: '',
      error: 'ECONNRESET',
    });
    const { text, error } = await receiveWithFault({ kind: 'reset', after: { events: 2 } });
    expect(error).to.equal('ECONNRESET');
    expect(text.split('\n\n').filter((event) => event !== '')).to.have.length(2);
  });

  it('truncate ends cleanly in the middle', async () => {
    const { status, text, error } = await receiveWithFault({ kind: 'truncate', after: { bytes: 100 } });
    expect([status, text.length, error]).to.deep.equal([200, 100, undefined]);
    const half = await receiveWithFault({ kind: 'truncate' }, PLAIN);
    expect(half.error).to.equal(undefined);
    expect(() => JSON.parse(half.text) as unknown).to.throw(SyntaxError);
  });

  it('close-without-end-marker omits only the last event', async () => {
    const { text, error } = await receiveWithFault({ kind: 'close-without-end-marker' });
    expect(error).to.equal(undefined);
    expect(`${stable(text)}data: [DONE]\n\n`).to.equal(complete);
  });

  for (const delayMs of [0, 1])
    it(`slow sends everything in small chunks, with a delay of ${delayMs}`, async () => {
      const { text, error } = await receiveWithFault({ kind: 'slow', chunkBytes: 64, delayMs });
      expect([stable(text), error]).to.deep.equal([complete, undefined]);
    });

  it('html responds with a page', async () => {
    expect(await receiveWithFault({ kind: 'html' })).to.include({ status: 200, type: 'text/html; charset=utf-8' });
    const { status, text } = await receiveWithFault({ kind: 'html', status: 502 });
    expect([status, text]).to.deep.equal([502, text.startsWith('<!DOCTYPE html>') ? text : 'a page']);
  });

  it('stall sends nothing more until the client leaves', async () => {
    simulator.enqueue({ ...SCRIPT, fault: { kind: 'stall', after: { events: 1 } } });
    const { client, response } = await open(simulator, STREAM);
    const [first] = await Promise.all([firstChunk(response)]);
    expect(first).to.match(/^data: /);
    client.destroy();
    expect(await simulator.nextAbort()).to.include({ number: 2 });
  });

  for (const after of ['nothing', { events: 1 }, { bytes: 7 }] as const)
    it(`stall sends the rest when the test says so, after ${JSON.stringify(after)}`, async () => {
      const held = deferred();
      simulator.enqueue({ ...SCRIPT, fault: { kind: 'stall', after, until: held.promise } });
      let hasEnded = false;
      const received = receive(simulator, STREAM).finally(() => (hasEnded = true));
      await until(() => simulator.requests.length === 2);
      expect(hasEnded).to.equal(false);
      held.resolve();
      expect(stable((await received).text)).to.equal(complete);
    });

  it('comments-only sends nothing but comments', async () => {
    simulator.enqueue({ ...SCRIPT, fault: { kind: 'comments-only', everyMs: 1 } });
    const { client, response } = await open(simulator, STREAM);
    let text = '';
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > 60) break;
    }
    client.destroy();
    expect(text.replaceAll(': keep-alive\n\n', '')).to.equal('');
    expect(await simulator.nextAbort()).to.include({ number: 2 });
  });

  it('refuse-connection resets at accept or, for one vendor, after the request', async () => {
    expect((await receiveWithFault({ kind: 'refuse-connection' })).error).to.equal('ECONNRESET');
    expect(simulator.requests).to.have.length(1);
    simulator.enqueue({ vendor: 'openai', fault: { kind: 'refuse-connection' } });
    expect(await receive(simulator, STREAM)).to.deep.equal({ text: '', error: 'ECONNRESET' });
    expect(simulator.requests).to.have.length(2);
    simulator.assertDone();
  });

  it('apply to the model’s response, an error or raw bytes as well', async () => {
    simulator.enqueue(
      { fault: { kind: 'truncate', after: { bytes: 10 } } },
      { status: 500, body: 'x'.repeat(50), fault: { kind: 'truncate', after: { bytes: 20 } } },
    );
    expect((await receive(simulator, PLAIN)).text).to.have.length(10);
    expect(await receive(simulator, PLAIN)).to.deep.include({ status: 500, text: 'x'.repeat(20) });
    simulator.enqueue({ raw: 'abcdef', fault: { kind: 'close-without-end-marker' } });
    expect((await receive(simulator, PLAIN)).text).to.equal('abcde');
  });
});

describe('planTransmission', () => {
  const frames = ['abc', 'de', 'fgh'].map((text) => Buffer.from(text));
  const joined = (parts: readonly Buffer[]): string[] => parts.map(String);

  it('truncates at every byte and at every event', () => {
    for (let bytes = 0; bytes <= 8; bytes += 1)
      expect(joined(takeUntil(frames, { bytes })).join('')).to.equal('abcdefgh'.slice(0, bytes));
    for (let events = 0; events <= 3; events += 1)
      expect(joined(takeUntil(frames, { events }))).to.deep.equal(['abc', 'de', 'fgh'].slice(0, events));
  });

  it('splits frames into chunks that join to the original', () => {
    for (let size = 1; size <= 9; size += 1)
      expect(Buffer.concat(splitFrames(frames, size)).toString()).to.equal('abcdefgh');
  });

  it('leaves a response unchanged without a fault', () => {
    expect(planTransmission({ status: 200, headers: {}, frames }, undefined)).to.deep.include({
      frames,
      ending: 'end',
      sendsHeaders: true,
    });
  });
});

describe('transmit', () => {
  it('resolves immediately when the client has already left', async () => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.destroy();
    await transmit(response, planTransmission({ status: 200, headers: {}, frames: [] }, { kind: 'stall' }));
    expect(response.headersSent).to.equal(false);
  });
});

/** What a client of node:http receives until the response ends or the connection breaks. */
async function receive(simulator: Simulator, body: object): Promise<ReceivedResponse> {
  let text = '';
  let head: { status?: number; type?: string } = {};
  try {
    const { response } = await open(simulator, body);
    head = { status: response.statusCode!, type: response.headers['content-type']! };
    for await (const chunk of response) text += String(chunk);
    return { ...head, text };
  } catch (error) {
    return { ...head, text, error: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}

function open(simulator: Simulator, body: object): Promise<{ client: ClientRequest; response: IncomingMessage }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer k', 'content-type': 'application/json' };
    const client = request(
      simulator.url + ADDRESS.chat_completions,
      { method: 'POST', headers, agent: false },
      (response) => resolve({ client, response }),
    );
    client.on('error', reject);
    client.end(JSON.stringify(body));
  });
}

async function firstChunk(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => response.once('data', (chunk: Buffer) => resolve(chunk.toString())));
}

/** Ids and times differ between responses. */
function stable(text: string): string {
  return text.replaceAll(/chatcmpl-\w+/g, 'id').replaceAll(/"created":\d+/g, '"created":0');
}
