/** Long runs whose history the vendor compacts itself, where it can. */
import { expect } from 'chai';
import type { AgentEventOf } from '../../imports/business/ai/domain/types/AgentEvents';
import type { Simulator } from '../../imports/simulator/Simulator';
import type { RecordedRequest } from '../../imports/simulator/RecordedRequest';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { ResilientProvider } from '../../imports/business/ai/application/services/routing/ResilientProvider';
import { LLMServerError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { ProviderDecorator } from '../../imports/business/ai/domain/interfaces/ProviderDecorator';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import { RecordingLogger } from '../support/RecordingLogger';
import { FACTS, LONG_INPUT, longLoop, longModel, longTools } from '../support/longRuns';
import { simulatedProvider } from '../support/simulatedProviders';
import type { SimulatedVendor } from '../support/simulatedProviders';
import { IS_SOAK } from '../support/soak';

const TURNS = IS_SOAK ? 500 : 40;
const WINDOW = IS_SOAK ? 32_768 : 3_000;

const OPENAI: SimulatedVendor = { name: 'OpenAI Responses', vendor: 'openai', wire: 'responses', model: 'gpt-5-mini' };

const AZURE: SimulatedVendor = { ...OPENAI, name: 'Azure Responses', vendor: 'azure_openai' };

const ANTHROPIC: SimulatedVendor = {
  name: 'Anthropic',
  vendor: 'anthropic',
  wire: 'anthropic_messages',
  model: 'claude-sonnet-4-6',
};

const VENDORS: readonly SimulatedVendor[] = [OPENAI, ...(IS_SOAK ? [AZURE] : []), ANTHROPIC];

function isCompaction({ path, body }: RecordedRequest): boolean {
  return path.endsWith('/responses/compact') || (body as { readonly compaction?: unknown }).compaction !== undefined;
}

for (const vendor of VENDORS) {
  describe(`a long run that ${vendor.name} compacts`, () => {
    let simulator: Simulator;
    afterEach(() => simulator.close());

    it(`keeps within ${WINDOW} tokens for ${TURNS} turns, and recalls what it was told in the first`, async () => {
      simulator = await startSimulator({ model: longModel(TURNS), contextWindow: WINDOW, historyLimit: 10_000 });
      const visits: number[] = [];
      const loop = longLoop(simulator, vendor, { toolExecutor: longTools(visits) });
      const compactions: AgentEventOf<'history:compacted'>[] = [];
      loop.on('history:compacted', (event) => compactions.push(event));
      let answered = 0;
      loop.on('llm:response', ({ response: { usage } }) => (answered += usage.input_tokens));
      const options = { model: vendor.model, input: LONG_INPUT, tools: ['visit'], max_output_tokens: 512 };
      const compaction = { window: WINDOW, strategy: 'vendor' } as const;
      const { response, transcript, usage } = await loop.execute('ann', { ...options, compaction });
      expect(response.output_text).to.equal(FACTS.join(' '));
      expect(simulator.requests.filter(({ status }) => status !== 200)).to.deep.equal([]);
      expect(visits).to.deep.equal(Array.from({ length: TURNS }, (_, index) => index + 1));
      expect(transcript.filter(({ type }) => type === 'function_call')).to.have.length(TURNS + 1);
      expect(compactions.length).to.be.within(2, TURNS / 3);
      expect(new Set(compactions.map(({ strategy }) => strategy))).to.deep.equal(new Set(['vendor']));
      expect(simulator.requests.filter(isCompaction)).to.have.length(compactions.length);
      // What the compactions took is counted, too.
      expect(usage.input_tokens).to.be.above(answered + (compactions.length * WINDOW) / 10);
    });
  });
}

/** Fails from a moment on. */
class FailingProvider extends ProviderDecorator {
  isDown = false;

  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    if (this.isDown) throw new LLMServerError('out of order', { retryable: false });
    return this.provider.generate(userId, options);
  }

  stream(userId: string, options: GenerateOptions): AsyncIterable<ResponseStreamEvent> {
    return this.provider.stream(userId, options);
  }
}

describe('a run whose vendor fails after it has compacted the history', () => {
  it('goes on at the fallback, with the transcript compacted from its beginning', async () => {
    const simulator = await startSimulator({ model: longModel(30), contextWindow: 3_000, historyLimit: 10_000 });
    try {
      const failing = new FailingProvider(simulatedProvider(simulator, OPENAI));
      const provider = new ResilientProvider({
        provider: failing,
        fallback: [simulatedProvider(simulator, ANTHROPIC)],
        logger: new RecordingLogger(),
      });
      const loop = longLoop(simulator, OPENAI, { provider });
      const compactions: AgentEventOf<'history:compacted'>[] = [];
      loop.on('history:compacted', (event) => {
        compactions.push(event);
        failing.isDown = true;
      });
      const options = { model: OPENAI.model, input: LONG_INPUT, tools: ['visit'], max_output_tokens: 512 };
      const compaction = { window: 3_000, strategy: 'vendor' } as const;
      const { response } = await loop.execute('ann', { ...options, compaction });
      expect(response.output_text).to.equal(FACTS.join(' '));
      expect(response.vendor.name).to.equal('anthropic');
      const [first, second] = compactions;
      expect(first).to.include({ strategy: 'vendor', reason: 'window' });
      expect(second).to.include({ strategy: 'portable', reason: 'unreadable' });
      expect(second?.losses[0]?.path).to.equal('input[0]');
      expect(simulator.requests.filter(({ status }) => status !== 200)).to.deep.equal([]);
    } finally {
      await simulator.close();
    }
  });
});
