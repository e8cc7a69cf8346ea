import { expect } from 'chai';
import { settingsFromEnvironment, settingsFromMeteor } from '../../../../imports/host/settings/vendors';

const KEYS = { OPENAI_API_KEY: 'key-of-openai', ANTHROPIC_API_KEY: 'key-of-anthropic' };

describe('LLM_SHARED_OBJECTS', () => {
  it('shares objects of each provider, and none by default', () => {
    const LLM_SHARED_OBJECTS = 'openai/vs_1, anthropic/skill/abc,openai/pmpt_*,';
    for (const { providers } of [
      settingsFromEnvironment({ ...KEYS, LLM_SHARED_OBJECTS }),
      settingsFromMeteor({ LLM_SHARED_OBJECTS }, KEYS),
    ])
      expect(Object.fromEntries(providers.map(({ id, sharedObjects }) => [id, sharedObjects]))).to.deep.equal({
        openai: ['vs_1', 'pmpt_*'],
        anthropic: ['skill/abc'],
      });
    for (const provider of settingsFromEnvironment(KEYS).providers)
      expect(provider).to.not.have.property('sharedObjects');
  });

  for (const [value, fault] of [
    ['vs_1', 'has "vs_1". Expected provider/id, or provider/beginning*'],
    ['openai/', 'has "openai/". Expected provider/id, or provider/beginning*'],
    ['openai/v*s', 'has "openai/v*s". Expected provider/id, or provider/beginning*'],
    ['groq/vs_1', 'names the provider "groq", which is not set up'],
  ] as const)
    it(`refuses "${value}"`, () => {
      expect(() => settingsFromEnvironment({ ...KEYS, LLM_SHARED_OBJECTS: value })).to.throw(fault);
    });
});
