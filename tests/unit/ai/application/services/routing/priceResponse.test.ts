/** Who served a request and what it cost, on every response that passes the router. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../../../../imports/business/ai/application/services/LLMManager';
import { runOf } from '../../../../../../imports/business/ai/domain/entities/Run';
import { LLMRateLimitError, LLMServerError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ModelPrice } from '../../../../../../imports/business/ai/domain/types/ModelPrice';
import type { LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryRunStore } from '../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling, eventsOf, response, usage } from '../../../../../../imports/testing/responses';
import { ScriptedProvider, untilAborted } from '../../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../../imports/testing/ScriptedProvider';
import { failure } from '../../../../../support/failure';

const PRICES: Readonly<Record<string, ModelPrice>> = {
  cheap: { input: 1, output: 2, asOf: '2026-11-22' },
  dear: { input: 10, output: 100, serviceTiers: { half: 0.5 }, asOf: '2026-11-22' },
};

/** A provider whose models `cheap` and `dear` have prices; its default model is `cheap`. */
class PricedProvider extends ScriptedProvider {
  override getCapabilities(model = '') {
    const { price: _, ...capabilities } = super.getCapabilities();
    const price = PRICES[model === '' ? 'cheap' : model];
    return { ...capabilities, ...(price === undefined ? {} : { price }) };
  }
}

const priced = (script: readonly ScriptedStep[], name = 'main'): PricedProvider => new PricedProvider(script, { name });
const says = (model: string, input = 100, output = 10): LLMResponse =>
  answer('Hi.', { model, usage: usage(input, output) });
const costs = (input: number, output: number, { input: perInput, output: perOutput }: ModelPrice): number =>
  (input * perInput + output * perOutput) / 1_000_000;
const { cheap, dear } = PRICES as { cheap: ModelPrice; dear: ModelPrice };

describe('the cost of a response', () => {
  it('follows the model that responded, also if the request names none', async () => {
    const manager = new LLMManager({ provider: priced([says('dear')]) });
    const { vendor } = await manager.generate('ann', { input: 'Hi' });
    expect(vendor)
      .to.include({ providerId: 'main', cost: costs(100, 10, dear) })
      .and.not.have.property('unpriced');
  });

  it('follows the requested model if the one that responded has no price', async () => {
    const manager = new LLMManager({ provider: priced([says('dear-deployment')]) });
    const { vendor } = await manager.generate('ann', { input: 'Hi', model: 'main/dear' });
    expect(vendor.cost).to.equal(costs(100, 10, dear));
  });

  it('is that of the fallback which served the request', async () => {
    const main = priced([new LLMRateLimitError('slow down', { retryable: false })]);
    const manager = new LLMManager({ provider: main, fallback: [priced([says('dear')], 'spare')] });
    const { vendor } = await manager.generate('ann', { input: 'Hi', model: 'main/cheap' });
    expect(vendor).to.include({ providerId: 'spare', cost: costs(100, 10, dear) });
  });

  it('follows the service tier that the response names', async () => {
    const tiered = (fields: object): LLMResponse => {
      const said = says('dear');
      return { ...said, vendor: { ...said.vendor, ...fields } };
    };
    const provider = priced([
      tiered({ fields: { service_tier: 'default' } }),
      tiered({ fields: { service_tier: 'half' } }),
      tiered({ usage: { service_tier: 'half' } }),
      tiered({ fields: { service_tier: 'scale' } }),
    ]);
    const manager = new LLMManager({ provider });
    const cost = costs(100, 10, dear);
    for (const expected of [{ cost }, { cost: cost / 2 }, { cost: cost / 2 }]) {
      expect((await manager.generate('ann', { input: 'Hi' })).vendor).to.include(expected);
    }
    const { vendor } = await manager.generate('ann', { input: 'Hi' });
    expect(vendor.unpriced).to.equal('no price for service tier "scale" of model "dear"');
    expect(vendor).to.not.have.property('cost');
  });

  it('is on the last event of a stream', async () => {
    const manager = new LLMManager({ provider: priced([eventsOf(says('dear'))]) });
    const costsSeen: unknown[] = [];
    for await (const event of manager.stream('ann', { input: 'Hi' }))
      if (event.type === 'response.completed') costsSeen.push(event.response.vendor.cost);
    expect(costsSeen).to.deep.equal([costs(100, 10, dear)]);
  });

  it('is what the vendor reports, if it does', async () => {
    const reported = says('dear');
    const provider = priced([{ ...reported, vendor: { ...reported.vendor, cost: 0.25 } }]);
    const { vendor } = await new LLMManager({ provider }).generate('ann', { input: 'Hi' });
    expect(vendor).to.include({ providerId: 'main', cost: 0.25 });
  });

  it('is unknown for a reason', async () => {
    const manager = new LLMManager({ provider: priced([says('free'), says('dear', 0, 0)]) });
    const options = { input: 'Hi', model: 'main/other' };
    expect((await manager.generate('ann', options)).vendor.unpriced).to.equal('no price for model "free"');
    expect((await manager.generate('ann', options)).vendor.unpriced).to.equal('usage not reported');
  });

  it('is on the response of an error, and on a discarded attempt', async () => {
    const failed = (model: string) =>
      new LLMServerError('failed', { response: response({ status: 'failed', model, usage: usage(50, 0) }) });
    const last = failed('dear');
    const manager = new LLMManager({
      provider: priced([failed('cheap'), last]),
      retry: { maxAttempts: 2 },
      ...NO_WAIT,
    });
    const attempts: unknown[] = [];
    const onRetry = ({ cost, usage: used }: { cost?: number; usage?: { input_tokens: number } }): unknown =>
      attempts.push([cost, used?.input_tokens]);
    expect(await failure(manager.generate('ann', { input: 'Hi', onRetry }))).to.equal(last);
    expect(last.response?.vendor).to.include({ providerId: 'main', cost: costs(50, 0, dear) });
    expect(attempts).to.deep.equal([[costs(50, 0, cheap), 50]]);
  });
});

const NO_WAIT = { sleep: async () => undefined };

describe('the cost of a run', () => {
  const tools = new ToolRegistry().register({ name: 'clock', execute: () => 'noon' });
  const calls = (model: string): LLMResponse => ({ ...calling({ name: 'clock' }), model, usage: usage(100, 10) });

  it('is the sum of its calls, each at the price of its model, and names them', async () => {
    const runStore = new MemoryRunStore();
    const provider = new LLMManager({ provider: priced([calls('dear'), says('cheap', 300, 20)]) });
    const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore });
    const result = await loop.execute('ann', { model: 'main', input: 'Hi', tools: ['clock'] });
    const cost = costs(100, 10, dear) + costs(300, 20, cheap);
    expect(result).to.include({ cost }).and.not.have.property('unpriced');
    expect(result.models).to.deep.equal(['dear', 'cheap']);
    const stored = (await runStore.load(result.executionId))?.run;
    expect(stored).to.deep.include({ cost, models: ['dear', 'cheap'] });
  });

  it('leaves out the calls whose cost is unknown, and counts them with the reasons', async () => {
    const provider = priced([calls('free'), calls('dear'), says('free')]);
    const loop = new AgenticLoop({ provider, toolExecutor: tools });
    const result = await loop.execute('ann', { model: 'main', input: 'Hi', tools: ['clock'] });
    expect(result.cost).to.equal(costs(100, 10, dear));
    expect(result.unpriced).to.deep.equal({ calls: 2, models: ['free'], reasons: ['no price for model "free"'] });
  });

  it('includes what failed and what was discarded', async () => {
    const discarded = new LLMServerError('failed', {
      response: response({ status: 'failed', model: 'dear', usage: usage(50, 0) }),
    });
    const provider = new LLMManager({ provider: priced([discarded, says('cheap')]), ...NO_WAIT });
    const result = await new AgenticLoop({ provider, toolExecutor: tools }).execute('ann', {
      model: 'main',
      input: 'Hi',
    });
    expect(result.cost).to.be.closeTo(costs(50, 0, dear) + costs(100, 10, cheap), 1e-12);
    expect(result.usage.input_tokens).to.equal(150);
  });

  it('includes what every provider billed if all of them fail, each once', async () => {
    const failed = (input: number): LLMServerError =>
      new LLMServerError('failed', {
        retryable: false,
        response: response({ status: 'failed', model: 'dear', usage: usage(input, 0) }),
      });
    const provider = new LLMManager({ provider: priced([failed(50)]), fallback: [priced([failed(70)], 'spare')] });
    const loop = new AgenticLoop({ provider, toolExecutor: tools });
    const run = runOf(await failure(loop.execute('ann', { model: 'main', input: 'Hi' })));
    expect(run?.usage.input_tokens).to.equal(120);
    expect(run?.cost).to.be.closeTo(costs(50, 0, dear) + costs(70, 0, dear), 1e-12);
  });

  it('is estimated for a call that was cut off', async () => {
    const loop = new AgenticLoop({ provider: priced([untilAborted]), toolExecutor: tools, runTimeout: 20 });
    const run = runOf(await failure(loop.execute('ann', { model: 'main', input: 'x'.repeat(4_000) })));
    expect(run?.usage.estimated).to.equal(true);
    expect(run?.cost)
      .to.equal(costs(run?.usage.input_tokens ?? 0, 0, cheap))
      .and.be.above(0);
  });

  it('counts against the budget of the run', async () => {
    const provider = priced([calls('dear'), says('cheap')]);
    const loop = new AgenticLoop({ provider, toolExecutor: tools });
    const money = costs(100, 10, dear);
    const thrown = await failure(
      loop.execute('ann', { model: 'main', input: 'Hi', tools: ['clock'], budget: { money } }),
    );
    expect(thrown).to.have.property('code', 'budget-exceeded');
    expect(provider.calls).to.have.length(1);
  });
});
