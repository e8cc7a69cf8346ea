import { expect } from 'chai';
import sinon from 'sinon';
import { LLMError, LLMStreamError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../../../../imports/business/ai/domain/types/StreamEvents';
import { decodeStream } from '../../../../../imports/business/ai/infrastructure/streaming/decodeStream';
import type { DecodeOptions } from '../../../../../imports/business/ai/infrastructure/streaming/decodeStream';
import type { RelayTarget } from '../../../../../imports/business/ai/domain/types/RelayTarget';
import { deferred } from '../../../../support/deferred';
import { until } from '../../../../support/until';
import { responseContext, WIRES } from '../../../../support/wireContexts';

const TEXT = 'Grüße, 世界! 👋🏽';
const chunk = (delta: object, finish: string | null = null): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const payloads = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: TEXT }),
  chunk({ content: ' Ende' }),
  chunk({}, 'stop'),
  '[DONE]',
];
const sse = (newline = '\n'): Buffer =>
  Buffer.from(payloads.map((payload) => `data: ${payload}${newline}${newline}`).join(''));

async function* bytes(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function chunksOf(body: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_piece, index) =>
    body.subarray(index * size, (index + 1) * size),
  );
}

async function read(
  body: AsyncIterable<Uint8Array>,
  options: Partial<DecodeOptions> = {},
): Promise<ResponseStreamEvent[]> {
  const decoder = WIRES.chat_completions.createDecoder(responseContext('openai', 'gpt-4.1'));
  const events: ResponseStreamEvent[] = [];
  for await (const event of decodeStream(body, decoder, {
    streamIdleTimeout: 60_000,
    maxEventBytes: 1024 * 1024,
    abort: () => undefined,
    ...options,
  }))
    events.push(event);
  return events;
}

function textOf(events: readonly ResponseStreamEvent[]): string {
  return events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
}

describe('decodeStream', () => {
  for (const size of [1, 2, 3, 7, 10_000]) {
    for (const [name, newline] of [
      ['LF', '\n'],
      ['CRLF', '\r\n'],
      ['CR', '\r'],
    ] as const) {
      it(`decodes every character of a stream split into chunks of ${size} bytes with ${name}`, async () => {
        expect(textOf(await read(bytes(chunksOf(sse(newline), size))))).to.equal(`${TEXT} Ende`);
      });
    }
  }

  it('ignores a byte order mark, comments, retry hints and unknown fields', async () => {
    const noisy = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from(': ping\nretry: 100\nid: 7\nodd: field\n\n'),
      sse(),
    ]);
    expect(textOf(await read(bytes(chunksOf(noisy, 5))))).to.equal(`${TEXT} Ende`);
  });

  it('joins the data lines of a multi-line event', async () => {
    const [first = '', ...rest] = payloads;
    const split = first.replace(',"object"', ',\n"object"').split('\n');
    const body = Buffer.from(
      [split.map((line) => `data: ${line}\n`).join(''), ...rest.map((payload) => `data: ${payload}\n`)].join('\n') +
        '\n',
    );
    expect(textOf(await read(bytes([body])))).to.equal(`${TEXT} Ende`);
  });

  it('reads a last event that lacks only its blank line, as trimmed streams end', async () => {
    const trimmed = sse().toString().trimEnd();
    for (const end of ['', '\n', '\r'])
      expect(textOf(await read(bytes([Buffer.from(trimmed + end)])))).to.equal(`${TEXT} Ende`);
    const cut = await read(bytes([Buffer.from(trimmed.slice(0, -1))])).catch((error: unknown) => error);
    expect(cut)
      .to.be.instanceOf(LLMStreamError)
      .and.to.have.property('message')
      .that.matches(/without the end marker/);
  });

  it('yields the events before a failure, and then throws', async () => {
    const events: ResponseStreamEvent[] = [];
    const decoder = WIRES.chat_completions.createDecoder(responseContext('openai', 'gpt-4.1'));
    const cut = sse().subarray(0, sse().indexOf(' Ende'));
    const reading = (async () => {
      for await (const event of decodeStream(bytes([cut]), decoder, {
        streamIdleTimeout: 60_000,
        maxEventBytes: 1024,
        abort: () => undefined,
      }))
        events.push(event);
    })();
    expect(await reading.catch((error: unknown) => error)).to.be.instanceOf(LLMStreamError);
    expect(textOf(events)).to.equal(TEXT);
  });

  it('yields the events that arrive in the same chunk as a failure, and then throws', async () => {
    const events: ResponseStreamEvent[] = [];
    const decoder = WIRES.chat_completions.createDecoder(responseContext('openai', 'gpt-4.1'));
    const body = Buffer.concat([sse().subarray(0, sse().indexOf('data: [DONE]')), Buffer.from('data: {"half\n\n')]);
    const reading = (async () => {
      for await (const event of decodeStream(bytes([body]), decoder, {
        streamIdleTimeout: 60_000,
        maxEventBytes: 1024,
        abort: () => undefined,
      }))
        events.push(event);
    })();
    expect(await reading.catch((error: unknown) => error)).to.be.instanceOf(LLMStreamError);
    expect(textOf(events)).to.equal(`${TEXT} Ende`);
  });

  it('reads no more of a relayed stream until its reader has taken what was written', async () => {
    const parts = [...payloads.slice(0, 2), ...Array.from({ length: 8 }, () => chunk({ content: 'more' }))];
    let given = 0;
    const body = (async function* () {
      for (const part of parts) {
        given += 1;
        yield Buffer.from(`data: ${part}\n\n`);
      }
    })();
    let drained = deferred();
    let written = 0;
    const relayTo: RelayTarget = {
      isOpen: true,
      characters: 0,
      write: ({ count }) => {
        written += count;
        return drained.promise;
      },
    };
    const reading = read(body, { relay: 'chat_completions', relayTo }).catch((error: unknown) => error);
    await until(() => written === 1);
    const before = given;
    await new Promise(setImmediate);
    expect([written, given]).to.deep.equal([1, before]);
    const first = drained;
    drained = deferred();
    first.resolve();
    await until(() => written === 2);
    drained.resolve();
    await reading;
    expect(given).to.equal(parts.length);
  });

  it('rejects an endless line without reading all of it', async () => {
    let given = 0;
    const endless = (async function* () {
      for (;;) {
        given += 1;
        yield Buffer.alloc(64 * 1024, 'x');
      }
    })();
    const error = await read(endless, { maxEventBytes: 512 * 1024 }).catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(LLMStreamError)
      .and.to.have.property('message')
      .that.matches(/larger than 524288 bytes/);
    expect(given).to.be.below(20);
  });

  /** A stream whose chunks are sent by hand, read with an idle timeout of 100 ms. */
  function fedByHand(): {
    readonly reading: Promise<unknown>;
    readonly reasons: readonly unknown[];
    readonly send: (text: string) => void;
  } {
    const gone = deferred<never>();
    const reasons: unknown[] = [];
    let turn = deferred<Buffer>();
    const body = (async function* () {
      for (;;) {
        const next = await Promise.race([turn.promise, gone.promise]);
        turn = deferred<Buffer>();
        yield next;
      }
    })();
    const abort = (reason: unknown): void => {
      reasons.push(reason);
      gone.reject(reason);
    };
    return {
      reading: read(body, { streamIdleTimeout: 100, abort }).catch((error: unknown) => error),
      reasons,
      send: (text) => turn.resolve(Buffer.from(text)),
    };
  }

  it('counts comments as idle time, and resets the timeout on data', async () => {
    const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { reading, reasons, send } = fedByHand();
      send(`data: ${payloads[0]}\n\n`);
      await clock.tickAsync(90);
      send(`data: ${payloads[1]}\n\n`);
      await clock.tickAsync(90);
      expect(reasons).to.deep.equal([]);
      send(': ping\n\n');
      await clock.tickAsync(20);
      expect(await reading)
        .to.be.instanceOf(LLMError)
        .and.to.have.property('code', 'timeout');
      expect(reasons).to.have.length(1);
      expect(clock.countTimers()).to.equal(0);
    } finally {
      clock.restore();
    }
  });

  for (const [way, jump] of [
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ] as const) {
    it(`ignores a jump of the wall clock ${way} by an hour`, async () => {
      const clock = sinon.useFakeTimers({ now: 1e12, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
      try {
        const { reading, reasons, send } = fedByHand();
        await clock.tickAsync(50);
        send(`data: ${payloads[0]}\n\n`);
        await clock.tickAsync(10);
        clock.setSystemTime(Date.now() + jump);
        await clock.tickAsync(80);
        expect(reasons).to.deep.equal([]);
        await clock.tickAsync(20);
        expect(await reading).to.have.property('code', 'timeout');
        expect(reasons).to.have.length(1);
      } finally {
        clock.restore();
      }
    });
  }

  it("does not count the consumer's pause as idle time", async () => {
    const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const reasons: unknown[] = [];
      const decoder = WIRES.chat_completions.createDecoder(responseContext('openai', 'gpt-4.1'));
      const stream = decodeStream(bytes(chunksOf(sse(), 200)), decoder, {
        streamIdleTimeout: 100,
        maxEventBytes: 4096,
        abort: (reason) => reasons.push(reason),
      });
      await stream.next();
      await clock.tickAsync(1_000);
      for await (const _event of stream);
      expect(reasons).to.deep.equal([]);
      expect(clock.countTimers()).to.equal(0);
    } finally {
      clock.restore();
    }
  });

  it('rejects an oversized event even if it arrives in one chunk', async () => {
    const error = await read(bytes([Buffer.from(`data: ${'x'.repeat(5_000)}\n\n`)]), { maxEventBytes: 4_096 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error)
      .to.be.instanceOf(LLMStreamError)
      .and.to.have.property('message')
      .that.matches(/larger than 4096 bytes/);
  });

  it('cancels the body when its consumer stops', async () => {
    let left = false;
    const body = (async function* () {
      try {
        yield sse().subarray(0, 400);
        yield sse().subarray(400);
      } finally {
        left = true;
      }
    })();
    const decoder = WIRES.chat_completions.createDecoder(responseContext('openai', 'gpt-4.1'));
    for await (const _event of decodeStream(body, decoder, {
      streamIdleTimeout: 60_000,
      maxEventBytes: 4096,
      abort: () => undefined,
    }))
      break;
    expect(left).to.equal(true);
  });
});
