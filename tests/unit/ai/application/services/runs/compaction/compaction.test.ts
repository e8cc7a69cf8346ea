import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { tool } from '../../../../../../../imports/library/tool';
import { runRequest } from '../../../../../../../imports/business/ai/application/operations/runRequestSchemas';
import { readArgument } from '../../../../../../../imports/host/schemas';
import { AgenticExecutionUseCase } from '../../../../../../../imports/business/ai/application/usecases/AgenticExecutionUseCase';
import { RunLauncher } from '../../../../../../../imports/business/ai/application/usecases/RunLauncher';
import { agent } from '../../../../../../../imports/library/Agent';
import { AgenticLoop } from '../../../../../../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../../../../../../imports/business/ai/application/services/RunQueue';
import { LocalJobQueue } from '../../../../../../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import type { AgenticLoopOptions } from '../../../../../../../imports/business/ai/application/services/AgenticLoop';
import {
  LLMContextLengthError,
  LLMServerError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { AgentEventOf } from '../../../../../../../imports/business/ai/domain/types/AgentEvents';
import type { RunCompaction } from '../../../../../../../imports/business/ai/domain/types/Compaction';
import type { GenerateOptions } from '../../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { Item } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling, response, textItem } from '../../../../../../../imports/testing/responses';
import { failure } from '../../../../../../support/failure';
import { WindowedProvider } from '../../../../../../support/WindowedProvider';
import type { Turn } from '../../../../../../support/WindowedProvider';

const model = 'windowed-model';
const PAGE = 'lorem ipsum '.repeat(100);

function pages(executions: { count: number } = { count: 0 }): ToolRegistry {
  return new ToolRegistry().register({
    name: 'page',
    parameters: { type: 'object', properties: { number: { type: 'integer' } } },
    execute: (args) => {
      executions.count += 1;
      return `${(args as { readonly number: number }).number}: ${PAGE}`;
    },
  });
}

/** Reads as many pages, and then answers with what `end` finds. */
function reading(turns: number, end: Turn = () => answer('done')): Turn {
  return (items, options, call) =>
    call <= turns
      ? calling({ name: 'page', arguments: { number: call }, call_id: `call_${call}` })
      : end(items, options, call);
}

function setUp(provider: WindowedProvider, options: Partial<AgenticLoopOptions> = {}) {
  const loop = new AgenticLoop({ provider, toolExecutor: pages(), maxIterations: 1_000, ...options });
  const compactions: AgentEventOf<'history:compacted'>[] = [];
  loop.on('history:compacted', (event) => compactions.push(event));
  return { loop, compactions };
}

function textsOf(items: readonly Item[]): string {
  return JSON.stringify(items);
}

function assertPaired(items: readonly Item[]): void {
  const calls = items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
  const outputs = items.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : []));
  expect(outputs).to.deep.equal(calls);
}

/** Each request begins with the last one, except after the compactions. @returns how often it did not */
function breaks(requests: readonly (readonly Item[])[]): number {
  let count = 0;
  for (const [index, request] of requests.slice(1).entries()) {
    const before = requests[index] ?? [];
    if (textsOf(request.slice(0, before.length)) !== textsOf(before)) count += 1;
  }
  return count;
}

const earlierTalk = [
  { role: 'user', content: 'Hello.' },
  { role: 'assistant', content: PAGE.repeat(10) },
] as const;

describe('compaction of a run', () => {
  it('keeps every request within the window, and what is pinned in it', async () => {
    const provider = new WindowedProvider(8_000, reading(120));
    const { loop, compactions } = setUp(provider);
    const input = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'The code is 4711. Read all pages.' },
    ] as const;
    const result = await loop.execute('ann', { model, input, tools: ['page'] });
    expect(result.response.output_text).to.equal('done');
    expect(provider.refused).to.equal(0);
    expect(compactions.length).to.be.within(3, 40);
    for (const request of provider.requests) {
      assertPaired(request);
      expect(textsOf(request)).to.contain('Be brief.').and.contain('The code is 4711.');
    }
    expect(breaks(provider.requests)).to.equal(compactions.length);
    // Nothing is lost from the transcript.
    expect(result.transcript).to.have.length(2 + 240 + 1);
    for (const { tokensBefore, tokensAfter, losses } of compactions) {
      expect(tokensAfter).to.be.below(tokensBefore);
      expect(losses).not.to.deep.equal([]);
      expect(JSON.stringify(losses)).not.to.match(/\b0 (?:items|tool results)/);
    }
  });

  it('says in the next response what the model went without', async () => {
    const provider = new WindowedProvider(8_000, reading(20));
    const { loop } = setUp(provider);
    const losses: unknown[] = [];
    loop.on('llm:response', ({ response: { vendor } }) => losses.push(...vendor.losses));
    await loop.execute('ann', { model, input: 'Read.', tools: ['page'] });
    expect(JSON.stringify(losses)).to.contain('compacted');
  });

  it('lets the model read what was left out, by call, by entry and by words', async () => {
    const answers: string[] = [];
    const provider = new WindowedProvider(8_000, (items, options, call) => {
      if (call === 1) return calling({ name: 'page', arguments: { number: 9_001 }, call_id: 'first' });
      if (call <= 40) return reading(40)(items, options, call);
      const last = items.at(-1);
      if (last?.type === 'function_call_output') answers.push(JSON.stringify(last.output));
      if (call === 41) return calling({ name: 'recall', arguments: { call_id: 'first' }, call_id: 'r1' });
      if (call === 42) return calling({ name: 'recall', arguments: { query: '9001' }, call_id: 'r2' });
      if (call === 43) return calling({ name: 'recall', arguments: { item: 0 }, call_id: 'r3' });
      if (call === 44) return calling({ name: 'recall', arguments: { call_id: 'none' }, call_id: 'r4' });
      return answer('done');
    });
    const { loop } = setUp(provider);
    await loop.execute('ann', { model, input: 'Read everything.', tools: ['page'] });
    const [, byCall, byWords, byEntry, unknown] = answers;
    expect(byCall).to.contain('9001: lorem');
    expect(byWords).to.contain('item').and.contain('9001');
    expect(byEntry).to.contain('Read everything.');
    expect(unknown).to.contain('has a result. Give');
  });

  it('does without a summary that the model cannot write', async () => {
    const provider = new WindowedProvider(8_000, reading(60), () => new LLMServerError('down', { retryable: false }));
    const { loop, compactions } = setUp(provider);
    const talk = (number: number) => [
      { role: 'user', content: `Question ${number}: ${PAGE}` } as const,
      { role: 'assistant', content: `Answer ${number}` } as const,
    ];
    const input = [
      ...Array.from({ length: 40 }, (_, number) => talk(number)).flat(),
      { role: 'user', content: 'Go.' } as const,
    ];
    await loop.execute('ann', { model, input, tools: ['page'] });
    expect(compactions).not.to.deep.equal([]);
    expect(textsOf(provider.requests[0] ?? [])).to.contain('Answer 3');
    expect(provider.refused).to.equal(0);
  });

  it('compacts what a vendor refuses although its window is unknown, and asks again', async () => {
    const provider = new WindowedProvider(8_000, reading(40), undefined, { isWindowUnknown: true });
    const { loop, compactions } = setUp(provider);
    await loop.execute('ann', { model, input: 'Read.', tools: ['page'] });
    expect(provider.refused).to.equal(1);
    expect(compactions[0]?.reason).to.equal('overflow');
    // From then on the limit is known.
    expect(compactions.slice(1).every(({ reason }) => reason === 'window')).to.equal(true);
  });

  it('cuts a result that alone exceeds the window', async () => {
    const provider = new WindowedProvider(8_000, reading(2));
    const tools = new ToolRegistry().register({ name: 'page', execute: () => 'x'.repeat(200_000) });
    const { loop } = setUp(provider, { toolExecutor: tools });
    const { response: last } = await loop.execute('ann', { model, input: 'Read.', tools: ['page'] });
    expect(last.output_text).to.equal('done');
    expect(provider.refused).to.equal(0);
  });

  it('refuses a message that alone exceeds the window, before any call', async () => {
    const provider = new WindowedProvider(8_000, reading(2));
    const { loop } = setUp(provider);
    const input = [...earlierTalk, { role: 'user', content: PAGE.repeat(170) } as const];
    const error = await failure(loop.execute('ann', { model, input, tools: ['page'] }));
    expect(error).to.be.instanceOf(LLMContextLengthError).and.have.property('path', 'input[2]');
    expect(error)
      .to.have.property('message')
      .that.matches(/^The request has at least \d+ tokens, \d+ more than the context window of "windowed/);
    expect([provider.requests, provider.summaryRequests, provider.refused]).to.deep.equal([[], [], 0]);
  });

  it('has the vendor count a message that may exceed the window', async () => {
    const counting = (provider: WindowedProvider) =>
      Object.assign(provider, {
        countTokens: (_userId: string, { input }: GenerateOptions) =>
          Promise.resolve(Math.ceil(JSON.stringify(input).length / 4)),
      });
    const long = counting(new WindowedProvider(8_000, reading(2)));
    const error = await failure(
      setUp(long).loop.execute('ann', { model, input: [...earlierTalk, { role: 'user', content: PAGE.repeat(30) }] }),
    );
    expect(error).to.be.instanceOf(LLMContextLengthError).and.have.property('path', 'input[2]');
    expect(error)
      .to.have.property('message')
      .that.matches(/^The request has \d+ tokens, /);
    expect([long.summaryRequests, long.refused]).to.deep.equal([[], 0]);
    const fitting = counting(new WindowedProvider(8_000, () => answer('read')));
    const result = await setUp(fitting).loop.execute('ann', { model, input: PAGE.repeat(22) });
    expect(result.response.output_text).to.equal('read');
  });

  it('has the loop’s defaults in queued runs, too', async () => {
    const store = new MemoryRunStore();
    const provider = new WindowedProvider(8_000, reading(1));
    for (const [compaction, stored] of [
      [false, false],
      [{ threshold: 0.5 }, { threshold: 0.5 }],
      [true, undefined],
    ] as const) {
      const { loop } = setUp(provider, { runStore: store, compaction, maxIterations: 7 });
      const queue = new RunQueue({ loop, store, jobs: new LocalJobQueue(), tools: pages() });
      const ids = [
        await queue.add('ann', { model, input: 'Read.', tools: ['page'] }),
        (await loop.start('ann', { model, input: 'Read.', tools: ['page'] })).executionId,
      ];
      for (const id of ids) {
        const plan = (await store.load(id))?.run.plan;
        expect(plan?.compaction).to.deep.equal(stored);
        expect(plan?.limits.maxIterations).to.equal(7);
      }
      await loop.close();
    }
  });

  it('leaves the history alone if it is told to, and if it is short', async () => {
    const provider = new WindowedProvider(8_000, reading(60));
    const { loop, compactions } = setUp(provider, { compaction: false });
    const error = await failure(loop.execute('ann', { model, input: 'Read.', tools: ['page'] }));
    expect(error).to.be.instanceOf(LLMContextLengthError);
    expect(compactions).to.deep.equal([]);
    const short = new WindowedProvider(8_000, reading(3));
    await setUp(short).loop.execute('ann', { model, input: 'Read.', tools: ['page'] });
    expect(breaks(short.requests)).to.equal(0);
    expect(short.requests.at(-1)).to.have.length(7);
  });

  it('begins once the history takes the share of the window that it is told', async () => {
    const window = 8_000;
    for (const threshold of [0.3, 0.5, 0.7]) {
      const { loop, compactions } = setUp(new WindowedProvider(window, reading(60)));
      await loop.execute('ann', { model, input: 'Read.', tools: ['page'], compaction: { threshold } });
      const share = (compactions[0]?.tokensBefore ?? 0) / window;
      expect(share, `at ${threshold}`).to.be.within(threshold, threshold + 0.1);
    }
  });

  it('keeps what the caller has pinned, with the results of pinned calls', async () => {
    const provider = new WindowedProvider(8_000, reading(60));
    const { loop } = setUp(provider);
    const input = [
      { role: 'user', content: 'One.' },
      { role: 'user', content: 'A rule that always holds.' },
      { type: 'function_call', call_id: 'pinned', name: 'page', arguments: '{}' },
      { type: 'function_call_output', call_id: 'pinned', output: `Kept ${PAGE}` },
      { role: 'user', content: 'Two.' },
    ] as const;
    await loop.execute('ann', { model, input, tools: ['page'], compaction: { pinned: [1, 2] } });
    const last = textsOf(provider.requests.at(-1) ?? []);
    expect(last).to.contain('A rule that always holds.').and.contain('Kept lorem').and.contain('Two.');
    assertPaired(provider.requests.at(-1) ?? []);
  });

  it('refuses options that it does not have', async () => {
    const { loop } = setUp(new WindowedProvider(8_000, reading(1)));
    for (const compaction of [{ window: 0 }, { threshold: 2 }, { pinned: [-1] }, { model: '' }, { keep: 3 }, 'often'])
      expect(
        await failure(loop.execute('ann', { model, input: 'Go.', compaction: compaction as never })),
      ).to.have.property('code', 'invalid-request');
  });

  it('counts the tokens of summaries in the run’s usage', async () => {
    const provider = new WindowedProvider(8_000, reading(60));
    const { loop } = setUp(provider);
    let reported = 0;
    loop.on('llm:response', ({ response: { usage } }) => (reported += usage.total_tokens));
    const { usage } = await loop.execute('ann', { model, input: 'Read.', tools: ['page'] });
    expect(provider.summaryRequests).not.to.deep.equal([]);
    expect(usage.total_tokens).to.be.above(reported);
  });

  it('continues a stored run in another process with the same history, and no second summary', async () => {
    const store = new MemoryRunStore();
    const executions = { count: 0 };
    let died: (() => void) | undefined;
    const hasDied = new Promise<void>((resolve) => (died = resolve));
    // The first process stops at a call after compactions.
    const first = new WindowedProvider(8_000, reading(100));
    const generate = first.generate.bind(first);
    let isStopped = false;
    first.generate = async (userId, options) => {
      const given = await generate(userId, options);
      if (first.requests.length < 60 || isStopped) return given;
      isStopped = true;
      died?.();
      return new Promise(() => undefined);
    };
    const times = { leaseTimes: { lease: 200, heartbeat: 50 } };
    const tools = { toolExecutor: pages(executions), runStore: store, ...times };
    const one = setUp(first, tools);
    const started = await one.loop.start('ann', { model, input: 'Read.', tools: ['page'], executionId: 'run' });
    started.done.catch(() => undefined);
    await hasDied;
    await one.loop.close();
    const stored = await store.load('run');
    expect((stored?.run as { readonly compaction?: RunCompaction } | undefined)?.compaction?.count).to.equal(
      one.compactions.length,
    );
    const second = new WindowedProvider(8_000, (items, options, call) => reading(100)(items, options, call + 59));
    const two = setUp(second, tools);
    const { response: last } = await two.loop.resume('run');
    expect(last.output_text).to.equal('done');
    expect(textsOf(second.requests[0] ?? [])).to.equal(textsOf(first.requests.at(-1) ?? []));
    expect(executions.count).to.equal(100);
  });

  it('is continued by the next call of a conversation', async () => {
    const provider = new WindowedProvider(8_000, (items, options, call) => answer(`Answer ${call}: ${PAGE}`));
    const talk = agent({ model: 'windowed/windowed-model', provider }).conversation();
    const between: number[] = [];
    for (let turn = 1; turn <= 60; turn += 1) {
      const { length } = provider.summaryRequests;
      await talk.generate(`Question ${turn}: ${PAGE}`);
      if (provider.summaryRequests.length > length) between.push(turn);
    }
    expect(talk.transcript).to.have.length(120);
    expect(between).to.have.length.within(2, 25);
    expect(provider.refused).to.equal(0);
    expect(breaks(provider.requests)).to.be.at.most(between.length + 1);
  });

  it('summarizes the question of a run for those that continue the conversation', async () => {
    const provider = new WindowedProvider(8_000, (items, options, call) => {
      if (call === 1 || call > 60) return answer('Yes.');
      return call === 60 ? answer('Read.') : reading(60)(items, options, call);
    });
    const talk = agent({
      model: 'windowed/windowed-model',
      provider,
      tools: [tool({ name: 'page', parameters: { type: 'object' }, execute: () => PAGE })],
      maxIterations: 100,
    }).conversation();
    await talk.generate('Hello.');
    await talk.generate('Read all pages. The second code is 4712.');
    await talk.generate('What was the second code?');
    expect(textsOf(provider.requests[50] ?? [])).to.contain('4712');
    expect(textsOf(provider.requests.at(-1) ?? [])).not.to.contain('4712');
    expect(provider.summaryRequests.join('')).to.contain('4712');
  });

  it('is continued by a run that continues another', async () => {
    const provider = new WindowedProvider(8_000, (items, options, call) =>
      call > 60 ? answer('Yes.') : call === 60 ? answer('Read.') : reading(60)(items, options, call),
    );
    const store = new MemoryRunStore();
    const { loop, compactions } = setUp(provider, { runStore: store });
    const access = { decide: () => Promise.resolve({ allowed: true } as const) };
    const launcher = new RunLauncher({ access, loop, runs: store, providers: new Set(['windowed']) });
    const agentic = new AgenticExecutionUseCase(launcher, provider);
    const run = async (fields: object): Promise<string> => {
      const request = readArgument(runRequest, {
        requestId: randomUUID(),
        providerId: 'windowed',
        tools: ['page'],
        ...fields,
      });
      const { executionId } = await agentic.start({ userId: 'ann', source: 'method' }, request);
      await loop.waitForResult(executionId);
      return executionId;
    };
    const first = await run({ input: 'Read.', maxIterations: 100, compaction: { threshold: 0.7 } });
    expect((await store.load(first))?.run.plan.compaction).to.deep.equal({ threshold: 0.7 });
    const { length } = compactions;
    const summaries = provider.summaryRequests.length;
    expect(length).to.be.above(0);
    const before = provider.requests.at(-1) ?? [];
    await run({ input: 'Have you?', continues: first });
    expect([compactions.length, provider.summaryRequests.length]).to.deep.equal([length, summaries]);
    expect(textsOf((provider.requests.at(-1) ?? []).slice(0, before.length))).to.equal(textsOf(before));
    await run({ input: 'Have you?', continues: first, compaction: false }).catch(() => undefined);
    expect(provider.refused).to.equal(1);
  });

  it('parts no reasoning from what follows it', async () => {
    const provider = new WindowedProvider(8_000, (items, options, call) => {
      const { output } = reading(60)(items, options, call);
      const reasoning = { type: 'reasoning', id: `rs_${call}`, summary: [], encrypted_content: 'sealed' } as const;
      return response({ output: call <= 60 ? [reasoning, ...output] : [textItem('done')] });
    });
    const { loop } = setUp(provider);
    await loop.execute('ann', { model, input: 'Read.', tools: ['page'] });
    for (const request of provider.requests)
      for (const [index, item] of request.entries())
        if (item.type === 'reasoning') expect(request[index + 1]?.type).to.equal('function_call');
  });
});
