/** The one retry policy: what is tried again, how often, when, and where else. */
import { expect } from 'chai';
import fc from 'fast-check';
import sinon from 'sinon';
import { ResilientProvider } from '../../../../../../imports/business/ai/application/services/routing/ResilientProvider';
import type { ResilientProviderOptions } from '../../../../../../imports/business/ai/application/services/routing/ResilientProvider';
import {
  ERROR_TABLE,
  LLMAuthError,
  LLMConnectionError,
  LLMError,
  LLMInvalidRequestError,
  LLMModelNotFoundError,
  LLMOverloadedError,
  LLMRateLimitError,
  LLMServerError,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ErrorCode, LLMErrorDetails } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { GenerateOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { FailedAttempt, LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../imports/business/ai/domain/types/StreamEvents';
import { RouteStats } from '../../../../../../imports/business/ai/application/services/routing/RouteStats';
import { RecordingLogger } from '../../../../../support/RecordingLogger';
import { ScriptedProvider, untilAborted } from '../../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../../imports/testing/ScriptedProvider';
import { servedResponse } from '../../../../../support/servedResponse';
import { answer, eventsOf, incomplete, response, textItem, usage } from '../../../../../../imports/testing/responses';
import { countTimers } from '../../../../../support/countTimers';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];
/** A database that cannot be reached is nothing that another attempt, or another provider, changes. */
const isRetried = (code: ErrorCode): boolean => ERROR_TABLE[code].retryable && code !== 'store-unavailable';
const HI = { input: 'hi', model: 'm' } as const;

function fault(code: ErrorCode, details?: LLMErrorDetails): LLMError {
  return new LLMError(code, `scripted ${code}`, details);
}

/** A provider whose waits end at once and are written down. */
function resilient(
  script: readonly ScriptedStep[],
  options: Partial<ResilientProviderOptions> = {},
): { provider: ResilientProvider; upstream: ScriptedProvider; waits: number[] } {
  const upstream = new ScriptedProvider(script);
  const waits: number[] = [];
  const sleep = async (milliseconds: number): Promise<void> => {
    waits.push(milliseconds);
  };
  return {
    upstream,
    waits,
    provider: new ResilientProvider({
      provider: upstream,
      sleep,
      random: () => 1,
      logger: new RecordingLogger(),
      ...options,
    }),
  };
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

async function collect(events: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const all: ResponseStreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('a retry', () => {
  for (const code of CODES) {
    const retryable = isRetried(code);
    it(`${retryable ? 'follows' : 'never follows'} ${code}`, async () => {
      const failing = retryable ? [fault(code), fault(code), answer('third')] : [fault(code)];
      const { provider, upstream } = resilient(failing);
      if (retryable) expect((await provider.generate('u', HI)).output_text).to.equal('third');
      else expect(await thrownBy(provider.generate('u', HI))).to.equal(failing[0]);
      upstream.assertPlayedOut();
    });
  }

  it('ends after the third attempt with the last error', async () => {
    const errors = [1, 2, 3].map(() => fault('overloaded'));
    const { provider, upstream, waits } = resilient(errors);
    expect(await thrownBy(provider.generate('u', HI))).to.equal(errors[2]);
    upstream.assertPlayedOut();
    expect(waits).to.deep.equal([500, 1_000]);
  });

  it('obeys a vendor that contradicts the table', async () => {
    const never = new LLMServerError('x-should-retry: false', { retryable: false });
    const { provider, upstream } = resilient([never]);
    expect(await thrownBy(provider.generate('u', HI))).to.equal(never);
    upstream.assertPlayedOut();
  });

  it('waits between 0 and the doubled base delay, up to the maximum', async () => {
    const settings = { retry: { maxAttempts: 7 } };
    const full = resilient([...Array.from({ length: 6 }, () => fault('rate-limited')), answer('ok')], settings);
    await full.provider.generate('u', HI);
    expect(full.waits).to.deep.equal([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    const none = resilient([fault('rate-limited'), answer('ok')], { random: () => 0 });
    await none.provider.generate('u', HI);
    expect(none.waits).to.deep.equal([0]);
  });

  it('never comes earlier than Retry-After permits', async () => {
    const { provider, waits } = resilient(
      [fault('rate-limited', { retryAfterMs: 7_300 }), fault('rate-limited', { retryAfterMs: 60_000 }), answer('ok')],
      { random: () => 0 },
    );
    await provider.generate('u', HI);
    expect(waits).to.deep.equal([7_300, 60_000]);
  });

  it('does not happen when Retry-After is longer than a minute', async () => {
    const error = fault('rate-limited', { retryAfterMs: 60_001 });
    const { provider, upstream, waits } = resilient([error]);
    expect(await thrownBy(provider.generate('u', HI))).to.equal(error);
    upstream.assertPlayedOut();
    expect(waits).to.deep.equal([]);
  });

  it('does not happen after the vendor ran a tool', async () => {
    const partial = response({ status: 'failed', output: [{ type: 'web_search_call', id: 'ws_1' }] });
    const error = fault('vendor-error', { response: partial });
    const { provider, upstream } = resilient([error]);
    expect(await thrownBy(provider.generate('u', HI))).to.equal(error);
    upstream.assertPlayedOut();
  });

  it('happens after a failed response of text', async () => {
    const { provider } = resilient([
      fault('vendor-error', { response: response({ status: 'failed', output: [textItem('half')] }) }),
      answer('ok'),
    ]);
    expect((await provider.generate('u', HI)).output_text).to.equal('ok');
  });

  it('sends the same options object', async () => {
    const { provider, upstream } = resilient([fault('timeout'), answer('ok')]);
    const options: GenerateOptions = Object.freeze({ ...HI, temperature: 0.2 });
    await provider.generate('ann', options);
    for (const call of upstream.calls) {
      expect(call.options).to.equal(options);
      expect(call.userId).to.equal('ann');
    }
  });

  it('does not follow a completed or incomplete response', async () => {
    for (const response of [answer('done'), incomplete('max_output_tokens', 'cut'), incomplete('content_filter')]) {
      const { provider, upstream } = resilient([response]);
      expect(await provider.generate('u', HI)).to.deep.equal(servedResponse(response));
      upstream.assertPlayedOut();
    }
  });
});

describe('an error that is no LLMError', () => {
  it('is wrapped once, with a hidden cause, and is not retried', async () => {
    const cause = new TypeError('secret internals');
    const { provider, upstream } = resilient([cause]);
    const error = await thrownBy(provider.generate('u', HI));
    expect(error).to.be.instanceOf(LLMServerError).and.include({ retryable: false, cause });
    expect((error as Error).message).to.not.contain('secret');
    upstream.assertPlayedOut();
  });

  it('may be any thrown value', async () => {
    const provider = new ResilientProvider({
      provider: Object.assign(new ScriptedProvider(), {
        generate: () => Promise.reject(undefined as unknown as Error),
      }),
    });
    expect(await thrownBy(provider.generate('u', HI))).to.be.instanceOf(LLMServerError);
  });
});

describe('the retry budget', () => {
  it('runs out with its tokens, and gains a tenth of a token per request', async () => {
    const always = Array.from({ length: 400 }, () => fault('rate-limited'));
    const { provider, upstream } = resilient(always);
    for (let request = 0; request < 5; request += 1) await thrownBy(provider.generate('u', HI));
    expect(upstream.calls, 'ten retries are there at once').to.have.length(15);
    const attempts: number[] = [];
    for (let request = 0; request < 40; request += 1) {
      const before = upstream.calls.length;
      await thrownBy(provider.generate('u', HI));
      attempts.push(upstream.calls.length - before);
    }
    expect(
      attempts.reduce((sum, count) => sum + count, 0),
      'forty requests earn four retries, and five tenths were left',
    ).to.equal(44);
  });

  it('is refilled up to ten tokens', async () => {
    const { provider, upstream } = resilient([
      ...Array.from({ length: 300 }, () => answer('ok')),
      ...Array.from({ length: 60 }, () => fault('rate-limited')),
    ]);
    for (let request = 0; request < 300; request += 1) await provider.generate('u', HI);
    for (let request = 0; request < 6; request += 1) await thrownBy(provider.generate('u', HI));
    expect(upstream.calls.length - 300).to.equal(16);
  });
});

describe('the circuit of a provider', () => {
  const OPEN = { retry: { maxAttempts: 1 } };

  async function failTimes(provider: ResilientProvider, times: number, options: GenerateOptions = HI): Promise<void> {
    for (let time = 0; time < times; time += 1) await thrownBy(provider.generate('u', options));
  }

  for (const code of CODES) {
    const speaksOfHost = ['connection-failed', 'overloaded', 'vendor-error', 'timeout', 'stream-broken'].includes(code);
    it(`${speaksOfHost ? 'opens after five times' : 'stays closed after'} ${code}`, async () => {
      const steps = Array.from({ length: speaksOfHost ? 5 : 6 }, () => fault(code));
      const { provider, upstream } = resilient(steps, { ...OPEN, clock: () => 0 });
      await failTimes(provider, 6);
      upstream.assertPlayedOut();
    });
  }

  it('rejects calls while open, with the remaining time and the last failure', async () => {
    let now = 0;
    const last = fault('connection-failed');
    const { provider, upstream } = resilient([1, 2, 3, 4].map(() => fault('overloaded') as ScriptedStep).concat(last), {
      ...OPEN,
      clock: () => now,
    });
    await failTimes(provider, 5);
    now = 10_000;
    const error = await thrownBy(provider.generate('u', HI));
    expect(error).to.be.instanceOf(LLMOverloadedError).and.include({ retryAfterMs: 20_000, cause: last });
    upstream.assertPlayedOut();
  });

  it('ends a request between two attempts with the request’s own error', async () => {
    const errors = Array.from({ length: 5 }, () => fault('overloaded'));
    const { provider, upstream, waits } = resilient(errors, { clock: () => 0 });
    await thrownBy(provider.generate('u', HI));
    expect(await thrownBy(provider.generate('u', HI))).to.equal(errors[4]);
    upstream.assertPlayedOut();
    expect(waits).to.have.length(3);
  });

  it('admits one of many concurrent requests while half-open, and all after its success', async () => {
    let now = 0;
    let release: (response: LLMResponse) => void = () => undefined;
    const held = new Promise<LLMResponse>((resolve) => (release = resolve));
    const steps: ScriptedStep[] = [
      ...Array.from({ length: 5 }, () => fault('overloaded')),
      () => held,
      answer('after'),
    ];
    const { provider, upstream } = resilient(steps, { ...OPEN, clock: () => now });
    await failTimes(provider, 5);
    now = 30_000;
    const outcomes = Array.from({ length: 20 }, () => provider.generate('u', HI));
    const settled = Promise.allSettled(outcomes);
    release(answer('probe'));
    const kinds = (await settled).map((outcome) => outcome.status);
    expect(kinds.filter((kind) => kind === 'fulfilled')).to.have.length(1);
    expect((await provider.generate('u', HI)).output_text).to.equal('after');
    upstream.assertPlayedOut();
  });

  it('does not open for a caller’s own short timeout', async () => {
    const steps = Array.from({ length: 6 }, () => new LLMTimeoutError('too slow for you'));
    const { provider, upstream } = resilient(steps, { ...OPEN });
    await failTimes(provider, 6, { ...HI, timeout: 5 });
    upstream.assertPlayedOut();
  });

  it('is closed by any response of the vendor, even if it rejects the request', async () => {
    const down = (): LLMError => fault('overloaded');
    const { provider, upstream } = resilient(
      [
        down(),
        down(),
        down(),
        down(),
        fault('invalid-request', { status: 400 }),
        down(),
        down(),
        down(),
        down(),
        answer('ok'),
      ],
      OPEN,
    );
    await failTimes(provider, 9);
    expect((await provider.generate('u', HI)).output_text).to.equal('ok');
    upstream.assertPlayedOut();
  });
});

describe('an abort', () => {
  let clock: sinon.SinonFakeTimers;
  beforeEach(() => (clock = sinon.useFakeTimers()));
  afterEach(() => clock.restore());

  it('during a delay throws the reason immediately and leaves no timer or listener', async () => {
    const upstream = new ScriptedProvider([fault('rate-limited', { retryAfterMs: 50_000 })]);
    const provider = new ResilientProvider({ provider: upstream });
    const controller = new AbortController();
    const removed = sinon.spy(controller.signal, 'removeEventListener');
    const reason = { why: 'enough' };
    const pending = thrownBy(provider.generate('u', { ...HI, signal: controller.signal }));
    await clock.tickAsync(1_000);
    expect(countTimers(clock), 'it waits').to.equal(1);
    controller.abort(reason);
    expect(await pending).to.equal(reason);
    expect(countTimers(clock)).to.equal(0);
    expect(removed.callCount).to.equal(1);
    upstream.assertPlayedOut();
  });

  it('a wait that ends by itself leaves no timer and no listener either', async () => {
    const provider = new ResilientProvider({
      provider: new ScriptedProvider([fault('overloaded'), answer('ok')]),
      random: () => 1,
    });
    const { signal } = new AbortController();
    const added = sinon.spy(signal, 'addEventListener');
    const removed = sinon.spy(signal, 'removeEventListener');
    const pending = provider.generate('u', { ...HI, signal });
    await clock.tickAsync(499);
    expect(countTimers(clock)).to.equal(1);
    await clock.tickAsync(1);
    expect((await pending).output_text).to.equal('ok');
    expect(countTimers(clock)).to.equal(0);
    expect(removed.callCount).to.equal(added.callCount);
  });

  it('during an attempt throws the reason unchanged and tries no fallback', async () => {
    const other = new ScriptedProvider([], { name: 'other' });
    const provider = new ResilientProvider({ provider: new ScriptedProvider([untilAborted]), fallback: [other] });
    const controller = new AbortController();
    const pending = thrownBy(provider.generate('u', { ...HI, signal: controller.signal }));
    await clock.tickAsync(0);
    controller.abort('stop');
    expect(await pending).to.equal('stop');
    other.assertPlayedOut();
  });

  it('before the first attempt prevents any call', async () => {
    const upstream = new ScriptedProvider([]);
    const reason = new Error('never mind');
    expect(
      await thrownBy(
        new ResilientProvider({ provider: upstream }).generate('u', { ...HI, signal: AbortSignal.abort(reason) }),
      ),
    ).to.equal(reason);
    upstream.assertPlayedOut();
  });

  it('throws the reason even if the provider throws another error for it', async () => {
    const controller = new AbortController();
    const provider = new ResilientProvider({
      provider: new ScriptedProvider([
        () => {
          controller.abort('mine');
          return new LLMConnectionError('socket closed');
        },
      ]),
    });
    expect(await thrownBy(provider.generate('u', { ...HI, signal: controller.signal }))).to.equal('mine');
  });
});

describe('attempts that were aborted', () => {
  it('are no evidence about the provider', async () => {
    const reasons = Array.from({ length: 6 }, (_, index) => ({ index }));
    const controllers = reasons.map(() => new AbortController());
    const closing = reasons.map((reason, index) => () => {
      controllers[index]?.abort(reason);
      return new LLMConnectionError('socket closed');
    });
    const { provider, upstream } = resilient([...closing, answer('ok')], { clock: () => 0 });
    for (const [index, { signal }] of controllers.entries())
      expect(await thrownBy(provider.generate('u', { ...HI, signal }))).to.equal(reasons[index]);
    expect((await provider.generate('u', HI)).output_text).to.equal('ok');
    upstream.assertPlayedOut();
  });
});

describe('the settings', () => {
  for (const retry of [
    { maxAttempts: Number.NaN },
    { maxAttempts: 0 },
    { maxAttempts: 1.5 },
    { baseDelay: -1 },
    { maxDelay: Infinity },
    { budget: Number.NaN },
  ]) {
    const [[name, value]] = Object.entries(retry) as [[string, number]];
    it(`are refused when ${name} is ${value}`, () => {
      expect(() => new ResilientProvider({ provider: new ScriptedProvider(), retry }))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', `retry.${name}`);
    });
  }
});

describe('the timeout of a call', () => {
  it('leaves a retry only the remaining time, and permits none beyond it', async () => {
    let now = 0;
    const slow = (): LLMError => {
      now += 1_000;
      return fault('overloaded');
    };
    const upstream = new ScriptedProvider([slow, slow]);
    const provider = new ResilientProvider({
      provider: upstream,
      clock: () => now,
      random: () => 1,
      sleep: async (milliseconds) => {
        now += milliseconds;
      },
    });
    const error = await thrownBy(provider.generate('u', { ...HI, timeout: 3_000 }));
    expect(error).to.have.property('code', 'overloaded');
    expect(upstream.calls.map(({ options }) => options.timeout)).to.deep.equal([3_000, 1_500]);
    upstream.assertPlayedOut();
  });
});

describe('a stream', () => {
  const response = answer('one two three');
  const events = eventsOf(response);
  const firstDelta = events.findIndex(({ type }) => type === 'response.output_text.delta');
  const eventsAfter = (...attempts: readonly FailedAttempt[]): readonly ResponseStreamEvent[] =>
    events.map((event) =>
      event.type === 'response.completed' ? { ...event, response: servedResponse(event.response, attempts) } : event,
    );

  it('emits every event once and in order', async () => {
    const { provider, upstream } = resilient([response]);
    expect(await collect(provider.stream('u', HI))).to.deep.equal(eventsAfter());
    upstream.assertPlayedOut();
  });

  it('makes no call before it is read', () => {
    const { provider, upstream } = resilient([]);
    provider.stream('u', HI);
    upstream.assertPlayedOut();
  });

  it('is retried until its first substantial event', async () => {
    // Azure's first chunk has the filter's verdict on the prompt, Anthropic's first message the usage of the input.
    const begun: readonly ResponseStreamEvent[] = [
      {
        type: 'vendor.event',
        origin: { wire: 'chat_completions', vendor: 'azure_openai', model: 'm' },
        raw: { choices: [], prompt_filter_results: [] },
      },
      { type: 'response.created', id: 'r0', model: 'm' },
      { type: 'response.usage', usage: response.usage },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', role: 'assistant', status: 'in_progress', content: [] },
      },
    ];
    const { provider, upstream } = resilient([fault('overloaded'), [...begun, fault('connection-failed')], response]);
    expect(await collect(provider.stream('u', HI))).to.deep.equal(
      eventsAfter(
        { providerId: 'scripted', reason: 'overloaded', delay: 500 },
        { providerId: 'scripted', reason: 'connection-failed', delay: 1000 },
      ),
    );
    upstream.assertPlayedOut();
  });

  for (const [index, event] of events.entries()) {
    if (index < firstDelta || event.type === 'response.completed') continue;
    it(`is not retried after ${event.type} (event ${index})`, async () => {
      const error = fault('connection-failed');
      const { provider, upstream } = resilient([[...events.slice(0, index + 1), error]], {
        fallback: [new ScriptedProvider([], { name: 'other' })],
      });
      const seen: ResponseStreamEvent[] = [];
      const thrown = await thrownBy(
        (async () => {
          for await (const one of provider.stream('u', HI)) seen.push(one);
        })(),
      );
      expect(thrown).to.equal(error);
      expect(seen).to.deep.equal(events.slice(0, index + 1));
      upstream.assertPlayedOut();
    });
  }

  it('that ends without a response is an error, retried only if it emitted nothing substantial', async () => {
    const cut = resilient([events.slice(0, 4)]);
    expect(await thrownBy(collect(cut.provider.stream('u', HI)))).to.be.instanceOf(LLMStreamError);
    cut.upstream.assertPlayedOut();
    const empty = resilient([[], [], response]);
    expect(await collect(empty.provider.stream('u', HI))).to.deep.equal(
      eventsAfter(
        { providerId: 'scripted', reason: 'stream-broken', delay: 500 },
        { providerId: 'scripted', reason: 'stream-broken', delay: 1000 },
      ),
    );
    empty.upstream.assertPlayedOut();
  });

  it('throws the error of response.failed', async () => {
    const error = fault('invalid-request');
    for (const before of [[], events.slice(0, 3)]) {
      const { provider, upstream } = resilient([[...before, { type: 'response.failed', error }]]);
      expect(await thrownBy(collect(provider.stream('u', HI)))).to.equal(error);
      upstream.assertPlayedOut();
    }
  });

  it('closes the upstream stream when its consumer leaves', async () => {
    const { provider, upstream } = resilient([response]);
    for await (const event of provider.stream('u', HI)) if (event.type === 'response.output_text.delta') break;
    expect(upstream.abandonedStreams).to.equal(1);
  });

  it('throws the signal’s reason when it is aborted midway', async () => {
    const controller = new AbortController();
    const { provider } = resilient([response]);
    const reading = (async () => {
      for await (const event of provider.stream('u', { ...HI, signal: controller.signal })) {
        if (event.type === 'response.output_text.delta') controller.abort('seen enough');
      }
    })();
    expect(await thrownBy(reading)).to.equal('seen enough');
  });

  it('counts its failures towards the circuit, and its start as the probe’s success', async () => {
    let now = 0;
    const broken = [events[0]!, events[1]!, fault('connection-failed')];
    const { provider, upstream } = resilient([...Array.from({ length: 5 }, () => broken), broken, response], {
      clock: () => now,
    });
    for (let time = 0; time < 5; time += 1) await thrownBy(collect(provider.stream('u', HI)));
    expect(await thrownBy(collect(provider.stream('u', HI)))).to.be.instanceOf(LLMOverloadedError);
    now = 30_000;
    await thrownBy(collect(provider.stream('u', HI)));
    expect(await collect(provider.stream('u', HI))).to.have.length(events.length);
    upstream.assertPlayedOut();
  });
});

describe('a fallback', () => {
  function pair(
    first: readonly ScriptedStep[],
    second: readonly ScriptedStep[],
    extra: Partial<ResilientProviderOptions> = {},
  ): {
    provider: ResilientProvider;
    a: ScriptedProvider;
    b: ScriptedProvider;
  } {
    const [a, b] = [new ScriptedProvider(first, { name: 'a' }), new ScriptedProvider(second, { name: 'b' })];
    return {
      a,
      b,
      provider: new ResilientProvider({
        providers: { a, b },
        fallback: ['b'],
        sleep: async () => undefined,
        logger: new RecordingLogger(),
        ...extra,
      }),
    };
  }
  const ASK = { input: 'hi', model: 'a/m' } as const;

  for (const code of CODES) {
    const mends = isRetried(code) || ['auth-failed', 'permission-denied', 'quota-exceeded'].includes(code);
    it(`${mends ? 'answers after' : 'is not asked for'} ${code}`, async () => {
      const attempts = isRetried(code) ? 3 : 1;
      const errors = Array.from({ length: attempts }, () => fault(code));
      const { provider, a, b } = pair(errors, mends ? [answer('from b')] : []);
      if (mends) expect((await provider.generate('u', ASK)).output_text).to.equal('from b');
      else expect(await thrownBy(provider.generate('u', ASK))).to.equal(errors[0]);
      a.assertPlayedOut();
      b.assertPlayedOut();
    });
  }

  it('gets the same model, or uses its own if that is unknown', async () => {
    const { provider, b } = pair([new LLMAuthError('no')], [new LLMModelNotFoundError('m?'), answer('ok')]);
    expect((await provider.generate('u', ASK)).output_text).to.equal('ok');
    expect(b.calls.map(({ options }) => options.model)).to.deep.equal(['m', undefined]);
  });

  it('uses the model of its entry', async () => {
    const { provider, b } = pair([new LLMAuthError('no')], [answer('ok')], { fallback: ['b/small'] });
    await provider.generate('u', ASK);
    expect(b.calls[0]?.options.model).to.equal('small');
  });

  it('adds a warning that states why it served the request', async () => {
    const { provider } = pair([new LLMAuthError('no')], [answer('ok')]);
    expect((await provider.generate('u', ASK)).vendor.warnings).to.deep.equal([
      'The provider "a" failed (auth-failed); "b" served the request instead.',
    ]);
    const streamed = pair([new LLMAuthError('no')], [answer('ok')]);
    const last = (await collect(streamed.provider.stream('u', ASK))).at(-1);
    expect(last).to.have.nested.property('response.vendor.warnings.length', 1);
  });

  it('after another is tried in order under the same policy, and the first error is thrown if all fail', async () => {
    const order: string[] = [];
    const make = (name: string, code: ErrorCode): ScriptedProvider =>
      new ScriptedProvider(
        Array.from({ length: 3 }, () => () => {
          order.push(name);
          return new LLMError(code, name);
        }),
        { name },
      );
    const [a, b, c] = [make('a', 'overloaded'), make('b', 'timeout'), make('c', 'rate-limited')];
    const provider = new ResilientProvider({
      providers: [a, b, c],
      fallback: ['c', 'a', 'b'],
      logger: new RecordingLogger(),
      sleep: async () => undefined,
    });
    expect(await thrownBy(provider.generate('u', ASK))).to.have.property('message', 'a');
    expect(order.join('')).to.equal('aaacccbbb');
  });

  it('is not tried for a previous_response_id', async () => {
    const { provider, b } = pair([new LLMAuthError('no')], []);
    expect(await thrownBy(provider.generate('u', { ...ASK, previous_response_id: 'resp_1' }))).to.be.instanceOf(
      LLMAuthError,
    );
    b.assertPlayedOut();
  });

  it('serves requests while the first provider’s circuit is open', async () => {
    const down = Array.from({ length: 5 }, () => fault('overloaded'));
    const { provider, a, b } = pair(
      down,
      Array.from({ length: 6 }, () => answer('b')),
      { retry: { maxAttempts: 1 }, clock: () => 0 },
    );
    for (let time = 0; time < 6; time += 1) expect((await provider.generate('u', ASK)).output_text).to.equal('b');
    a.assertPlayedOut();
    b.assertPlayedOut();
  });

  it('may be a provider that nothing else is routed to', async () => {
    const spare = new ScriptedProvider([answer('spare')], { name: 'spare' });
    const { provider } = resilient([new LLMAuthError('no')], { fallback: [spare] });
    expect(
      (await provider.generate('u', { input: 'x', model: 'spare/m' })).output_text,
      'its name is no route',
    ).to.equal('spare');
    expect(spare.calls[0]?.options.model).to.equal('spare/m');
  });

  it('serves streams too', async () => {
    const { provider } = pair([fault('auth-failed')], [answer('from b')]);
    const last = (await collect(provider.stream('u', ASK))).at(-1);
    expect(last).to.have.nested.property('response.output_text', 'from b');
  });

  it('gets no more than the caller’s remaining time', async () => {
    let now = 0;
    const { provider, b } = pair(
      [
        () => {
          now = 2_000;
          return fault('auth-failed');
        },
      ],
      [],
      { clock: () => now },
    );
    expect(await thrownBy(provider.generate('u', { ...ASK, timeout: 1_000 }))).to.be.instanceOf(LLMError);
    b.assertPlayedOut();
  });
});

describe('a route', () => {
  const one = (name: string): ScriptedProvider => new ScriptedProvider([answer(name)], { name });

  it('is the first segment of the model when that is a provider’s id', async () => {
    const [a, b] = [one('a'), one('b')];
    const provider = new ResilientProvider({ providers: { a, b } });
    expect((await provider.generate('u', { input: 'x', model: 'b/vendor/model-1' })).output_text).to.equal('b');
    expect(b.calls[0]?.options.model).to.equal('vendor/model-1');
  });

  it('is the only provider for every other model, slashes and all', async () => {
    const upstream = one('only');
    await new ResilientProvider({ provider: upstream }).generate('u', { input: 'x', model: 'openai/gpt-oss-20b' });
    expect(upstream.calls[0]?.options.model).to.equal('openai/gpt-oss-20b');
  });

  it('without a model is the first provider and its default', async () => {
    const [a, b] = [one('a'), one('b')];
    expect((await new ResilientProvider({ providers: [b, a] }).generate('u', { input: 'x' })).output_text).to.equal(
      'b',
    );
    expect(b.calls[0]?.options).to.not.have.property('model');
  });

  it('that is only an id is that provider’s default', async () => {
    const [a, b] = [one('a'), one('b')];
    await new ResilientProvider({ providers: { a, b } }).generate('u', { input: 'x', model: 'b' });
    expect(b.calls[0]?.options).to.not.have.property('model');
  });

  for (const model of ['gpt-5', 'c/gpt-5', 'constructor', '__proto__/x']) {
    it(`that is unknown (${model}) names the candidates`, async () => {
      const provider = new ResilientProvider({ providers: { a: one('a'), b: one('b') } });
      const error = await thrownBy(provider.generate('u', { input: 'x', model }));
      expect(error).to.be.instanceOf(LLMModelNotFoundError);
      expect((error as Error).message).to.contain(`"a/${model}", "b/${model}"`);
    });
  }

  it('directs capabilities, access checks and deletions to the right provider', async () => {
    const a = new ScriptedProvider([], { name: 'a', capabilities: { maxTokens: 1 }, access: false });
    const b = new ScriptedProvider([answer('b', { id: 'resp_of_b' })], { name: 'b', capabilities: { maxTokens: 2 } });
    const provider = new ResilientProvider({ providers: { a, b } });
    expect(provider.getCapabilities('b/m').maxTokens).to.equal(2);
    expect(await provider.validateAccess('u')).to.deep.equal({ valid: false });
    expect(await provider.validateAccess('u', 'b')).to.deep.equal({ valid: true });
    expect(await thrownBy(provider.validateAccess('u', 'c'))).to.be.instanceOf(LLMInvalidRequestError);
    await provider.generate('u', { input: 'x', model: 'b/m' });
    await provider.deleteResponse('u', 'resp_of_b');
    await provider.deleteResponse('u', 'resp_unknown');
    expect(b.deleted).to.deep.equal([{ userId: 'u', responseId: 'resp_of_b' }]);
    expect(a.deleted).to.deep.equal([{ userId: 'u', responseId: 'resp_unknown' }]);
  });

  for (const [title, set] of [
    ['no provider', {}],
    ['a doubled id', { providers: [one('a'), one('a')] }],
    ['an id with a slash', { providers: { 'a/b': one('a') } }],
    ['an unknown fallback', { provider: one('a'), fallback: ['z'] }],
  ] as const) {
    it(`is refused at once for ${title}`, () =>
      expect(() => new ResilientProvider(set)).to.throw(LLMInvalidRequestError));
  }
});

describe('the usage', () => {
  it('is summed by provider and user, streams and failed responses included', async () => {
    const failed = response({ status: 'failed', usage: usage(100, 1) });
    const a = new ScriptedProvider(
      [
        answer('x', { usage: usage(1, 2) }),
        fault('vendor-error', { response: failed }),
        answer('y', { usage: usage(3, 4) }),
      ],
      { name: 'a' },
    );
    const provider = new ResilientProvider({ provider: a, sleep: async () => undefined });
    await provider.generate('ann', HI);
    await collect(provider.stream('bob', HI));
    expect(provider.usage()).to.deep.equal([
      { providerId: 'a', userId: 'ann', calls: 1, usage: usage(1, 2) },
      { providerId: 'a', userId: 'bob', calls: 2, usage: usage(103, 5) },
    ]);
  });

  it('of an abandoned stream is estimated from the prompt and the output so far', async () => {
    const upstream = new ScriptedProvider([answer('one two three four')], { name: 'a' });
    const provider = new ResilientProvider({ provider: upstream });
    for await (const event of provider.stream('ann', { input: 'x'.repeat(400), model: 'm' }))
      if ('delta' in event && event.delta === 'three ') break;
    const [entry] = provider.usage();
    expect(entry).to.deep.include({ providerId: 'a', userId: 'ann', calls: 1 });
    expect(entry?.usage).to.include({ estimated: true, output_tokens: Math.ceil('one two three '.length / 4) });
    expect(entry?.usage.input_tokens).to.be.within(100, 150);
  });

  it('of a broken stream is the vendor’s last count plus an estimate of later output', async () => {
    const [created, ...rest] = eventsOf(answer('one two three four', { usage: usage(1_000, 1) }));
    const events = [
      created!,
      { type: 'response.usage', usage: usage(1_000, 1) } as const,
      ...rest.filter((event) => 'delta' in event),
    ];
    const provider = new ResilientProvider({
      provider: {
        getProviderName: () => 'a',
        generate: () => Promise.reject(fault('vendor-error')),
        async *stream() {
          yield* events;
          throw fault('stream-broken');
        },
        validateAccess: () => Promise.resolve({ valid: true }),
        getCapabilities: () => new ScriptedProvider([]).getCapabilities(),
      },
    });
    expect(await thrownBy(collect(provider.stream('ann', HI)))).to.have.property('code', 'stream-broken');
    expect(provider.usage()).to.deep.equal([
      { providerId: 'a', userId: 'ann', calls: 1, usage: { ...usage(1_000, 5), estimated: true } },
    ]);
  });

  it('is tracked for a limited number of users, and summed for all', async () => {
    const provider = new ResilientProvider({
      provider: new ScriptedProvider(
        Array.from({ length: 50 }, () => answer('x', { usage: usage(1, 1) })),
        { name: 'a' },
      ),
      limits: { trackedUsers: 3 },
    });
    for (let user = 0; user < 50; user += 1) await provider.generate(`u${user}`, HI);
    const entries = provider.usage();
    expect(entries).to.have.length(4);
    expect(entries[0]).to.deep.equal({ providerId: 'a', calls: 47, usage: usage(47, 47) });
  });
});

describe('any sequence of errors', () => {
  it('ends after at most three attempts per provider with a response or the first provider’s error', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...CODES).map((code) => ({ kind: 'error' as const, code })) },
      { weight: 1, arbitrary: fc.constant({ kind: 'bug' as const }) },
      { weight: 2, arbitrary: fc.constant({ kind: 'answer' as const }) },
      { weight: 1, arbitrary: fc.nat(6).map((cut) => ({ kind: 'cut' as const, cut })) },
    );
    const program = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
    const requests = fc.array(fc.record({ streamed: fc.boolean(), abort: fc.option(fc.nat(3)) }), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(program, requests, async (programs, asked) => {
        const controllers: AbortController[] = [];
        let waits = 0;
        const upstreams = programs.map((steps, index) => {
          let turn = 0;
          const next = (): ReturnType<Extract<ScriptedStep, (...args: never) => unknown>> => {
            const now = steps[turn++ % steps.length]!;
            if (now.kind === 'error') return new LLMError(now.code, `h${index}`);
            if (now.kind === 'bug') return new TypeError('bug');
            return now.kind === 'cut'
              ? [...eventsOf(answer('a b c')).slice(0, now.cut), new LLMConnectionError(`h${index}`)]
              : answer('ok');
          };
          return new ScriptedProvider(
            Array.from({ length: 200 }, () => next),
            { name: `h${index}` },
          );
        });
        let now = 0;
        const provider = new ResilientProvider({
          providers: upstreams,
          fallback: upstreams.slice(1),
          logger: new RecordingLogger(),
          clock: () => now,
          sleep: async (milliseconds, signal) => {
            now += milliseconds;
            waits += 1;
            if (controllers.at(-1)?.signal === signal && waits % 3 === 0) controllers.at(-1)?.abort('stop');
            signal?.throwIfAborted();
          },
        });
        for (const { streamed, abort } of asked) {
          const before = upstreams.map((upstream) => upstream.calls.length);
          const controller = new AbortController();
          controllers.push(controller);
          if (abort === 0) controller.abort('stop');
          const options: GenerateOptions = {
            input: 'x',
            model: 'h0/m',
            ...(abort === null ? {} : { signal: controller.signal }),
          };
          const outcome = await (
            streamed ? collect(provider.stream('u', options)) : provider.generate('u', options)
          ).catch((error: unknown) => ({ error }));
          upstreams.forEach((upstream, index) => expect(upstream.calls.length - before[index]!).to.be.at.most(3));
          if ('error' in outcome && outcome.error !== 'stop') expect(outcome.error).to.be.instanceOf(LLMError);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('the default wait', () => {
  it('lasts as long as stated, by the timers of the process', async () => {
    const clock = sinon.useFakeTimers();
    try {
      const provider = new ResilientProvider({
        provider: new ScriptedProvider([new LLMRateLimitError('slow down', { retryAfterMs: 2_000 }), answer('ok')]),
        random: () => 0,
      });
      let done = false;
      const pending = provider.generate('u', HI).then(() => (done = true));
      await clock.tickAsync(1_999);
      expect(done).to.equal(false);
      await clock.tickAsync(1);
      await pending;
      expect(done).to.equal(true);
    } finally {
      clock.restore();
    }
  });
});

describe('a provider that several users share', () => {
  it('is closed to the one user whose requests fail, and to nobody else, right after the start', async () => {
    // A user's authorization server that is down says nothing about the vendor.
    const unsent = fault('connection-failed');
    unsent.isOfCredential = true;
    const failures = Array.from({ length: 5 }, () => fault('vendor-error', { status: 500 }));
    const logger = new RecordingLogger();
    const options = { retry: { maxAttempts: 1 }, clock: () => 0, logger };
    const { provider, upstream } = resilient([...failures, unsent, answer('Hi.')], options);
    const codes: unknown[] = [];
    for (const userId of [...new Array<string>(7).fill('mallory'), 'ann', 'mallory'])
      codes.push([userId, ((await thrownBy(provider.generate(userId, HI))) as LLMError).code]);
    expect(codes).to.deep.equal([
      ...new Array<unknown>(5).fill(['mallory', 'vendor-error']),
      ['mallory', 'overloaded'],
      ['mallory', 'overloaded'],
      ['ann', 'connection-failed'],
      ['mallory', 'overloaded'],
    ]);
    expect((await provider.generate('bob', HI)).output_text).to.equal('Hi.');
    upstream.assertPlayedOut();
    expect(logger.warnings).to.have.length(1);
  });

  it('is not stopped by accounts whose tokens cannot be had', async () => {
    const failures = Array.from({ length: 12 }, () => {
      const failure = fault('connection-failed', { retryable: true });
      failure.isOfCredential = true;
      return failure;
    });
    const { provider } = resilient([...failures, answer('Hi.')], { retry: { maxAttempts: 1 } });
    for (let request = 0; request < 12; request += 1)
      await thrownBy(provider.generate(request % 2 === 0 ? 'mallory' : 'eve', HI));
    expect((await provider.generate('ann', HI)).output_text).to.equal('Hi.');
  });

  it('is not spared by a routing rule because of the limit of one user’s own account', async () => {
    for (const isOfCredential of [true, undefined]) {
      const limited = fault('rate-limited');
      if (isOfCredential === true) limited.isOfCredential = true;
      const routeStats = new RouteStats();
      const { provider } = resilient([limited], { routeStats, retry: { maxAttempts: 1 } });
      await thrownBy(provider.generate('mallory', { ...HI, route: { name: 'fast', targets: ['scripted/m'] } }));
      expect(routeStats.isPaused('fast', 'scripted/m')).to.equal(isOfCredential !== true);
    }
  });
});
