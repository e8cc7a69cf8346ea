import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../../imports/business/ai/application/services/AgenticLoop';
import {
  LLMInvalidRequestError,
  LLMServerError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { AgentEventOf } from '../../../../../../../imports/business/ai/domain/types/AgentEvents';
import type {
  CompactionOptions,
  RunCompaction,
} from '../../../../../../../imports/business/ai/domain/types/Compaction';
import type { Item } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../../../../imports/testing/responses';
import { failure } from '../../../../../../support/failure';
import { WindowedProvider } from '../../../../../../support/WindowedProvider';
import type { Turn } from '../../../../../../support/WindowedProvider';

const model = 'windowed-model';
const INPUT = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'The code is 4711. Read all pages.' },
] as const;

const pages = new ToolRegistry().register({
  name: 'page',
  parameters: { type: 'object', properties: { number: { type: 'integer' } } },
  execute: ({ number }: { readonly number: number }) => `${number}: ${'lorem ipsum '.repeat(100)}`,
});

function reading(turns: number): Turn {
  return (_items, _options, call) =>
    call <= turns ? calling({ name: 'page', arguments: { number: call }, call_id: `call_${call}` }) : answer('done');
}

const SEALED = {
  type: 'compaction',
  encrypted_content: 'sealed',
  origin: { wire: 'responses', vendor: 'openai' },
} as const;

function compact(items: readonly Item[]): readonly Item[] {
  return [...items.filter((item) => item.type === 'message' && item.role === 'user'), SEALED];
}

function setUp(provider: WindowedProvider, compaction: CompactionOptions) {
  const loop = new AgenticLoop({ provider, toolExecutor: pages, maxIterations: 1_000, compaction });
  const compactions: AgentEventOf<'history:compacted'>[] = [];
  loop.on('history:compacted', (event) => compactions.push(event));
  return { compactions, run: () => loop.execute('ann', { model, input: INPUT, tools: ['page'] }) };
}

function providerOf(turn: Turn): WindowedProvider {
  const provider = new WindowedProvider(8_000, turn);
  provider.compact = compact;
  return provider;
}

function hasSealed(items: readonly Item[]): boolean {
  return items.some(({ type }) => type === 'compaction');
}

describe('compaction by the vendor', () => {
  it('stands for the older items, with what is pinned once, and is counted', async () => {
    const provider = providerOf(reading(60));
    const { compactions, run } = setUp(provider, { strategy: 'vendor' });
    const { response, usage, compaction } = await run();
    expect(response.output_text).to.equal('done');
    expect(provider.refused).to.equal(0);
    expect(provider.summaryRequests).to.deep.equal([]);
    expect(provider.compactRequests).to.have.length(compactions.length);
    expect(compactions[0]).to.include({ strategy: 'vendor', reason: 'window' });
    expect(compactions[0]?.losses[0]?.what).to.match(/^\d+ items, replaced by the vendor's compaction$/);
    const compacted = provider.requests.filter(hasSealed);
    expect(compacted.length).to.be.above(20);
    for (const items of compacted) {
      const text = JSON.stringify(items);
      expect(text.split('Be brief.')).to.have.length(2);
      expect(text.split('The code is 4711.')).to.have.length(2);
      expect(items.filter(({ type }) => type === 'compaction')).to.have.length(1);
      const calls = items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
      const outputs = items.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : []));
      expect(outputs).to.deep.equal(calls);
    }
    // What it compacts begins as the request before it did.
    const [first] = provider.compactRequests;
    const sent = JSON.stringify(first?.input).slice(0, -1);
    expect(provider.requests.some((items) => JSON.stringify(items).startsWith(sent))).to.equal(true);
    expect(compaction?.vendor).to.include({ wire: 'responses' });
    const answered = provider.requests.reduce((sum, items) => sum + JSON.stringify(items).length / 4, 0);
    expect(usage.input_tokens).to.be.above(answered);
  });

  it('is asked of nobody by default, nor where a model for summaries is named and either would do', async () => {
    for (const compaction of [{}, { strategy: 'auto', model: 'small' }] as const) {
      const provider = providerOf(reading(60));
      const { compactions, run } = setUp(provider, compaction);
      await run();
      expect(provider.compactRequests).to.deep.equal([]);
      expect(compactions.every(({ strategy }) => strategy === 'portable')).to.equal(true);
    }
  });

  it('is used if references to results are not enough and either would do', async () => {
    const provider = providerOf(reading(200));
    const { compactions, run } = setUp(provider, { strategy: 'auto' });
    await run();
    expect(provider.summaryRequests).to.deep.equal([]);
    expect(new Set(compactions.map(({ strategy }) => strategy))).to.deep.equal(new Set(['portable', 'vendor']));
  });

  it('gives way to a summary if it fails, is empty, or makes the history no shorter', async () => {
    const ways: readonly ((items: readonly Item[]) => readonly Item[] | Error)[] = [
      () => new LLMServerError('out of order'),
      () => [],
      (items) => [...items, SEALED],
    ];
    for (const way of ways) {
      const provider = new WindowedProvider(8_000, reading(60));
      provider.compact = way;
      const { compactions, run } = setUp(provider, { strategy: 'vendor' });
      expect((await run()).response.output_text).to.equal('done');
      expect(provider.compactRequests).to.not.deep.equal([]);
      expect(provider.refused).to.equal(0);
      expect(provider.requests.some(hasSealed)).to.equal(false);
      expect(compactions.every(({ strategy }) => strategy === 'portable')).to.equal(true);
    }
  });

  it('is replaced by a summary of the whole transcript once the vendor no longer accepts it', async () => {
    let refused = 0;
    const pagesOf = reading(60);
    const provider = providerOf((items, options, call) => {
      if (call > 40 && hasSealed(items)) {
        refused += 1;
        throw new LLMInvalidRequestError('The encrypted content could not be verified.');
      }
      return pagesOf(items, options, call - refused);
    });
    const { compactions, run } = setUp(provider, { strategy: 'vendor' });
    const { response } = await run();
    expect(response.output_text).to.equal('done');
    const anew = compactions.find(({ reason }) => reason === 'unreadable');
    expect(anew).to.include({ strategy: 'portable' });
    expect(anew?.losses[0]?.path).to.equal('input[0]');
    expect(provider.summaryRequests[0]).to.include('call_1 of page');
  });

  it('names the option that is wrong', async () => {
    const provider = providerOf(reading(1));
    const from = { count: 1, length: 2, summarizedUpTo: 1, clearedUpTo: 0 };
    const wrong = [
      { strategy: 'mine' },
      { from: { ...from, vendor: { vendor: 'openai', wire: 'responses' } } },
      {
        from: { ...from, vendor: { vendor: 'openai', wire: 'responses', items: [{ type: 'message', role: 'king' }] } },
      },
    ] as unknown as readonly { readonly from?: RunCompaction }[];
    for (const compaction of wrong) {
      const loop = new AgenticLoop({ provider, toolExecutor: pages });
      const error = await failure(loop.execute('ann', { model, input: 'Hi', compaction }));
      expect(error).to.be.instanceOf(LLMInvalidRequestError);
      expect((error as Error).message).to.match(/compaction\.(?:strategy|from)/);
    }
  });
});
