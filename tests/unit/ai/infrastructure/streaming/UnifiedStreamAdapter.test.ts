/** What the adapter guarantees to code that relays a stream: order, complete calls, one end, and backpressure. */
import { expect } from 'chai';
import sinon from 'sinon';
import {
  LLMAuthError,
  LLMInvalidRequestError,
  LLMOverloadedError,
  LLMRateLimitError,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { JsonObject, SchemeName, ServedScheme } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { streamWithBufferedFunctions } from '../../../../../imports/business/ai/infrastructure/streaming/streamWithBufferedFunctions';
import { UnifiedStreamAdapter } from '../../../../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import type { StreamPair } from '../../../../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import { failure } from '../../../../support/failure';
import { eventsIn, expectFailure } from '../../../../support/streamGrammar';
import {
  bodyOf,
  completedIn,
  decodeText,
  meaningOf,
  SCHEME_NAMES,
  contentOfChunks,
  transcode,
  DEFAULT_VENDOR,
  wireOf,
} from '../../../../support/transcoding';

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a-model' };

function chunk(delta: JsonObject, finish_reason: string | null = null, fields: JsonObject = {}): string {
  return `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason }], ...fields })}\n\n`;
}
const ROLE = chunk({ role: 'assistant', content: '' });
const DONE = 'data: [DONE]\n\n';
const HELLO = [ROLE, chunk({ content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop'), DONE];

/** A body that records how far it was read, and whether it was cancelled. */
function watched(
  chunks: readonly (string | Uint8Array)[],
  after: () => Promise<IteratorResult<Uint8Array>> = () => Promise.resolve({ value: undefined, done: true }),
) {
  const watch = { pulled: 0, left: 0 };
  const iterator: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => iterator,
    next: () => {
      const chunk = chunks[watch.pulled];
      watch.pulled += 1;
      if (chunk === undefined) return after();
      return Promise.resolve({ value: typeof chunk === 'string' ? Buffer.from(chunk) : chunk, done: false });
    },
    return: () => {
      watch.left += 1;
      return Promise.resolve({ value: undefined, done: true });
    },
  };
  return { watch, body: iterator };
}

const never = (): Promise<never> => new Promise(() => undefined);

function relay(source: SchemeName = 'openai', target: ServedScheme = 'openai'): UnifiedStreamAdapter {
  return new UnifiedStreamAdapter(source, target);
}

describe('UnifiedStreamAdapter', () => {
  it('yields a line and a chunk for each event, with equal content if the target is chat completions', async () => {
    const { lines, chunks } = await transcode('openai', 'openai', bodyOf(...HELLO));
    expect(lines.length).to.equal(chunks.length);
    expect(lines.slice(0, 4).map((line) => (line === '' ? '' : (JSON.parse(line.slice(6)) as unknown)))).to.deep.equal(
      chunks.slice(0, 4),
    );
    expect(contentOfChunks(chunks)).to.deep.equal({ text: 'Hello', calls: [], finish: ['stop'] });
    expect(lines.at(-1)).to.equal(DONE);
  });

  it('rejects unknown schemes', () => {
    // Untyped callers can pass any name.
    expect(() => new UnifiedStreamAdapter('openai', 'grpc' as ServedScheme)).to.throw(LLMInvalidRequestError, 'grpc');
    expect(() => new UnifiedStreamAdapter('toString' as SchemeName, 'openai')).to.throw(LLMInvalidRequestError);
  });

  for (const target of SCHEME_NAMES) {
    it(`yields a text delta to a consumer of ${target} before it reads on`, async () => {
      const { watch, body } = watched(HELLO);
      const pairs = relay('openai', target).processStream(body);
      for (const [text, pulled] of [
        ['Hel', 2],
        ['lo', 3],
      ] as const) {
        let pair: StreamPair | undefined;
        do pair = (await pairs.next()).value ?? undefined;
        while (pair !== undefined && pair[1].choices[0]?.delta.content !== text);
        expect(pair?.[0]).to.include(JSON.stringify(text));
        expect(watch.pulled).to.equal(pulled);
      }
      await pairs.return();
    });
  }

  const interleaved = [
    ROLE,
    chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'first', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'second', arguments: '{"y"' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }),
    chunk({
      tool_calls: [
        { index: 1, function: { arguments: ':2}' } },
        { index: 2, id: 'c', type: 'function', function: { name: 'third', arguments: '' } },
      ],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
    chunk({}, 'tool_calls'),
    `data: ${JSON.stringify({ ...HEAD, choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })}\n\n`,
    DONE,
  ];
  const CALLS = [
    { name: 'first', arguments: { x: 1 } },
    { name: 'second', arguments: { y: 2 } },
    { name: 'third', arguments: {} },
  ];

  for (const target of SCHEME_NAMES) {
    it(`yields parallel calls complete in ${target}, however their fragments interleave`, async () => {
      const { lines, chunks } = await transcode('openai', target, bodyOf(...interleaved));
      expect(contentOfChunks(chunks).calls).to.deep.equal(CALLS);
      const back = completedIn(await decodeText(wireOf(target), lines.join(''), DEFAULT_VENDOR[target]));
      expect(meaningOf(back).calls).to.deep.equal(CALLS);
    });

    it(`hides calls in the lines of ${target}, but not in the chunks, if relayToolUseEvents is false`, async () => {
      const { lines, chunks } = await transcode('openai', target, bodyOf(...interleaved), {
        relayToolUseEvents: false,
      });
      expect(contentOfChunks(chunks)).to.deep.equal({ text: '', calls: CALLS, finish: ['tool_calls'] });
      for (const word of ['first', 'second', 'third', '"tool_calls"', 'tool_use', 'functionCall', 'function_call'])
        expect(lines.join('')).not.to.include(word);
    });
  }

  it('relays usage once and only on request, and always reports it to the loop', async () => {
    for (const relayUsageEvents of [true, false]) {
      const { lines, chunks } = await transcode('openai', 'openai', bodyOf(...interleaved), { relayUsageEvents });
      expect(lines.filter((line) => line.includes('"usage"')).length).to.equal(relayUsageEvents ? 1 : 0);
      expect(chunks.filter(({ usage }) => usage !== undefined).map(({ usage }) => usage!.total_tokens)).to.deep.equal([
        5,
      ]);
    }
  });

  it('relays usage once if the vendor reports it in every chunk', async () => {
    const counted = (tokens: number): JsonObject => ({
      usage: { prompt_tokens: 1, completion_tokens: tokens, total_tokens: 1 + tokens },
    });
    const body = bodyOf(
      chunk({ role: 'assistant', content: 'a' }, null, counted(1)),
      chunk({ content: 'b' }, null, counted(2)),
      chunk({}, 'stop', counted(2)),
      DONE,
    );
    const { lines } = await transcode('openai', 'openai', body, { relayUsageEvents: true });
    expect(
      eventsIn(lines.join(''))
        .filter(({ usage }) => usage !== undefined)
        .map(({ usage }) => usage),
    ).to.deep.equal([counted(2).usage]);
  });

  it('announces a call before its arguments have arrived', async () => {
    const { watch, body } = watched(interleaved);
    const pairs = relay().processStream(body, { emitFunctionAnnouncements: true });
    for (let pair = await pairs.next(); pair.done !== true; pair = await pairs.next()) {
      if (!pair.value[0].includes('tool_use_announced')) continue;
      expect(pair.value[0]).to.include('"first"');
      expect(watch.pulled).to.equal(2);
      break;
    }
    await pairs.return();
  });

  it('yields the same pairs however the bytes are split', async () => {
    const bytes = Buffer.from(
      `\ufeff: a comment\nretry: 10\n${[ROLE, chunk({ content: 'ä\u{1f30d}\u2028' }), chunk({}, 'stop'), DONE].join('').replaceAll('\n', '\r\n')}`,
    );
    const expected = await transcode('openai', 'anthropic', bodyOf(bytes));
    expect(contentOfChunks(expected.chunks).text).to.equal('ä\u{1f30d}\u2028');
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await transcode('openai', 'anthropic', bodyOf(bytes.subarray(0, at), bytes.subarray(at)))).to.deep.equal(
        expected,
      );
    }
    expect(
      await transcode('openai', 'anthropic', bodyOf(...[...bytes].map((byte) => Uint8Array.of(byte)))),
    ).to.deep.equal(expected);
  });

  describe('when the stream fails', () => {
    for (const target of SCHEME_NAMES) {
      it(`ends with the error in ${target} and throws it`, async () => {
        const { lines, chunks, error } = await transcode(
          'openai',
          target,
          bodyOf(ROLE, chunk({ content: 'Hi' }), 'data: {"error":{"message":"busy","type":"overloaded_error"}}\n\n'),
        );
        expect(error).to.be.instanceOf(LLMOverloadedError);
        expectFailure(target, lines.join(''));
        expect(lines.at(-1)).to.include('busy');
        expect(chunks.at(-1)!.choices).to.deep.equal([{ index: 0, delta: {}, finish_reason: null }]);
      });
    }

    it('reports a broken body as such, and keeps the cause', async () => {
      const cause = new TypeError('terminated');
      const { body } = watched([ROLE], () => Promise.reject(cause));
      const { lines, error } = await transcode('openai', 'openai', body);
      expect(error).to.be.instanceOf(LLMStreamError).and.to.include({ cause });
      expect(lines.at(-1)).to.include('stream-broken').and.not.to.include('terminated');
    });

    it('throws before any line if the source has an error status', async () => {
      const response = new Response('{"error":{"message":"no such key","type":"invalid_request_error"}}', {
        status: 401,
        headers: { 'x-request-id': 'req_7' },
      });
      const { lines, error } = await transcode('openai', 'anthropic', response);
      expect(lines).to.deep.equal([]);
      expect(error)
        .to.be.instanceOf(LLMAuthError)
        .and.to.include({ message: 'no such key', status: 401, requestId: 'req_7' });
      const limited = await transcode(
        'google',
        'openai',
        new Response('Too fast', { status: 429, headers: { 'retry-after': '2' } }),
      );
      expect(limited.error).to.be.instanceOf(LLMRateLimitError).and.to.include({ retryAfterMs: 2_000 });
    });

    it('rejects an HTML page and a missing body', async () => {
      for (const source of [new Response('<html>Sign in</html>'), new Response(null), bodyOf()]) {
        for (const scheme of SCHEME_NAMES) {
          if (source instanceof Response && source.bodyUsed) continue;
          const { lines, error } = await transcode(scheme, 'openai', source);
          expect(error).to.be.instanceOf(LLMStreamError);
          expect(lines.length).to.equal(1);
        }
      }
    });

    it('yields what arrived before the failure', async () => {
      const { lines, chunks } = await transcode(
        'openai',
        'openai',
        bodyOf(ROLE + chunk({ content: 'Hi' }) + 'data: {broken\n\n'),
      );
      expect(contentOfChunks(chunks).text).to.equal('Hi');
      expect(lines.length).to.equal(3);
    });
  });

  describe('backpressure and cancellation', () => {
    it('reads a chunk of the body only once its consumer has consumed everything before it', async () => {
      const chunks = [
        ROLE,
        chunk({ content: 'a' }) + chunk({ content: 'b' }) + chunk({ content: 'c' }),
        chunk({ content: 'd' }),
        chunk({}, 'stop'),
        DONE,
      ];
      const { watch, body } = watched(chunks);
      const pairs = relay().processStream(body);
      const pulled: number[] = [];
      expect(watch.pulled).to.equal(0);
      for (let at = 0; at < 5; at += 1) {
        await pairs.next();
        pulled.push(watch.pulled);
      }
      expect(pulled).to.deep.equal([1, 2, 2, 2, 3]);
      await pairs.return();
    });

    it('cancels the body in the same tick when the consumer stops', async () => {
      const { watch, body } = watched(HELLO);
      const pairs = relay().processStream(body);
      await pairs.next();
      const left = pairs.return();
      expect(watch.left).to.equal(1);
      await left;
      expect(watch.left).to.equal(1);
      expect(await pairs.next()).to.deep.equal({ value: undefined, done: true });
    });

    it('cancels the body when the consumer breaks out of its loop', async () => {
      const { watch, body } = watched(HELLO);
      for await (const [line] of relay().processStream(body)) {
        expect(line).to.include('assistant');
        break;
      }
      expect(watch).to.deep.equal({ pulled: 1, left: 1 });
    });

    it('cancels a silent body without reporting an error', async () => {
      const { watch, body } = watched([ROLE], never);
      const pairs = relay().processStream(body);
      await pairs.next();
      const pending = pairs.next();
      const left = pairs.return();
      expect(watch.left).to.equal(1);
      expect(await pending).to.deep.equal({ value: undefined, done: true });
      expect(await left).to.deep.equal({ value: undefined, done: true });
    });

    it('cancels a web stream even while a read is pending', async () => {
      let cancelled = 0;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from(ROLE)),
        cancel: () => {
          cancelled += 1;
        },
      });
      const pairs = relay().processStream(new Response(body));
      await pairs.next();
      const pending = pairs.next();
      const left = pairs.return();
      expect(cancelled).to.equal(1);
      await Promise.all([pending, left]);
    });

    it('reads a fetch response to its end', async () => {
      const { lines, chunks, error } = await transcode('openai', 'google', new Response(HELLO.join('')));
      expect(error).to.equal(undefined);
      expect(contentOfChunks(chunks).text).to.equal('Hello');
      expect(lines.join('')).to.include('"finishReason":"STOP"');
    });

    it('ends once, with the end marker, even if the body continues', async () => {
      const { watch, body } = watched([...HELLO, chunk({ content: 'more' })], never);
      const { lines } = await transcode('openai', 'openai', body);
      expect(lines.at(-1)).to.equal(DONE);
      expect(watch.left).to.equal(1);
    });
  });

  it('throws the reason of the abort signal, and cancels the body', async () => {
    const controller = new AbortController();
    const { watch, body } = watched([ROLE], never);
    const pairs = relay().processStream(body, { signal: controller.signal });
    await pairs.next();
    const pending = pairs.next();
    const reason = new Error('the user left');
    controller.abort(reason);
    expect(watch.left).to.equal(1);
    expect((await pending).value![0])
      .to.include('"aborted"')
      .and.not.to.include('the user left');
    expect(await failure(pairs.next())).to.equal(reason);
    const late = watched(HELLO);
    expect(await failure(relay().processStream(late.body, { signal: controller.signal }).next())).to.equal(reason);
    expect(late.watch).to.deep.equal({ pulled: 0, left: 1 });
  });

  describe('timeouts', () => {
    let clock: sinon.SinonFakeTimers;
    beforeEach(() => {
      clock = sinon.useFakeTimers();
    });
    afterEach(() => clock.restore());

    it('treats a stalled stream as a timeout, and cancels the body', async () => {
      const { watch, body } = watched([ROLE], never);
      const pairs = relay().processStream(body, { streamIdleTimeout: 1_000 });
      await pairs.next();
      const pending = pairs.next();
      await clock.tickAsync(1_000);
      expect((await pending).value![0]).to.include('"timeout"');
      expect(await failure(pairs.next())).to.be.instanceOf(LLMTimeoutError);
      expect(watch.left).to.equal(1);
      expect(clock.countTimers()).to.equal(0);
    });

    it('does not treat a slow consumer as a stall, but a stall after it', async () => {
      const { watch, body } = watched(HELLO.slice(0, 3), never);
      const pairs = relay().processStream(body, { streamIdleTimeout: 1_000 });
      await pairs.next();
      await clock.tickAsync(10_000);
      expect((await pairs.next()).value![1].choices[0]!.delta.content).to.equal('Hel');
      await clock.tickAsync(10_000);
      expect((await pairs.next()).value![1].choices[0]!.delta.content).to.equal('lo');
      expect(watch.left).to.equal(0);
      const pending = pairs.next();
      await clock.tickAsync(1_000);
      expect((await pending).value![0]).to.include('"timeout"');
      expect(await failure(pairs.next())).to.be.instanceOf(LLMTimeoutError);
    });

    it('limits the wait for the body of an error status', async () => {
      const { watch, body } = watched(['{"error":{"message":"bu'], never);
      const error = failure(relay().processStream({ status: 503, body }, { streamIdleTimeout: 1_000 }).next());
      await clock.tickAsync(1_000);
      expect(await error).to.be.instanceOf(LLMOverloadedError);
      expect(watch.left).to.equal(1);
    });

    it('leaves no timer behind', async () => {
      await transcode('openai', 'anthropic', bodyOf(...HELLO));
      expect(clock.countTimers()).to.equal(0);
    });
  });

  it('rejects an event or a response that is larger than its limit', async () => {
    const big = chunk({ content: 'x'.repeat(5_000) }).match(/[^]{1,500}/g)!;
    const event = await transcode('openai', 'openai', bodyOf(ROLE, ...big, chunk({}, 'stop'), DONE), {
      maxEventBytes: 2_000,
    });
    expect(event.error).to.be.instanceOf(LLMStreamError).with.property('message').that.includes('2000');
    const { watch, body } = watched([ROLE, ...Array.from({ length: 100 }, () => chunk({ content: 'abc' })), DONE]);
    const response = await transcode('openai', 'openai', body, { maxResponseBytes: 2_000 });
    expect(response.error).to.be.instanceOf(LLMStreamError).and.to.include({ retryable: false });
    expect(watch.left).to.equal(1);
    expect(watch.pulled).to.be.below(30);
  });

  it('collects the complete response in the target scheme', async () => {
    const response = await relay('openai', 'anthropic').collect(bodyOf(...interleaved));
    expect(response).to.deep.include({ type: 'message', role: 'assistant', stop_reason: 'tool_use' });
    expect((response.content as JsonObject[]).map(({ name, input }) => ({ name, arguments: input }))).to.deep.equal(
      CALLS,
    );
    expect(await failure(relay().collect(bodyOf(ROLE)))).to.be.instanceOf(LLMStreamError);
    expect(await failure(relay().collect(new Response('no', { status: 500 })))).to.have.property(
      'code',
      'vendor-error',
    );
  });

  it("repeats the request's fields in collected and streamed Responses responses", async () => {
    const options = { echo: { instructions: 'Be brief.' } };
    expect(await relay('openai', 'openai_responses').collect(bodyOf(...HELLO), options)).to.deep.include(options.echo);
    const { lines } = await transcode('openai', 'openai_responses', bodyOf(...HELLO), options);
    expect(eventsIn(lines.join('')).at(-1)!.response).to.deep.include(options.echo);
  });

  it('relays the details of reasoning whole, whichever chunks they came in', async () => {
    // https://openrouter.ai/docs/use-cases/reasoning-tokens: clients send them back as they were.
    const detail = (fields: object): JsonObject[] => [{ type: 'reasoning.text', index: 0, ...fields }];
    const body = [
      ROLE,
      chunk({ reasoning: 'Hm', reasoning_details: detail({ text: 'Hm' }) }),
      chunk({ reasoning: '.', reasoning_details: detail({ text: '.' }) }),
      chunk({ reasoning_details: detail({ signature: 's' }) }),
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
      DONE,
    ];
    const { lines } = await transcode('openai', 'openai', bodyOf(...body));
    const relayed = eventsIn(lines.join('')).flatMap(({ choices }) => {
      const [{ delta }] = choices as [{ delta: JsonObject }];
      return delta.reasoning_details === undefined ? [] : [delta.reasoning_details];
    });
    expect(relayed).to.deep.equal([detail({ text: 'Hm.', signature: 's' })]);
  });

  it('is also available as one function', async () => {
    const options = { created: 5, relayToolUseEvents: false, relayUsageEvents: true };
    const pairs: StreamPair[] = [];
    for await (const pair of streamWithBufferedFunctions(new Response(interleaved.join('')), {
      sourceScheme: 'openai',
      targetScheme: 'anthropic',
      ...options,
    }))
      pairs.push(pair);
    const { lines, chunks } = await transcode('openai', 'anthropic', bodyOf(...interleaved), options);
    expect(pairs).to.deep.equal(lines.map((line, at) => [line, chunks[at]]));
  });

  it('reads streams that depart from their wire, by vendor or by quirk', async () => {
    const nonstandard = [ROLE, chunk({ content: 'Hi' }), DONE];
    expect((await transcode('openai', 'openai', bodyOf(...nonstandard))).error).to.be.instanceOf(LLMStreamError);
    const { error, chunks } = await transcode('openai', 'openai', bodyOf(...nonstandard), {
      vendor: 'openai_compatible',
      quirks: { allowsNullFinishReason: true },
    });
    expect(error).to.equal(undefined);
    expect(contentOfChunks(chunks).finish).to.deep.equal(['stop']);
  });
});
