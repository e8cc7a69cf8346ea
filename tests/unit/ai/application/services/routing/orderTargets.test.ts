import { expect } from 'chai';
import { LLMRateLimitError, LLMTimeoutError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { RoutingRule } from '../../../../../../imports/business/ai/domain/entities/RoutingRule';
import { orderTargets } from '../../../../../../imports/business/ai/application/services/routing/orderTargets';
import type { OrderContext } from '../../../../../../imports/business/ai/application/services/routing/orderTargets';
import { RouteStats } from '../../../../../../imports/business/ai/application/services/routing/RouteStats';

/** Uniform, and the same in every run. */
function createRandom(seed = 20261122): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function ruleOf(strategy: RoutingRule['strategy'], weights: Readonly<Record<string, number>>): RoutingRule {
  const targets = Object.entries(weights).map(([model, weight]) => ({ model, weight }));
  return { name: 'fast', targets, strategy, enabled: true };
}

const named = (name: string) => ({ userId: 'ann', name });

describe('The order of a routing rule’s targets', () => {
  let now: number;
  let stats: RouteStats;
  let random: () => number;
  beforeEach(() => {
    now = 0;
    stats = new RouteStats(() => now);
    random = createRandom();
  });

  const order = (rule: RoutingRule, context: Partial<OrderContext> = {}): readonly string[] =>
    orderTargets(rule, rule.targets, { userId: 'ann', stats, random, kind: 'stream', ...context }).map(
      ({ model }) => model,
    );
  const shares = (
    draws: number,
    rule: RoutingRule,
    context: (draw: number) => Partial<OrderContext> = () => ({}),
  ): ReadonlyMap<string, number> => {
    const firsts = new Map<string, number>();
    for (let draw = 0; draw < draws; draw += 1) {
      const [first = ''] = order(rule, context(draw));
      firsts.set(first, (firsts.get(first) ?? 0) + 1 / draws);
    }
    return firsts;
  };

  it('is that of the list for fallback', () => {
    expect(order(ruleOf('fallback', { b: 1, a: 5, c: 2 }))).to.deep.equal(['b', 'a', 'c']);
  });

  it('starts in proportion to the weights', () => {
    const firsts = shares(20_000, ruleOf('weighted', { a: 7, b: 2, c: 1, never: 0 }));
    expect(firsts.get('a')).to.be.closeTo(0.7, 0.01);
    expect(firsts.get('b')).to.be.closeTo(0.2, 0.01);
    expect(firsts.get('c')).to.be.closeTo(0.1, 0.01);
    expect(firsts.has('never')).to.equal(false);
  });

  it('has every target once, those without weight last', () => {
    for (let draw = 0; draw < 100; draw += 1) {
      const models = order(ruleOf('weighted', { never: 0, a: 1, b: 3 }));
      expect([...models].sort()).to.deep.equal(['a', 'b', 'never']);
      expect(models.at(-1)).to.equal('never');
    }
  });

  it('is the same for every request of a conversation, in proportion over all conversations', () => {
    const rule = ruleOf('weighted', { a: 3, b: 1 });
    const firsts = shares(10_000, rule, (draw) => ({ conversation: named(`key ${draw}`) }));
    expect(firsts.get('a')).to.be.closeTo(0.75, 0.02);
    const other = createRandom(1);
    for (let draw = 0; draw < 100; draw += 1)
      expect(order(rule, { conversation: named(`key ${draw}`) })).to.deep.equal(
        order(rule, { conversation: named(`key ${draw}`), random: other }),
      );
  });

  it('moves only the conversations of a target that is gone', () => {
    const all = ruleOf('weighted', { a: 1, b: 1, c: 1 });
    const rest = ruleOf('weighted', { a: 1, b: 1 });
    for (let draw = 0; draw < 300; draw += 1) {
      const conversation = named(`key ${draw}`);
      const [before, second] = order(all, { conversation });
      expect(order(rest, { conversation })[0]).to.equal(before === 'c' ? second : before);
    }
  });

  it('measures every target first, then prefers the fastest', () => {
    const rule = ruleOf('latency', { slow: 1, fast: 1 });
    const [first = ''] = order(rule);
    stats.succeeded('fast', first, 'stream', 500);
    const [second = ''] = order(rule);
    expect(second).to.not.equal(first);
    stats.succeeded('fast', 'slow', 'stream', 900);
    stats.succeeded('fast', 'fast', 'stream', 100);
    const firsts = shares(10_000, rule);
    // Half of the 5 % that measure again fall on the slow one.
    expect(firsts.get('slow')).to.be.closeTo(0.025, 0.006);
  });

  it('returns to a target that has become faster', () => {
    const rule = ruleOf('latency', { a: 1, b: 1 });
    stats.succeeded('fast', 'a', 'stream', 100);
    for (let call = 0; call < 10; call += 1) stats.succeeded('fast', 'b', 'stream', 2_000);
    const before = shares(2_000, rule).get('b') ?? 0;
    const latencies: Readonly<Record<string, number>> = { a: 100, b: 20 };
    for (let call = 0; call < 2_000; call += 1) {
      const [first = ''] = order(rule);
      stats.succeeded('fast', first, 'stream', latencies[first] ?? 0);
    }
    expect(before).to.be.below(0.05);
    expect(shares(2_000, rule).get('b')).to.be.above(0.95);
  });

  it('shares the requests among targets that are about as fast', () => {
    const rule = ruleOf('latency', { a: 1, b: 1, slow: 1 });
    stats.succeeded('fast', 'a', 'stream', 100);
    stats.succeeded('fast', 'b', 'stream', 115);
    stats.succeeded('fast', 'slow', 'stream', 500);
    const firsts = shares(5_000, rule);
    expect(firsts.get('a')).to.be.closeTo(0.49, 0.04);
    expect(firsts.get('b')).to.be.closeTo(0.49, 0.04);
  });

  it('leaves a conversation at its target unless that is much slower', () => {
    const RUN = named('run 1');
    const rule = ruleOf('latency', { a: 1, b: 1 });
    stats.succeeded('fast', 'a', 'stream', 100);
    stats.succeeded('fast', 'b', 'stream', 250, RUN);
    for (let draw = 0; draw < 50; draw += 1) expect(order(rule, { conversation: RUN })[0]).to.equal('b');
    for (let call = 0; call < 10; call += 1) stats.succeeded('fast', 'b', 'stream', 2_000, RUN);
    expect(shares(1_000, rule, () => ({ conversation: RUN })).get('a')).to.be.above(0.9);
  });

  it('keeps the conversations of one user at their targets while another starts very many', () => {
    const rule = ruleOf('latency', { a: 1, b: 1 });
    const mine = named('mine');
    stats.succeeded('fast', 'a', 'stream', 100);
    stats.succeeded('fast', 'b', 'stream', 250, mine);
    for (let count = 0; count < 11_000; count += 1)
      stats.succeeded('fast', 'a', 'stream', 100, { userId: 'eve', name: `run ${count}` });
    for (let draw = 0; draw < 50; draw += 1) expect(order(rule, { conversation: mine })[0]).to.equal('b');
    stats.succeeded('fast', 'a', 'stream', 100, { userId: 'eve', name: 'mine' });
    expect(stats.targetOf('fast', mine), 'by the same name').to.equal('b');
  });

  it('measures streams and complete responses apart', () => {
    const rule = ruleOf('latency', { a: 1, b: 1 });
    for (const [model, stream, complete] of [
      ['a', 100, 5_000],
      ['b', 900, 1_000],
    ] as const) {
      stats.succeeded('fast', model, 'stream', stream);
      stats.succeeded('fast', model, 'complete', complete);
    }
    expect(shares(500, rule).get('a')).to.be.above(0.9);
    expect(shares(500, rule, () => ({ kind: 'complete' })).get('b')).to.be.above(0.9);
    expect(stats.latencies('a')).to.deep.equal({ firstToken: 100, complete: 5_000 });
  });

  for (const strategy of ['fallback', 'weighted', 'latency'] as const) {
    it(`has a throttled target last for as long as its vendor asks (${strategy})`, () => {
      const rule = ruleOf(strategy, { a: 1, b: 1 });
      stats.failed('fast', 'a', new LLMRateLimitError('Slow down.', { retryAfterMs: 20_000 }), 'bob');
      for (let draw = 0; draw < 50; draw += 1) expect(order(rule)).to.deep.equal(['b', 'a']);
      now = 20_000;
      expect(shares(100, rule).has('a')).to.equal(true);
    });
  }

  it('spares a target that is too slow three times in a row', () => {
    const rule = ruleOf('fallback', { a: 1, b: 1 });
    const fail = (): void => stats.failed('fast', 'a', new LLMTimeoutError('Too slow.'), 'ann');
    fail();
    fail();
    stats.succeeded('fast', 'a', 'stream', 100);
    fail();
    fail();
    expect(order(rule)).to.deep.equal(['a', 'b']);
    fail();
    expect(order(rule)).to.deep.equal(['b', 'a']);
    now = 30_000;
    expect(order(rule)).to.deep.equal(['a', 'b']);
  });

  it('spares a target for the user alone whose requests are too slow for it, unless another’s are', () => {
    const rule = ruleOf('fallback', { a: 1, b: 1 });
    const fail = (userId: string): void => stats.failed('fast', 'a', new LLMTimeoutError('Too slow.'), userId);
    for (let call = 0; call < 20; call += 1) fail('mallory');
    expect(order(rule, { userId: 'mallory' })).to.deep.equal(['b', 'a']);
    expect(order(rule)).to.deep.equal(['a', 'b']);
    fail('bob');
    expect(order(rule)).to.deep.equal(['b', 'a']);
  });

  it('starts with the provider that has stored what the request continues, whatever else is true', () => {
    const rule = ruleOf('fallback', { 'openai/x': 1, 'groq/y': 1, groq2: 1 });
    stats.failed('fast', 'groq/y', new LLMRateLimitError('Slow down.'), 'bob');
    expect(order(rule, { keeper: 'groq' })).to.deep.equal(['groq/y', 'openai/x', 'groq2']);
    expect(order(rule, { keeper: 'groq2' })[0]).to.equal('groq2');
  });
});
