/** Runs whose transcript outgrows the window of the model, on each vendor. */
import { expect } from 'chai';
import type { AgentEventOf } from '../../imports/business/ai/domain/types/AgentEvents';
import type { Simulator } from '../../imports/simulator/Simulator';
import type { RecordedRequest } from '../../imports/simulator/RecordedRequest';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { FACTS, LONG_INPUT, longLoop, longModel, longTools } from '../support/longRuns';
import { WIRES_OR_VENDORS } from '../support/simulatedProviders';
import { IS_SOAK } from '../support/soak';

const TURNS = IS_SOAK ? 500 : 24;
const WINDOW = IS_SOAK ? 32_768 : 3_000;
/** Without compaction. */
const PREFIX_TURNS = IS_SOAK ? 200 : 10;

function historyOf({ body }: RecordedRequest): readonly unknown[] {
  const { messages, input, contents } = body as Readonly<Record<string, readonly unknown[]>>;
  const history = messages ?? input ?? contents;
  if (!Array.isArray(history)) throw new Error('The request has no history.');
  return history;
}

/** The bytes of a request before its history, and those of the history without its end. */
function prefixOf(request: RecordedRequest): string {
  return JSON.stringify(historyOf(request), withoutMarks).slice(0, -1);
}

function restOf(request: RecordedRequest): string {
  const { messages: _, input: __, contents: ___, ...rest } = request.body as Record<string, unknown>;
  return JSON.stringify(rest, withoutMarks);
}

/** Marks of the cache are no part of what is cached, and move on. */
function withoutMarks(name: string, value: unknown): unknown {
  return name === 'cache_control' ? undefined : value;
}

for (const vendor of WIRES_OR_VENDORS) {
  describe(`a long run on ${vendor.name}`, () => {
    let simulator: Simulator;
    afterEach(() => simulator.close());

    it(`keeps within ${WINDOW} tokens for ${TURNS} turns, and recalls what it was told in the first`, async () => {
      simulator = await startSimulator({ model: longModel(TURNS), contextWindow: WINDOW, historyLimit: 10_000 });
      const visits: number[] = [];
      const loop = longLoop(simulator, vendor, { toolExecutor: longTools(visits) });
      const compactions: AgentEventOf<'history:compacted'>[] = [];
      loop.on('history:compacted', (event) => compactions.push(event));
      const compaction = { window: WINDOW };
      const options = { model: vendor.model, input: LONG_INPUT, tools: ['visit'], max_output_tokens: 512, compaction };
      const { response, transcript } = await loop.execute('ann', options);
      expect(response.output_text).to.equal(FACTS.join(' '));
      expect(simulator.requests.filter(({ status }) => status !== 200)).to.deep.equal([]);
      expect(visits).to.deep.equal(Array.from({ length: TURNS }, (_, index) => index + 1));
      expect(compactions.length).to.be.within(2, TURNS / 3);
      // The history is all there.
      expect(transcript.filter(({ type }) => type === 'function_call')).to.have.length(TURNS + 1);
      // Only a compaction changes what was sent before.
      const turns = simulator.requests.filter(
        (request) => !JSON.stringify(request.body).includes('You keep the record'),
      );
      const breaks = turns.slice(1).filter((request, index) => {
        const before = turns[index];
        return before !== undefined && !prefixOf(request).startsWith(prefixOf(before));
      });
      expect(breaks).to.have.length(compactions.length);
    });

    it(`begins each of ${PREFIX_TURNS} requests with the bytes of the one before`, async () => {
      simulator = await startSimulator({ model: longModel(PREFIX_TURNS), historyLimit: 10_000, cachesPrompts: true });
      const loop = longLoop(simulator, vendor);
      const options = { model: vendor.model, input: LONG_INPUT, instructions: 'Be brief.', tools: ['visit'] };
      const { usage, response } = await loop.execute('ann', options);
      const { requests } = simulator;
      expect(requests).to.have.length(PREFIX_TURNS + 1);
      for (const [index, request] of requests.slice(1).entries()) {
        const before = requests[index] as RecordedRequest;
        expect(prefixOf(request).startsWith(`${prefixOf(before)},`), `request ${index + 2}`).to.equal(true);
        expect(restOf(request)).to.equal(restOf(before));
      }
      // All that was sent before is read from the cache, but for what is too short, or beyond a step of 128 tokens.
      const { cached_tokens, cache_write_tokens } = usage.input_tokens_details;
      const last = response.usage.input_tokens;
      const sentBefore = usage.input_tokens - last;
      const uncached = sentBefore - cached_tokens;
      expect(uncached).to.be.within(0, PREFIX_TURNS * 128 + 10 * 1_024);
      // What is written to the cache is written once, but for what the simulator rounds.
      expect(cache_write_tokens).to.be.within(vendor.vendor === 'anthropic' ? last / 2 : 0, last * 1.02);
    });

    it('compacts a history that the vendor refuses, although nothing is known of its window', async () => {
      simulator = await startSimulator({ model: longModel(20, FACTS.join(' ')), contextWindow: 3_000 });
      const loop = longLoop(simulator, vendor);
      const compactions: AgentEventOf<'history:compacted'>[] = [];
      loop.on('history:compacted', (event) => compactions.push(event));
      const options = { model: vendor.model, input: LONG_INPUT, tools: ['visit'], max_output_tokens: 512 };
      const { response } = await loop.execute('ann', { ...options, compaction: { window: 1_000_000 } });
      expect(response.output_text).to.equal(FACTS.join(' '));
      expect(simulator.requests.filter(({ status }) => status !== 200)).to.have.length(1);
      expect(compactions[0]).to.include({ reason: 'overflow' });
    });
  });
}
