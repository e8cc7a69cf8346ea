/** Faults, as a client that reads bytes meets them. */
import { IncomingMessage, request, ServerResponse } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { inPieces, planSending, upTo } from '../../../imports/simulator/exchange/faults';
import { transmit } from '../../../imports/simulator/exchange/transmit';
import type { Fault } from '../../../imports/simulator/ScriptedReply';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ADDRESS } from './post';

interface Heard {
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
  let whole: string;

  beforeEach(async () => {
    simulator = await startSimulator();
    simulator.enqueue(SCRIPT);
    whole = stable((await hear(simulator, STREAM)).text);
  });
  afterEach(() => simulator.close());

  const struck = (fault: Fault, body: object = STREAM): Promise<Heard> => {
    simulator.enqueue({ ...SCRIPT, fault });
    return hear(simulator, body);
  };

  it('reset breaks the connection after the headers', async () => {
    expect(await struck({ kind: 'reset' })).to.deep.equal({
      status: 200,
      type: 'text/event-stream; charset=utf-8',
      text: '',
      error: 'ECONNRESET',
    });
  });

  it('reset can strike before anything, and after so many events', async () => {
    expect(await struck({ kind: 'reset', after: 'nothing' })).to.deep.equal({ text: '', error: 'ECONNRESET' });
    const { text, error } = await struck({ kind: 'reset', after: { events: 2 } });
    expect(error).to.equal('ECONNRESET');
    expect(text.split('\n\n').filter((event) => event !== '')).to.have.length(2);
  });

  it('truncate ends cleanly in the middle', async () => {
    const { status, text, error } = await struck({ kind: 'truncate', after: { bytes: 100 } });
    expect([status, text.length, error]).to.deep.equal([200, 100, undefined]);
    const half = await struck({ kind: 'truncate' }, PLAIN);
    expect(half.error).to.equal(undefined);
    expect(() => JSON.parse(half.text) as unknown).to.throw(SyntaxError);
  });

  it('close-without-end-marker leaves out the last event alone', async () => {
    const { text, error } = await struck({ kind: 'close-without-end-marker' });
    expect(error).to.equal(undefined);
    expect(`${stable(text)}data: [DONE]\n\n`).to.equal(whole);
  });

  it('slow sends everything, in small pieces', async () => {
    const { text, error } = await struck({ kind: 'slow', chunkBytes: 64, delayMs: 1 });
    expect([stable(text), error]).to.deep.equal([whole, undefined]);
  });

  it('html answers with a page', async () => {
    expect(await struck({ kind: 'html' })).to.include({ status: 200, type: 'text/html; charset=utf-8' });
    const { status, text } = await struck({ kind: 'html', status: 502 });
    expect([status, text]).to.deep.equal([502, text.startsWith('<!DOCTYPE html>') ? text : 'a page']);
  });

  it('stall keeps silent until the client leaves', async () => {
    simulator.enqueue({ ...SCRIPT, fault: { kind: 'stall', after: { events: 1 } } });
    const { client, response } = await open(simulator, STREAM);
    const [first] = await Promise.all([firstChunk(response)]);
    expect(first).to.match(/^data: /);
    client.destroy();
    expect(await simulator.nextAbort()).to.include({ number: 2 });
  });

  it('comments-only keeps alive and says nothing', async () => {
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

  it('refuse-connection answers nothing, at the door or, for one vendor, after the request', async () => {
    expect((await struck({ kind: 'refuse-connection' })).error).to.equal('ECONNRESET');
    expect(simulator.requests).to.have.length(1);
    simulator.enqueue({ vendor: 'openai', fault: { kind: 'refuse-connection' } });
    expect(await hear(simulator, STREAM)).to.deep.equal({ text: '', error: 'ECONNRESET' });
    expect(simulator.requests).to.have.length(2);
    simulator.assertDone();
  });

  it('strike an answer of the model, an error or raw bytes as well', async () => {
    simulator.enqueue(
      { fault: { kind: 'truncate', after: { bytes: 10 } } },
      { status: 500, body: 'x'.repeat(50), fault: { kind: 'truncate', after: { bytes: 20 } } },
    );
    expect((await hear(simulator, PLAIN)).text).to.have.length(10);
    expect(await hear(simulator, PLAIN)).to.deep.include({ status: 500, text: 'x'.repeat(20) });
    simulator.enqueue({ raw: 'abcdef', fault: { kind: 'close-without-end-marker' } });
    expect((await hear(simulator, PLAIN)).text).to.equal('abcde');
  });
});

describe('the plan of a fault', () => {
  const frames = ['abc', 'de', 'fgh'].map((text) => Buffer.from(text));
  const joined = (parts: readonly Buffer[]): string[] => parts.map(String);

  it('cuts at every byte and at every event', () => {
    for (let bytes = 0; bytes <= 8; bytes += 1)
      expect(joined(upTo(frames, { bytes })).join('')).to.equal('abcdefgh'.slice(0, bytes));
    for (let events = 0; events <= 3; events += 1)
      expect(joined(upTo(frames, { events }))).to.deep.equal(['abc', 'de', 'fgh'].slice(0, events));
  });

  it('cuts into pieces that join to the whole', () => {
    for (let size = 1; size <= 9; size += 1)
      expect(Buffer.concat(inPieces(frames, size)).toString()).to.equal('abcdefgh');
  });

  it('leaves an answer alone without a fault', () => {
    expect(planSending({ status: 200, headers: {}, frames }, undefined)).to.deep.include({
      frames,
      ending: 'end',
      sendsHead: true,
    });
  });
});

describe('sending', () => {
  it('is over at once when the client has left already', async () => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.destroy();
    await transmit(response, planSending({ status: 200, headers: {}, frames: [] }, { kind: 'stall' }));
    expect(response.headersSent).to.equal(false);
  }).timeout(2000);
});

/** What a client of node:http hears until the end or the break. */
async function hear(simulator: Simulator, body: object): Promise<Heard> {
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

/** Ids and times differ from answer to answer. */
function stable(text: string): string {
  return text.replaceAll(/chatcmpl-\w+/g, 'id').replaceAll(/"created":\d+/g, '"created":0');
}
