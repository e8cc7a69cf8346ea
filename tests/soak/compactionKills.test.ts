/** Processes that die while a run whose history is compacted again and again goes on. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { RunResult } from '../../imports/business/ai/domain/entities/Run';
import type { CompactionStrategy } from '../../imports/business/ai/domain/types/Compaction';
import type { Item, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { haltingStore } from '../support/durable/HaltingStore';
import { WindowedProvider } from '../support/WindowedProvider';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const TURNS = 400;
const WINDOW = 1_500;
const model = 'windowed-model';
const FILLER = 'maps and letters '.repeat(40);

/** The model goes by what it is sent alone: what compaction loses or doubles leads it astray. */
function turn(items: readonly Item[]): LLMResponse {
  const seen = JSON.stringify(items);
  const shelves = [...seen.matchAll(/(?:"shelf\\":|up to )(\d+)/g)].map(([, shelf]) => Number(shelf));
  const last = Math.max(0, ...shelves);
  if (last === TURNS) return answer(`All ${last}, ${/FACT-\d+/.exec(seen)?.[0] ?? 'forgotten'}`);
  return calling({ name: 'visit', arguments: { shelf: last + 1 }, call_id: `call_${last + 1}` });
}

function summarize(text: string): LLMResponse {
  const shelves = [...text.matchAll(/(?:Shelf |up to )(\d+)/g)].map(([, shelf]) => Number(shelf));
  return answer(`Visited up to ${Math.max(0, ...shelves)}. ${/FACT-\d+/.exec(text)?.[0] ?? ''}`);
}

/** Compacts as a vendor does: keeps the user's messages and encrypts the rest. */
function compact(items: readonly Item[]): readonly Item[] {
  const users = items.filter((item) => item.type === 'message' && item.role === 'user');
  const encrypted_content = summarize(JSON.stringify(items)).output_text;
  return [...users, { type: 'compaction', encrypted_content, origin: { wire: 'responses', vendor: 'openai' } }];
}

describe('a run whose processes die while its history is compacted', () => {
  for (const strategy of ['portable', 'vendor'] as const) {
    it(`loses and doubles nothing (${strategy}, seed ${SEED})`, async () => {
      await killAndResume(strategy);
    });
  }

  async function killAndResume(strategy: CompactionStrategy): Promise<void> {
    const random = seededRandom(SEED);
    const store = new MemoryRunStore();
    const tools = new ToolRegistry().register({
      name: 'visit',
      idempotent: true,
      parameters: { type: 'object', properties: { shelf: { type: 'integer' } } },
      execute: ({ shelf }: { readonly shelf: number }) => `Shelf ${shelf}. ${shelf === 1 ? 'FACT-815' : ''} ${FILLER}`,
    });
    const provider = new WindowedProvider(WINDOW, turn, summarize);
    if (strategy === 'vendor') provider.compact = compact;
    let compactions = 0;
    let kills = 0;
    let killsInCompaction = 0;
    let result: RunResult | undefined;
    for (let attempt = 1; result === undefined; attempt += 1) {
      const seen = { hasCompacted: false };
      // Half of the processes die with the write that follows a compaction, the others anywhere.
      const at = random() < 0.5 ? () => seen.hasCompacted : 2 + Math.floor(random() * 25);
      const halting = haltingStore(store, at, random() < 0.5 ? 'before' : 'after');
      const loop = new AgenticLoop({
        provider,
        toolExecutor: tools,
        runStore: halting.store,
        maxIterations: 10_000,
        compaction: { strategy },
        // Nobody else takes the run over.
        leaseTimes: { lease: 60_000, heartbeat: 30_000 },
      });
      loop.on('history:compacted', () => {
        // A dead process does nothing.
        if (halting.isHalted()) return;
        compactions += 1;
        seen.hasCompacted = true;
      });
      loop.on('llm:response', () => (seen.hasCompacted = false));
      const run =
        attempt === 1
          ? loop.execute('ann', { model, input: 'Visit all.', tools: ['visit'], executionId: 'run' })
          : loop.resume('run');
      result = await Promise.race([run, halting.halted.then(() => undefined)]);
      if (result === undefined) {
        kills += 1;
        if (seen.hasCompacted) killsInCompaction += 1;
        run.catch(() => undefined);
      }
    }
    expect(result.response.output_text).to.equal(`All ${TURNS}, FACT-815`);
    const calls = result.transcript.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
    const outputs = result.transcript.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : []));
    const expected = Array.from({ length: TURNS }, (_, index) => `call_${index + 1}`);
    expect(calls).to.deep.equal(expected);
    expect(outputs).to.deep.equal(expected);
    expect(provider.refused).to.equal(0);
    // A compaction is made again only if its process died before it was stored.
    const { compaction } = (await store.load('run'))?.run ?? {};
    expect(compactions - (compaction?.count ?? 0)).to.be.within(0, killsInCompaction);
    const { summaryRequests, compactRequests } = provider;
    expect(summaryRequests.length + compactRequests.length).to.be.at.most(compactions + kills);
    if (strategy === 'vendor') expect(compactRequests.length).to.be.above(0);
    expect(kills).to.be.above(50);
    expect(killsInCompaction).to.be.above(50);
  }
});
