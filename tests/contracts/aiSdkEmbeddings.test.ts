/** The AI SDK's `embed` and `embedMany` over Bolide's providers, on the simulator. */
import {
  APICallError,
  createProviderRegistry,
  embed,
  embedMany,
  NoSuchModelError,
  UnsupportedFunctionalityError,
} from 'ai';
import { expect } from 'chai';
import { BudgetError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { createBolide } from '../../imports/interop/aiSdk/model/createBolide';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator } from '../../imports/simulator/Simulator';
import { failure } from '../support/failure';
import { silenceAISDKWarnings } from '../support/silenceAISDKWarnings';

const VENDORS = ['openai', 'google', 'anthropic'] as const;

describe('the AI SDK’s embeddings', () => {
  let simulator: Simulator;
  let module: AIModule;
  silenceAISDKWarnings();
  before(async () => {
    simulator = await startSimulator();
    module = createAIModule({
      providers: VENDORS.map((vendor) => ({
        vendor,
        apiKey: 'key',
        baseURL: simulator.baseURL(vendor),
        allowPrivateHosts: true,
      })),
      budgets: { users: { poor: { day: { calls: 1 } } } },
    });
  });
  after(async () => {
    await module.close();
    await simulator.close();
  });
  const bolide = () => createBolide({ host: module, userId: 'ann' });
  const sent = () => simulator.requests.at(-1)?.body as Readonly<Record<string, unknown>>;

  it('come from each vendor, in the order of the values, with their usage and cost', async () => {
    for (const [name, values] of [
      ['openai/text-embedding-3-small', ['a river', 'a bank by the river']],
      ['google/gemini-embedding-001', ['a river', 'a bank by the river']],
    ] as const) {
      const model = bolide().embeddingModel(name);
      expect(model).to.include({ specificationVersion: 'v4', provider: 'bolide', modelId: name });
      const many = await embedMany({ model, values: [...values] });
      expect(many.embeddings).to.have.length(2);
      expect(many.usage.tokens).to.be.above(0);
      const one = await embed({ model, value: values[1] });
      expect(one.embedding).to.deep.equal(many.embeddings[1]);
      expect(one.providerMetadata?.bolide).to.include({ providerId: name.split('/')[0] });
    }
  });

  it('are served by a registry', async () => {
    const registry = createProviderRegistry({ bolide: bolide() });
    const model = registry.embeddingModel('bolide:openai/text-embedding-3-small');
    expect((await embed({ model, value: 'a river' })).embedding).not.to.deep.equal([]);
  });

  it('are more than a vendor takes at once', async () => {
    const before = simulator.requests.length;
    const values = Array.from({ length: 2_050 }, (_, index) => `value ${index}`);
    const { embeddings } = await embedMany({ model: bolide().embeddingModel('openai/text-embedding-3-small'), values });
    expect(embeddings).to.have.length(2_050);
    expect(simulator.requests.length - before).to.equal(2);
  });

  it('take options of Bolide and of the model’s vendor, and warn of others', async () => {
    const model = bolide().embeddingModel('openai/text-embedding-3-small');
    const { embedding, warnings } = await embed({
      model,
      value: 'a river',
      providerOptions: {
        openai: { dimensions: 5, encodingFormat: 'float' },
        google: { taskType: 'RETRIEVAL_QUERY' },
        bolide: { user: 'ann-1' },
        unknown: {},
      },
    });
    expect(embedding).to.have.length(5);
    expect(sent()).to.include({ dimensions: 5, user: 'ann-1' });
    expect(JSON.stringify(warnings)).to.contain('encodingFormat').and.contain('unknown').and.not.contain('taskType');
    const google = bolide().embeddingModel('google/gemini-embedding-001');
    await embed({ model: google, value: 'x', providerOptions: { google: { taskType: 'RETRIEVAL_QUERY' } } });
    expect(JSON.stringify(sent())).to.contain('RETRIEVAL_QUERY');
    const misspelled = await failure(embed({ model, value: 'x', providerOptions: { bolide: { depth: 1 } } }));
    expect(misspelled).to.have.property('message').that.contains('providerOptions.bolide.depth');
  });

  it('fail with the AI SDK’s errors', async () => {
    const without = await failure(embed({ model: bolide().embeddingModel('anthropic'), value: 'x', maxRetries: 0 }));
    expect(UnsupportedFunctionalityError.isInstance(without), String(without)).to.equal(true);
    const unknown = await failure(embed({ model: bolide().embeddingModel('nobody/x'), value: 'x', maxRetries: 0 }));
    expect(NoSuchModelError.isInstance(unknown), String(unknown)).to.equal(true);
    expect(unknown).to.include({ modelType: 'embeddingModel' });
    const call = { model: bolide().embeddingModel('openai'), value: 'x', maxRetries: 0 } as const;
    const poor = { bolide: { userId: 'poor' } };
    await embed({ ...call, providerOptions: poor });
    const spent = await failure(embed({ ...call, providerOptions: poor }));
    expect(APICallError.isInstance(spent), String(spent)).to.equal(true);
    expect(spent).to.have.property('cause').that.is.instanceOf(BudgetError);
    const reason = new Error('Enough.');
    expect(await failure(embed({ ...call, abortSignal: AbortSignal.abort(reason) }))).to.equal(reason);
  });
});
