import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { moduleFromEnvironment } from '../../../imports/host/moduleFromEnvironment';
import { settingsFromEnvironment, settingsFromMeteor, VENDOR_VARIABLES } from '../../../imports/host/settings/vendors';
import { failure } from '../../support/failure';

describe('LLM_PROVIDER', () => {
  for (const [vendor, names] of Object.entries(VENDOR_VARIABLES)) {
    it(`is an error that names the variable if the key of ${vendor} is missing`, async () => {
      for (const name of [vendor, vendor.toUpperCase()]) {
        const error = await failure(moduleFromEnvironment({ LLM_PROVIDER: name }));
        expect(error).to.be.instanceOf(LLMInvalidRequestError);
        expect(error)
          .to.have.property('message')
          .that.includes(`LLM_PROVIDER is "${vendor}", but ${names.key} is not set`);
        expect(() => settingsFromMeteor({ LLM_PROVIDER: name }, {})).to.throw(names.key);
      }
    });
  }

  it('is an error without the key even if another vendor has one', () => {
    expect(() => settingsFromEnvironment({ LLM_PROVIDER: 'anthropic', OPENAI_API_KEY: 'k' })).to.throw(
      'LLM_PROVIDER is "anthropic", but ANTHROPIC_API_KEY is not set',
    );
  });

  for (const name of ['Anthropic', 'ANTHROPIC', ' anthropic ', 'aNTHROPIC']) {
    it(`may be written as "${name}"`, () => {
      const settings = settingsFromEnvironment({ LLM_PROVIDER: name, ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' });
      expect(settings.defaultProvider).to.equal('anthropic');
    });
  }

  it('accepts a hyphen', () => {
    const azure = { AZURE_OPENAI_KEY: 'k', AZURE_OPENAI_BASE_URL: 'https://a.example', AZURE_OPENAI_DEPLOYMENT: 'd' };
    expect(settingsFromEnvironment({ LLM_PROVIDER: 'Azure-OpenAI', ...azure }).defaultProvider).to.equal(
      'azure_openai',
    );
  });

  it('still lets the simulator answer if neither it nor any vendor is set', async () => {
    const { module, simulator } = await moduleFromEnvironment({ LLM_PROVIDER: '', ANTHROPIC_API_KEY: ' ' });
    try {
      expect(simulator).to.not.equal(undefined);
      expect(await module.manager.generateText('ann', 'Hello.')).to.match(/simulated/i);
    } finally {
      await module.close();
      await simulator?.close();
    }
  });
});
