/** Budgets around every call of a manager: what is refused, what is charged, what is given back. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../../imports/business/ai/application/services/LLMManager';
import { BudgetedProvider } from '../../../../imports/business/limits/application/BudgetedProvider';
import type { ResilientProvider } from '../../../../imports/business/ai/application/services/routing/ResilientProvider';
import { BudgetReservations } from '../../../../imports/business/limits/application/BudgetReservations';
import type { BudgetReservationsOptions } from '../../../../imports/business/limits/application/BudgetReservations';
import type { Amount, BudgetLimits, UsedAmount } from '../../../../imports/business/ai/domain/entities/BudgetAccount';
import { EventStream } from '../../../../imports/business/ai/domain/events/EventStream';
import type { EventBatch, EventBatches } from '../../../../imports/business/ai/domain/events/EventBatches';
import {
  BudgetError,
  LLMConnectionError,
  LLMRateLimitError,
  LLMServerError,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { BudgetStore } from '../../../../imports/business/limits/domain/BudgetStore';
import type { GenerateOptions } from '../../../../imports/business/ai/domain/types/LLMTypes';
import type { RelayResponse } from '../../../../imports/business/ai/domain/types/RelayTypes';
import { MemoryBudgetStore } from '../../../../imports/business/limits/infrastructure/MemoryBudgetStore';
import { MemoryRunStore } from '../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { deferred } from '../../../support/deferred';
import { failure } from '../../../support/failure';
import { RecordingLogger } from '../../../support/RecordingLogger';
import { answer, calling, eventsOf, usage } from '../../../../imports/testing/responses';
import { ScriptedProvider, untilAborted } from '../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../imports/testing/ScriptedProvider';

const NOON = Date.UTC(2026, 10, 22, 12);
const PRICE = { input: 10, output: 100, asOf: '2026-11-01' };

const limitedTo =
  (limits: BudgetLimits): BudgetReservationsOptions['subjectOf'] =>
  ({ userId }) =>
    Promise.resolve({ id: userId, limits, name: 'your budget' });

function setUp(
  script: readonly ScriptedStep[],
  limits: BudgetLimits | undefined,
  store: BudgetStore = new MemoryBudgetStore(),
  hasPrice = true,
  lease = 60_000,
) {
  const upstream = new ScriptedProvider(script, { capabilities: hasPrice ? { price: PRICE } : {} });
  const tools = new ToolRegistry().register({ name: 'clock', execute: () => 'noon' });
  const logger = new RecordingLogger();
  const clock = { now: NOON };
  const budgets = new BudgetReservations({
    store,
    subjectOf: ({ userId }) => Promise.resolve({ id: userId, limits, name: 'your budget' }),
    now: () => clock.now,
    lease,
    logger,
  });
  const manager = new LLMManager({
    provider: upstream,
    toolExecutor: tools,
    decorate: (router) => new BudgetedProvider(router, [budgets], logger),
    sleep: async () => undefined,
  });
  const used = async (): Promise<Amount & { holds: number }> => {
    const account = (await store.find('ann'))?.account;
    return { ...(account?.used.day ?? { calls: 0, tokens: 0, money: 0 }), holds: account?.holds.length ?? 0 };
  };
  return { upstream, manager, tools, store, used, logger, clock };
}

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
}
const ask = (options: Partial<GenerateOptions> = {}): GenerateOptions => ({ input: 'Hello?', ...options });
async function readAll(events: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _event of events) count += 1;
  return count;
}

describe('a manager with budgets', () => {
  it('rejects a call that would exceed a limit before anything is sent, with the time until the budget renews', async () => {
    const { upstream, manager } = setUp([answer('1'), answer('2')], { day: { calls: 2 } });
    await manager.generate('ann', ask());
    await manager.generate('ann', ask());
    const thrown = await failure(manager.generate('ann', ask()));
    expect(thrown).to.be.instanceOf(BudgetError);
    const message =
      'The next call would exceed your budget of 2 model calls per day: 2 are used. It resets at 2026-11-23T00:00:00.000Z.';
    expect(thrown).to.include({ code: 'budget-exceeded', retryable: false, retryAfterMs: 43_200_000, message });
    expect(upstream.calls).to.have.length(2);
    const one = setUp([answer('1')], { day: { calls: 1 } });
    await one.manager.generate('ann', ask());
    expect(await failure(one.manager.generate('ann', ask())))
      .to.have.property('message')
      .that.contains('budget of 1 model call per day');
  });

  it('charges the reported usage at the model’s price', async () => {
    const { manager, used } = setUp([answer('x', { usage: usage(30, 20) })], { day: { money: 5 } });
    await manager.generate('ann', ask());
    expect(await used()).to.deep.equal({ calls: 1, tokens: 50, money: (30 * 10 + 20 * 100) / 1_000_000, holds: 0 });
  });

  it('charges what the response cost: at the vendor’s word, or else at the price of the model that served it', async () => {
    const billed = answer('x', { usage: usage(30, 20) });
    const { manager, used } = setUp([{ ...billed, vendor: { ...billed.vendor, cost: 0.25 } }], { day: { money: 5 } });
    await manager.generate('ann', ask());
    expect((await used()).money).to.equal(0.25);

    const store = new MemoryBudgetStore();
    const logger = new RecordingLogger();
    const down = new ScriptedProvider([new LLMRateLimitError('no', { retryable: false })], {
      capabilities: { price: PRICE },
    });
    const cheap = { input: 1, output: 2, asOf: '2026-11-01' };
    const spare = new ScriptedProvider([answer('x', { usage: usage(30, 20) })], {
      name: 'spare',
      capabilities: { price: cheap },
    });
    const budgets = new BudgetReservations({
      store,
      subjectOf: limitedTo({ day: { money: 5 } }),
      now: () => NOON,
      logger,
    });
    const withFallback = new LLMManager({
      provider: down,
      fallback: [spare],
      decorate: (router) => new BudgetedProvider(router, [budgets], logger),
      logger,
    });
    await withFallback.generate('ann', ask());
    expect((await store.find('ann'))?.account.used.day.money).to.equal((30 * 1 + 20 * 2) / 1_000_000);
  });

  it('charges a response without a price at the requested model’s, and warns of it once', async () => {
    const store = new MemoryBudgetStore();
    const logger = new RecordingLogger();
    const failing = new LLMRateLimitError('no', { retryable: false });
    const down = new ScriptedProvider([failing, failing], { capabilities: { price: PRICE } });
    const free = () => answer('x', { usage: usage(30, 20), model: 'house' });
    const spare = new ScriptedProvider([free(), free()], { name: 'spare' });
    const budgets = new BudgetReservations({
      store,
      subjectOf: limitedTo({ day: { money: 5 } }),
      now: () => NOON,
      logger,
    });
    const manager = new LLMManager({
      provider: down,
      fallback: [spare],
      decorate: (router) => new BudgetedProvider(router, [budgets], logger),
      logger: new RecordingLogger(),
    });
    await manager.generate('ann', ask());
    await manager.generate('ann', ask());
    const money = (2 * (30 * 10 + 20 * 100)) / 1_000_000;
    expect((await store.find('ann'))?.account.used.day.money).to.be.closeTo(money, 1e-12);
    expect(logger.warnings).to.deep.equal([
      'The cost of a model call is unknown (no price for model "house"), so a budget in US dollars charges it at the ' +
        'price of "scripted".',
    ]);
  });

  it('charges what is known of a cost, counts the call as unpriced, and warns of the rest', async () => {
    const partly = answer('x', { usage: usage(30, 20) });
    const unpriced = 'no price for the tool "shell" of model "house"';
    const store = new MemoryBudgetStore();
    const script = [{ ...partly, vendor: { ...partly.vendor, cost: 0.25, unpriced } }];
    const { manager, logger } = setUp(script, { day: { money: 5 } }, store);
    await manager.generate('ann', ask());
    expect((await store.find('ann'))?.account.used.day).to.deep.include({ money: 0.25, unpriced: 1 });
    expect(logger.warnings).to.deep.equal([
      `A part of the cost of a model call is unknown (${unpriced}), so budgets in US dollars do not charge it.`,
    ]);
  });

  it('admits a call that may need more than is left, while no other is in progress', async () => {
    const { manager, upstream } = setUp([answer('x')], { day: { tokens: 50 } });
    await manager.generate('ann', ask({ max_output_tokens: 1_000_000 }));
    expect(upstream.calls).to.have.length(1);
  });

  const LONG = 5_000;
  for (const [what, limits, allowed] of [
    ['tokens', { day: { tokens: 12_000 } }, 12_000 + LONG + 100],
    ['US dollars', { month: { money: 1 } }, 12_000],
  ] as const)
    it(`is not passed by more than one call when calls without limits of their own run at once, in ${what}`, async () => {
      const script = Array.from({ length: 40 }, () => answer('x', { usage: usage(100, LONG) }));
      const { manager, used } = setUp(script, limits);
      await Promise.allSettled(script.map(() => manager.generate('ann', ask())));
      const { tokens, calls, holds } = await used();
      expect(calls).to.be.above(0);
      expect(tokens).to.be.at.most(allowed);
      expect(holds).to.equal(0);
    });

  it('reserves the tools, the instructions and the schema with the input, and the model’s maximal output', async () => {
    const { manager, store } = setUp([untilAborted, untilAborted, untilAborted], { day: { tokens: 10_000_000 } });
    const controller = new AbortController();
    const { signal } = controller;
    const description = 'x'.repeat(40_000);
    const tool = { type: 'function', name: 'clock', description, parameters: { type: 'object' } } as const;
    const schema = { type: 'object', description };
    const asked = [
      ask({ signal, max_output_tokens: 7 }),
      ask({ signal, instructions: description, max_output_tokens: 7 }),
      ask({ signal, tools: [tool], response_format: { type: 'json_schema', schema } }),
    ].map((options) => failure(manager.generate('ann', options)));
    let holds: readonly Amount[] = [];
    while (holds.length < 3) {
      await new Promise(setImmediate);
      holds = (await store.find('ann'))?.account.holds ?? [];
    }
    const [plain = 0, instructed = 0, tooled = 0] = holds.map(({ tokens }) => tokens).sort((a, b) => a - b);
    expect(plain).to.be.within(8, 50);
    expect(instructed - plain).to.equal(10_000);
    expect(tooled).to.be.above(20_000 + 16_000);
    controller.abort(new Error('enough'));
    await Promise.all(asked);
  });

  it('reserves the whole context for a conversation or a file that the vendor has', async () => {
    const script = [untilAborted, untilAborted];
    const { manager, store } = setUp(script, { day: { tokens: 10_000_000 } });
    const { signal, abort } = abortable();
    const file = { type: 'message', role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] } as const;
    const asked = [ask({ signal, previous_response_id: 'resp_1' }), ask({ signal, input: [file] })].map((options) =>
      failure(manager.generate('ann', { ...options, max_output_tokens: 7 })),
    );
    let holds: readonly Amount[] = [];
    while (holds.length < 2) {
      await new Promise(setImmediate);
      holds = (await store.find('ann'))?.account.holds ?? [];
    }
    for (const { tokens } of holds) expect(tokens).to.equal(100_000 + 7);
    abort();
    await Promise.all(asked);
  });

  it('says that calls in progress hold the rest, and when their reservations end unless they are renewed', async () => {
    const { manager } = setUp([untilAborted], { day: { tokens: 1_000 } });
    const { signal, abort } = abortable();
    const running = failure(manager.generate('ann', ask({ signal })));
    const refused = await failure(manager.generate('ann', ask()));
    expect(refused).to.be.instanceOf(BudgetError);
    expect(refused).to.have.property('retryAfterMs', 60_000);
    expect((refused as Error).message).to.match(
      /^The next call would exceed your budget of 1000 tokens per day: 0 are used, 16\d{3} are reserved by calls in progress\. Wait for one/,
    );
    abort();
    await running;
  });

  it('renews the reservations of calls in progress, and leaves those of a dead process to expire', async () => {
    const { manager, store, clock } = setUp([untilAborted], { day: { calls: 1 } }, undefined, true, 15);
    const { signal, abort } = abortable();
    const running = failure(manager.generate('ann', ask({ signal })));
    const until = async (): Promise<number> => (await store.find('ann'))?.account.holds[0]?.until ?? 0;
    while ((await until()) === 0) await new Promise(setImmediate);
    for (let renewal = 0; renewal < 3; renewal += 1) {
      clock.now += 10;
      while ((await until()) !== clock.now + 15) await new Promise(setImmediate);
    }
    expect(await failure(manager.generate('ann', ask())), 'after two leases').to.be.instanceOf(BudgetError);
    abort();
    await running;
    expect((await store.find('ann'))?.account.holds).to.deep.equal([]);
  });

  const WAYS: readonly (readonly [
    way: string,
    script: readonly ScriptedStep[],
    use: (manager: LLMManager, tools: ToolRegistry) => Promise<unknown>,
  ])[] = [
    ['text', [answer('x')], (manager) => manager.generateText('ann', 'Hello?')],
    [
      'a value',
      [answer('{"a":1}')],
      (manager) => manager.generateJSON('ann', 'Hello?', { type: 'object', properties: { a: { type: 'number' } } }),
    ],
    [
      'an answer after tools',
      [calling({ name: 'clock' }), answer('x')],
      (manager) => manager.generateWithTools('ann', 'Hello?', ['clock']),
    ],
    ['a stream', [eventsOf(answer('x'))], (manager) => readAll(manager.stream('ann', ask()))],
    [
      'a run',
      [calling({ name: 'clock' }), answer('x')],
      (manager, tools) =>
        new AgenticLoop({ provider: manager, toolExecutor: tools }).execute('ann', {
          model: 'scripted',
          input: 'Hello?',
          tools: ['clock'],
        }),
    ],
  ];
  for (const [way, script, use] of WAYS) {
    it(`counts each call of ${way}`, async () => {
      const { manager, tools, used, upstream } = setUp(script, { day: { calls: 10 } });
      await use(manager, tools);
      expect(await used()).to.include({ calls: script.length, tokens: 15 * script.length, holds: 0 });
      expect(upstream.calls).to.have.length(script.length);
    });

    it(`sends no call of ${way} when nothing is left`, async () => {
      const { manager, tools, upstream } = setUp(script, { month: { calls: 0 } });
      expect(await failure(use(manager, tools))).to.be.instanceOf(BudgetError);
      expect(upstream.calls).to.have.length(0);
    });
  }

  it('releases the reservation of a call that cost nothing', async () => {
    for (const error of [
      new LLMRateLimitError('slow down', { retryable: false }),
      new LLMConnectionError('no', { retryable: false }),
    ]) {
      const { manager, used } = setUp([error], { day: { calls: 1 } });
      expect(await failure(manager.generate('ann', ask()))).to.equal(error);
      expect(await used()).to.deep.equal({ calls: 0, tokens: 0, money: 0, holds: 0 });
    }
  });

  it('counts a retried call once', async () => {
    const { manager, used } = setUp([new LLMServerError('oops', { status: 500 }), answer('x')], { day: { calls: 1 } });
    await manager.generate('ann', ask());
    expect(await used()).to.include({ calls: 1, holds: 0 });
  });

  it('charges what was billed of attempts before the one that succeeded', async () => {
    for (const isStream of [false, true]) {
      const billed = new LLMServerError('oops', { retryable: true, response: answer('', { usage: usage(7, 3) }) });
      const { manager, used } = setUp([billed, answer('x', { usage: usage(30, 20) })], { day: { calls: 5 } });
      await (isStream ? readAll(manager.stream('ann', ask())) : manager.generate('ann', ask()));
      expect(await used(), `stream: ${isStream}`).to.include({ calls: 1, tokens: 60, holds: 0 });
    }
  });

  it('charges what was billed before a call failed at last, with retries and with fallbacks, each once', async () => {
    const billed = (input: number, retryable: boolean): LLMServerError =>
      new LLMServerError('oops', { retryable, response: answer('', { usage: usage(input, 3) }) });
    const read = async (calls: LLMManager, isStream: boolean): Promise<void> => {
      await failure(isStream ? readAll(calls.stream('ann', ask())) : calls.generate('ann', ask()));
    };
    for (const isStream of [false, true]) {
      const retried = setUp([billed(7, true), new LLMServerError('down', { retryable: false })], { day: { calls: 5 } });
      await read(retried.manager, isStream);
      expect(await retried.used(), `stream: ${isStream}`).to.include({ calls: 1, tokens: 10, holds: 0 });

      const twice = setUp([billed(7, true), billed(20, false)], { day: { calls: 5 } });
      await read(twice.manager, isStream);
      expect(await twice.used(), `stream: ${isStream}`).to.include({ calls: 1, tokens: 33, holds: 0 });

      const store = new MemoryBudgetStore();
      const logger = new RecordingLogger();
      const budgets = new BudgetReservations({
        store,
        subjectOf: limitedTo({ day: { calls: 5 } }),
        now: () => NOON,
        logger,
      });
      const provider = new ScriptedProvider([billed(7, false)], { capabilities: { price: PRICE } });
      const spare = new ScriptedProvider([billed(20, false)], { name: 'spare', capabilities: { price: PRICE } });
      const decorate = (router: ResilientProvider): BudgetedProvider => new BudgetedProvider(router, [budgets], logger);
      await read(new LLMManager({ provider, fallback: [spare], decorate, logger }), isStream);
      const { used } = (await store.find('ann'))?.account ?? {};
      expect(used?.day, `stream: ${isStream}`).to.include({ calls: 1, tokens: 33 });
    }
  });

  it('charges a failed call that its vendor billed', async () => {
    const billed = new LLMServerError('oops', { retryable: false, response: answer('', { usage: usage(7, 3) }) });
    const { manager, used } = setUp([billed], { day: { calls: 5 } });
    await failure(manager.generate('ann', ask()));
    expect(await used()).to.include({ calls: 1, tokens: 10, holds: 0 });
  });

  it('charges an estimate for a call that was cut off', async () => {
    const controller = new AbortController();
    const { manager, used } = setUp([untilAborted], { day: { calls: 5 } });
    const asked = failure(manager.generate('ann', ask({ input: 'x'.repeat(400), signal: controller.signal })));
    controller.abort(new Error('enough'));
    await asked;
    const { calls, tokens, holds } = await used();
    expect({ calls, holds }).to.deep.equal({ calls: 1, holds: 0 });
    expect(tokens).to.be.above(99);
  });

  it('charges what was reserved for a call that its caller leaves, however early, or gives no more time', async () => {
    const reserved = { max_output_tokens: 1_000, input: 'x'.repeat(400) };
    const events = eventsOf(answer('x'.repeat(400)));
    for (const read of [1, events.length - 2]) {
      const { manager, used } = setUp([events], { day: { calls: 5 } });
      const stream = manager.stream('ann', ask(reserved))[Symbol.asyncIterator]();
      for (let at = 0; at < read; at += 1) await stream.next();
      await stream.return?.();
      expect((await used()).tokens, `after ${read} events`).to.be.within(1_100, 1_150);
    }
    const { manager, used } = setUp([untilAborted, new LLMTimeoutError('late')], { day: { calls: 5 } });
    const { signal, abort } = abortable();
    const asked = failure(manager.generate('ann', ask({ ...reserved, signal })));
    while ((await used()).holds === 0) await new Promise(setImmediate);
    abort();
    await asked;
    expect((await used()).tokens).to.be.within(1_100, 1_150);
    await failure(manager.generate('ann', ask({ ...reserved, maxRetryTime: 0 })));
    expect((await used()).tokens).to.be.within(2_200, 2_300);
  });

  it('charges nothing for a call that is left while it waits after a refusal', async () => {
    const { signal, abort } = abortable();
    const { manager, used } = setUp([new LLMServerError('down', { retryable: true })], { day: { calls: 5 } });
    await failure(manager.generate('ann', ask({ signal, onRetry: abort })));
    expect(await used()).to.include({ calls: 0, tokens: 0, holds: 0 });
  });

  it('charges the tools and instructions of a stream that is left before its usage is known', async () => {
    const { manager, used } = setUp([eventsOf(answer('a long answer indeed'))], { day: { calls: 5 } });
    const instructions = 'x'.repeat(4_000);
    for await (const event of manager.stream('ann', ask({ instructions, max_output_tokens: 7 })))
      if (event.type === 'response.output_text.delta') break;
    expect((await used()).tokens).to.be.within(1_000, 1_100);
  });

  it('charges the conversation that a stream continued and left, as far as its length is known', async () => {
    const first = answer('x', { usage: usage(5_000, 1_000) });
    const { manager, used } = setUp([first, eventsOf(answer('y'))], { day: { calls: 5 } });
    const { id } = await manager.generate('ann', ask());
    for await (const event of manager.stream('ann', ask({ previous_response_id: id, max_output_tokens: 7 })))
      if (event.type === 'response.output_text.delta') break;
    expect((await used()).tokens).to.be.within(12_000, 12_100);
  });

  it('knows how long a conversation is, however many another user has', async () => {
    const first = answer('x', { id: 'mine', usage: usage(5_000, 1_000) });
    const others = Array.from({ length: 10_050 }, (_, index) => answer('x', { id: `other-${index}` }));
    const { manager, used } = setUp([first, ...others, eventsOf(answer('y'))], { day: { calls: 20_000 } });
    await manager.generate('ann', ask());
    for (const _ of others) await manager.generate('eve', ask());
    for await (const event of manager.stream('ann', ask({ previous_response_id: 'mine', max_output_tokens: 7 })))
      if (event.type === 'response.output_text.delta') break;
    expect((await used()).tokens).to.be.within(12_000, 12_100);
  });

  it('charges images whose client left before they came, as many as were ordered', async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('data: {"type":"image_generation.partial_image"}\n\n');
      await Promise.resolve();
      yield Buffer.from('data: {"usage":{"input_tokens":3,"output_tokens":4}}\n\n');
    }
    const relayed = (): RelayResponse => ({
      status: 200,
      header: () => null,
      requestId: undefined,
      passthroughHeaders: {},
      text: () => Promise.resolve(''),
      body: body(),
    });
    const store = new MemoryBudgetStore();
    const budgets = new BudgetReservations({ store, subjectOf: limitedTo({ day: { calls: 5 } }), now: () => NOON });
    const upstream = new ScriptedProvider([], { capabilities: { price: PRICE } });
    const relaying = Object.assign(upstream, { defaultModel: 'm', relay: () => Promise.resolve(relayed()) });
    const provider = new BudgetedProvider(relaying, [budgets]);
    const used = async (): Promise<number | undefined> => (await store.find('ann'))?.account.used.day.tokens;
    const request = {
      method: 'post',
      path: '/images/generations',
      body: JSON.stringify({ prompt: 'x', n: 3 }),
    } as const;
    for await (const _bytes of (await provider.relay('ann', request)).body) break;
    expect(await used()).to.be.within(3 * 6_240, 3 * 6_240 + 20);
    await readAll((await provider.relay('ann', request)).body);
    expect(await used()).to.be.within(3 * 6_240 + 7, 3 * 6_240 + 27);
  });

  it('counts an image as an image, not by the length of its data', async () => {
    const { manager, used } = setUp([eventsOf(answer('x'))], { day: { calls: 5 } });
    const image_url = `data:image/png;base64,${'A'.repeat(400_000)}`;
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url }] }] as const;
    for await (const event of manager.stream('ann', ask({ input, max_output_tokens: 7 })))
      if (event.type === 'response.output_text.delta') break;
    expect((await used()).tokens).to.be.within(3_000, 3_200);
  });

  it('passes on what arrives together with the end of a stream before it charges, and the end after that', async () => {
    const events = eventsOf(answer('x'));
    const upstream = Object.assign(new ScriptedProvider([]), {
      defaultModel: 'm',
      stream: () => EventStream.opening(() => Promise.resolve(batchesOf([events]))),
    });
    const charging = deferred();
    const charges: UsedAmount[] = [];
    const settle = (amount: UsedAmount): Promise<void> => {
      charges.push(amount);
      return charging.promise;
    };
    const reservation = { settle, leave: settle, release: () => Promise.reject(new Error('released')) };
    const provider = new BudgetedProvider(upstream, [{ admit: () => Promise.resolve(reservation) }]);
    const stream = provider.stream('ann', ask());
    const types: string[] = [];
    for (const { type } of events.slice(0, -1)) {
      expect((await stream.next()).value).to.include({ type });
      types.push(type);
    }
    expect(types).to.include('response.output_text.delta');
    expect(charges).to.deep.equal([]);
    const last = stream.next();
    charging.resolve();
    expect((await last).value).to.include({ type: 'response.completed' });
    expect(await stream.next()).to.deep.equal({ value: undefined, done: true });
    expect(charges).to.have.length(1);
  });

  it('charges the output that arrived of an abandoned stream, and of a broken one', async () => {
    const events = eventsOf(answer('a long answer indeed'));
    const left = setUp([events], { day: { calls: 5 } });
    for await (const event of left.manager.stream('ann', ask())) if (event.type === 'response.output_text.delta') break;
    expect(await left.used()).to.include({ calls: 1, holds: 0 });

    const broken = setUp([[...events.slice(0, -1), new LLMStreamError('cut')]], { day: { calls: 5 } });
    await failure(readAll(broken.manager.stream('ann', ask())));
    const { calls, tokens, holds } = await broken.used();
    expect({ calls, holds }).to.deep.equal({ calls: 1, holds: 0 });
    expect(tokens).to.be.above(0);
  });

  it('releases the reservation of a stream that never started', async () => {
    const { manager, used } = setUp([new LLMRateLimitError('slow down', { retryable: false })], { day: { calls: 5 } });
    await failure(readAll(manager.stream('ann', ask())));
    expect(await used()).to.deep.equal({ calls: 0, tokens: 0, money: 0, holds: 0 });
  });

  it('charges a repeated turn of a run once', async () => {
    const { manager, used, upstream } = setUp([answer('x'), answer('x')], { day: { calls: 1 } });
    const turn = { executionId: 'run-1', iteration: 1 };
    await manager.generate('ann', ask({ turn }));
    await manager.generate('ann', ask({ turn }));
    expect(upstream.calls).to.have.length(2);
    expect(await used()).to.include({ calls: 1, tokens: 15, holds: 0 });
    expect(await failure(manager.generate('ann', ask({ turn: { ...turn, iteration: 2 } })))).to.be.instanceOf(
      BudgetError,
    );
  });

  it('identifies the turns of stored runs', async () => {
    const { manager, tools, upstream, store } = setUp([calling({ name: 'clock' }), answer('x')], { day: { calls: 5 } });
    const loop = new AgenticLoop({ provider: manager, toolExecutor: tools, runStore: new MemoryRunStore() });
    await loop.execute('ann', { executionId: 'run-1', model: 'scripted', input: 'Hello?', tools: ['clock'] });
    expect(upstream.calls.map(({ options }) => options.turn)).to.deep.equal(
      [1, 2].map((iteration) => ({ executionId: 'run-1', iteration })),
    );
    expect(
      (await store.find('ann'))?.account.paid.map(({ executionId, iteration }) => `${executionId}/${iteration}`),
    ).to.deep.equal(['run-1/2']);
  });

  it('takes over the reservation of a turn whose process died', async () => {
    const store = new MemoryBudgetStore();
    const dead = setUp([untilAborted], { day: { calls: 1 } }, store);
    const turn = { executionId: 'run-1', iteration: 1 };
    void dead.manager.generate('ann', ask({ turn }));
    while (dead.upstream.calls.length === 0) await new Promise(setImmediate);
    const alive = setUp([answer('x')], { day: { calls: 1 } }, store);
    await alive.manager.generate('ann', ask({ turn }));
    expect(await alive.used()).to.include({ calls: 1, holds: 0 });
  });

  it('makes no call if the budget cannot be read', async () => {
    const store: BudgetStore = {
      find: () => Promise.reject(new LLMConnectionError('no database')),
      replace: () => Promise.resolve(false),
    };
    const { manager, upstream } = setUp([answer('x')], { day: { calls: 1 } }, store);
    expect(await failure(manager.generate('ann', ask()))).to.include({ code: 'connection-failed' });
    expect(upstream.calls).to.have.length(0);
  });

  it('returns a response whose usage could not be recorded', async () => {
    const inner = new MemoryBudgetStore();
    let writes = 0;
    const store: BudgetStore = {
      find: (userId) => inner.find(userId),
      replace: (account, revision) =>
        (writes += 1) > 1 ? Promise.reject(new Error('disk full')) : inner.replace(account, revision),
    };
    const { manager, logger } = setUp([answer('x')], { day: { calls: 1 } }, store);
    expect((await manager.generate('ann', ask())).output_text).to.equal('x');
    expect(logger.errors).to.deep.equal(['Could not record the usage of "ann".']);
  });

  it('rejects a call under a money budget for a model without a price', async () => {
    const { manager, upstream } = setUp([answer('x')], { month: { money: 1 } }, new MemoryBudgetStore(), false);
    expect(await failure(manager.generate('ann', ask()))).to.include({
      message: 'The price of the model "scripted" is unknown, so a budget in US dollars can\'t be enforced.',
    });
    expect(upstream.calls).to.have.length(0);
  });

  it('does not access the store for users without limits', async () => {
    const store: BudgetStore = {
      find: () => Promise.reject(new Error('never asked')),
      replace: () => Promise.resolve(false),
    };
    const { manager } = setUp([answer('x'), eventsOf(answer('y'))], undefined, store);
    await manager.generate('ann', ask());
    expect(await readAll(manager.stream('ann', ask()))).to.be.above(0);
  });
});

function batchesOf(batches: EventBatch[]): EventBatches {
  return { read: () => Promise.resolve(batches.shift()), close: () => Promise.resolve() };
}
