import { expect } from 'chai';
import { createProvider } from '../../../../../imports/business/ai/infrastructure/factories/createProvider';
import type { CreateProviderOptions } from '../../../../../imports/business/ai/infrastructure/factories/createProvider';
import type { VendorName, WireName } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { failure } from '../../../../support/failure';
import type { Simulator } from '../../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../../imports/simulator/startSimulator';

describe('BaseLLMProvider.wireOf', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  async function wiresUsed(
    vendor: VendorName,
    asked: WireName | undefined,
    row: Partial<CreateProviderOptions> = {},
  ): Promise<readonly unknown[]> {
    const provider = createProvider({
      vendor,
      apiKey: 'a-key',
      baseURL: simulator.baseURL(vendor),
      allowPrivateHosts: true,
      defaultModel: 'some-model',
      ...row,
    });
    const options = { input: 'hello', ...(asked === undefined ? {} : { wire: asked }) };
    const before = simulator.requests.length;
    const answer = await provider.generate('ann', options);
    for await (const event of provider.stream('ann', options)) {
      if (event.type === 'response.completed') expect(event.response.vendor.wire).to.equal(answer.vendor.wire);
    }
    expect(simulator.requests.slice(before).map(({ wire }) => wire)).to.deep.equal([
      answer.vendor.wire,
      answer.vendor.wire,
    ]);
    return [answer.vendor.wire];
  }

  for (const vendor of ['openai', 'azure_openai', 'grok'] as const) {
    it(`is the requested one for ${vendor}, which serves both`, async () => {
      expect(await wiresUsed(vendor, 'responses')).to.deep.equal(['responses']);
      expect(await wiresUsed(vendor, 'chat_completions')).to.deep.equal(['chat_completions']);
    });
  }

  it('is the only wire for a vendor with a single one', async () => {
    expect(await wiresUsed('anthropic', 'responses')).to.deep.equal(['anthropic_messages']);
    expect(await wiresUsed('groq', 'responses')).to.deep.equal(['chat_completions']);
    expect(await wiresUsed('openai', 'gemini')).to.deep.equal(['responses']);
    expect(await wiresUsed('openai_compatible', 'responses')).to.deep.equal(['chat_completions']);
  });

  it('is the configured one, whichever is requested', async () => {
    expect(await wiresUsed('openai', 'responses', { wire: 'chat_completions' })).to.deep.equal(['chat_completions']);
    expect(await wiresUsed('openai_compatible', 'chat_completions', { wire: 'responses' })).to.deep.equal([
      'responses',
    ]);
  });

  it("determines the model's capabilities and where responses are stored", async () => {
    const provider = createProvider({
      vendor: 'grok',
      apiKey: 'a-key',
      baseURL: simulator.baseURL('grok'),
      allowPrivateHosts: true,
    });
    expect(provider.getCapabilities('grok-4').keepsState).to.equal(false);
    expect(provider.getCapabilities('grok-4', 'responses').keepsState).to.equal(true);
    await provider.deleteResponse?.('ann', 'resp_gone');
    const groq = createProvider({
      vendor: 'groq',
      apiKey: 'a-key',
      baseURL: simulator.baseURL('groq'),
      allowPrivateHosts: true,
    });
    expect(await failure(groq.deleteResponse?.('ann', 'resp_gone') ?? Promise.resolve())).to.have.property(
      'code',
      'unsupported-feature',
    );
  });
});
