/** Budgets around every call of a manager: what is refused, what is charged, what is given back. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../../../../imports/business/ai/application/services/LLMManager';
import { BudgetedProvider } from '../../../../../../imports/business/ai/application/services/budgets/BudgetedProvider';
import type { ResilientProvider } from '../../../../../../imports/business/ai/application/services/routing/ResilientProvider';
import { BudgetReservations } from '../../../../../../imports/business/ai/application/services/budgets/BudgetReservations';
import type { BudgetReservationsOptions } from '../../../../../../imports/business/ai/application/services/budgets/BudgetReservations';
import type {
  Amount,
  BudgetLimits,
  UsedAmount,
} from '../../../../../../imports/business/ai/domain/entities/BudgetAccount';
import { EventStream } from '../../../../../../imports/business/ai/domain/EventStream';
import type { EventBatch, EventBatches } from '../../../../../../imports/business/ai/domain/EventBatches';
import {
  BudgetError,
  LLMConnectionError,
  LLMRateLimitError,
  LLMServerError,
  LLMStreamError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { BudgetStore } from '../../../../../../imports/business/ai/domain/interfaces/BudgetStore';
import type { GenerateOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import { MemoryBudgetStore } from '../../../../../../imports/business/ai/infrastructure/persistence/budgets/MemoryBudgetStore';
import { MemoryRunStore } from '../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { deferred } from '../../../../../support/deferred';
import { failure } from '../../../../../support/failure';
import { RecordingLogger } from '../../../../../support/RecordingLogger';
import { answer, calling, eventsOf, usage } from '../../../../../../imports/testing/responses';
import { ScriptedProvider, untilAborted } from '../../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../../imports/testing/ScriptedProvider';

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
) {
  const upstream = new ScriptedProvider(script, { capabilities: hasPrice ? { price: PRICE } : {} });
  const tools = new ToolRegistry().register({ name: 'clock', execute: () => 'noon' });
  const logger = new RecordingLogger();
  const clock = { now: NOON };
  const budgets = new BudgetReservations({
    store,
    subjectOf: ({ userId }) => Promise.resolve({ id: userId, limits, name: 'your budget' }),
    now: () => clock.now,
    lease: 60_000,
    logger,
  });
  const manager = new LLMManager({
    provider: upstream,
    toolExecutor: tools,
    decorate: (router) => new BudgetedProvider(router, [budgets]),
    sleep: async () => undefined,
  });
  const used = async (): Promise<Amount & { holds: number }> => {
    const account = (await store.find('ann'))?.account;
    return { ...(account?.used.day ?? { calls: 0, tokens: 0, money: 0 }), holds: account?.holds.length ?? 0 };
  };
  return { upstream, manager, tools, store, used, logger, clock };
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

  it('reserves what a call may need until its usage is known', async () => {
    const { manager, upstream } = setUp([answer('x')], { day: { tokens: 5_000 } });
    await failure(manager.generate('ann', ask({ max_output_tokens: 5_000 })));
    await failure(manager.generate('ann', ask({ instructions: 'x'.repeat(20_000) })));
    expect(upstream.calls).to.have.length(0);
    await manager.generate('ann', ask());
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
    const reservation = { settle, release: () => Promise.reject(new Error('released')) };
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
