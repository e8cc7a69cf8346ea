import { expect } from 'chai';
import { VENDORS } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { createAIModule } from '../../../../../imports/business/ai/infrastructure/factories/createAIModule';
import { createProvider } from '../../../../../imports/business/ai/infrastructure/factories/createProvider';
import { LLMProviderFactory } from '../../../../../imports/business/ai/infrastructure/factories/LLMProviderFactory';

describe('createProvider', () => {
  it('creates a provider for every vendor, named after it', () => {
    for (const vendor of VENDORS) {
      const provider = createProvider({ vendor, apiKey: 'k', baseURL: 'https://example.com/v1', deployment: 'd' });
      expect(provider.getProviderName()).to.equal(vendor);
      expect(provider.getCapabilities('some-model').maxOutputTokens).to.be.greaterThan(0);
    }
  });

  const bad: [string, object, RegExp][] = [
    ['an unknown vendor', { vendor: 'acme' }, /acme.*openai/],
    ['a wire that its vendor does not support', { vendor: 'anthropic', wire: 'responses' }, /anthropic_messages/],
    ['Azure without its resource', { vendor: 'azure_openai', apiKey: 'k' }, /URL/],
    ['an OpenAI-compatible vendor without a base URL', { vendor: 'openai_compatible' }, /base URL/],
  ];
  for (const [what, row, message] of bad) {
    it(`rejects ${what} and names what is expected`, () => {
      expect(() => createProvider(row as never)).to.throw(LLMInvalidRequestError, message);
    });
  }

  it('does not reveal keys', () => {
    const provider = createProvider({ vendor: 'openai', apiKey: 'sk-canary-123' });
    expect(JSON.stringify(provider)).not.to.contain('canary');
  });
});

describe('LLMProviderFactory', () => {
  it('returns the same provider while its settings are unchanged', () => {
    const factory = new LLMProviderFactory();
    const row = { id: 'a', vendor: 'openai', apiKey: 'k' } as const;
    const first = factory.get(row);
    expect(factory.get({ ...row })).to.equal(first);
    expect(factory.get({ ...row, apiKey: 'other' })).not.to.equal(first);
    factory.remove('a');
    expect(factory.get(row)).not.to.equal(first);
  });

  it('gets tokens from its source for settings without a key', async () => {
    const asked: unknown[] = [];
    const factory = new LLMProviderFactory({
      getAccessToken: (request) => {
        asked.push(request);
        return Promise.reject(new Error('no token'));
      },
    });
    const provider = factory.get({ id: 'mine', vendor: 'openai' });
    await provider.generate('ann', { model: 'm', input: 'x' }).catch(() => undefined);
    expect(asked).to.deep.equal([{ providerId: 'mine', userId: 'ann' }]);
  });
});

describe('createAIModule', () => {
  it('rejects invalid settings and names the problem', () => {
    const row = { id: 'a', vendor: 'openai', apiKey: 'k' } as const;
    expect(() => createAIModule({ providers: [] })).to.throw(LLMInvalidRequestError, /No provider/);
    expect(() => createAIModule({ providers: [row, row] }))
      .to.throw(LLMInvalidRequestError)
      .with.property('path', 'providers[1].id');
    expect(() => createAIModule({ providers: [row], defaultProvider: 'b' })).to.throw(LLMInvalidRequestError, /"b"/);
  });
});
