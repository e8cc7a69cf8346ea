import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { settingsFromEnvironment, settingsFromMeteor } from '../../../../imports/host/settings/vendors';
import type { Environment } from '../../../../imports/host/settings/environment';

const KEY = 'sk-canary0123456789abcdef';

function faultOf(read: () => unknown): LLMInvalidRequestError {
  try {
    read();
  } catch (error) {
    if (error instanceof LLMInvalidRequestError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const FULL_ENVIRONMENT: Environment = {
  LLM_PROVIDER: 'anthropic',
  LLM_TEMPERATURE: '0.7',
  SYSTEM_PROMPT: 'Be kind.',
  OPENAI_API_KEY: 'k1',
  OPENAI_MODEL: 'gpt-5-mini',
  OPENAI_API_BASE: 'https://openai.example/v1',
  AZURE_OPENAI_KEY: 'k2',
  AZURE_OPENAI_BASE_URL: 'https://azure.example',
  AZURE_OPENAI_DEPLOYMENT: 'mine',
  AZURE_OPENAI_API_VERSION: '2024-10-21',
  ANTHROPIC_API_KEY: 'k3',
  ANTHROPIC_MODEL: 'claude-sonnet-4-5',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  GOOGLE_API_KEY: 'k4',
  GOOGLE_MODEL: 'gemini-2.5-flash',
  XAI_API_KEY: 'k5',
  XAI_MODEL: 'grok-4',
  GROQ_API_KEY: 'k6',
  GROQ_MODEL: 'llama-3.3-70b-versatile',
  LLAMA_API_KEY: 'k7',
  LLAMA_BASE_URL: 'http://localhost:8000/v1',
  LLAMA_MODEL: 'llama-3',
};

describe('settingsFromEnvironment', () => {
  it('names the variable that is meant where one of a vendor’s SDK would be ignored', () => {
    const read = (env: Environment) => (): unknown => settingsFromEnvironment(env);
    const url = 'https://proxy.example/v1';
    expect(faultOf(read({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url })).message).to.include(
      'OPENAI_BASE_URL is not read. Set OPENAI_API_BASE',
    );
    expect(faultOf(read({ GOOGLE_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url })).message).to.include('GOOGLE_BASE_URL');
    // For another program.
    const beside = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url, OPENAI_API_BASE: 'https://api.openai.com/v1' };
    expect(settingsFromEnvironment(beside).providers).to.have.length(1);
    expect(settingsFromEnvironment({ OPENAI_BASE_URL: url }).providers).to.deep.equal([]);
    expect(faultOf(() => settingsFromMeteor({ OPENAI_API_KEY: KEY }, { OPENAI_BASE_URL: url })).message).to.include(
      'OPENAI_API_BASE',
    );
  });

  it('reads keys by the names of the vendors’ own SDKs, behind ours', () => {
    const keyOf = (env: Environment): unknown => settingsFromEnvironment(env).providers.map(({ apiKey }) => apiKey);
    expect(keyOf({ GEMINI_API_KEY: 'k1' })).to.deep.equal(['k1']);
    expect(keyOf({ GEMINI_API_KEY: 'k1', GOOGLE_API_KEY: 'k2' })).to.deep.equal(['k2']);
    expect(settingsFromMeteor({ GEMINI_API_KEY: 'k1' }, {}).defaultProvider).to.equal('google');
    const azure = { AZURE_OPENAI_API_KEY: 'k3', AZURE_OPENAI_BASE_URL: 'https://a.example' };
    expect(keyOf({ ...azure, AZURE_OPENAI_DEPLOYMENT: 'mine' })).to.deep.equal(['k3']);
    expect(faultOf(() => settingsFromEnvironment(azure)).message).to.include(
      'AZURE_OPENAI_API_KEY is set, but AZURE_OPENAI_DEPLOYMENT is not',
    );
  });

  it('reads every variable', () => {
    expect(settingsFromEnvironment(FULL_ENVIRONMENT)).to.deep.equal({
      defaultProvider: 'anthropic',
      temperature: 0.7,
      systemPrompt: 'Be kind.',
      providers: [
        {
          id: 'openai',
          vendor: 'openai',
          apiKey: 'k1',
          defaultModel: 'gpt-5-mini',
          baseURL: 'https://openai.example/v1',
          allowPrivateHosts: true,
        },
        {
          id: 'azure_openai',
          vendor: 'azure_openai',
          apiKey: 'k2',
          baseURL: 'https://azure.example',
          allowPrivateHosts: true,
          defaultModel: 'mine',
          deployment: 'mine',
          apiVersion: '2024-10-21',
        },
        {
          id: 'anthropic',
          vendor: 'anthropic',
          apiKey: 'k3',
          defaultModel: 'claude-sonnet-4-5',
          baseURL: 'http://127.0.0.1:9',
          allowPrivateHosts: true,
        },
        { id: 'google', vendor: 'google', apiKey: 'k4', defaultModel: 'gemini-2.5-flash' },
        { id: 'grok', vendor: 'grok', apiKey: 'k5', defaultModel: 'grok-4' },
        { id: 'groq', vendor: 'groq', apiKey: 'k6', defaultModel: 'llama-3.3-70b-versatile' },
        {
          id: 'llama',
          vendor: 'llama',
          apiKey: 'k7',
          defaultModel: 'llama-3',
          baseURL: 'http://localhost:8000/v1',
          allowPrivateHosts: true,
        },
      ],
    });
  });

  it('yields no providers without keys, without an error', () => {
    expect(settingsFromEnvironment({})).to.deep.equal({ providers: [] });
    expect(
      settingsFromEnvironment({ OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '  ', OPENAI_MODEL: 'm', LLM_PROVIDER: '' }),
    ).to.deep.equal({ providers: [] });
  });

  it('defaults to openai, otherwise to the first provider with a key', () => {
    expect(settingsFromEnvironment({ GROQ_API_KEY: 'k', OPENAI_API_KEY: 'k' }).defaultProvider).to.equal('openai');
    expect(settingsFromEnvironment({ GROQ_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }).defaultProvider).to.equal(
      'anthropic',
    );
  });

  it('permits a self-hosted Llama server without a key', () => {
    expect(settingsFromEnvironment({ LLAMA_BASE_URL: 'http://localhost:8000/v1' }).providers).to.deep.equal([
      { id: 'llama', vendor: 'llama', baseURL: 'http://localhost:8000/v1', allowPrivateHosts: true },
    ]);
  });

  const PROBLEMS: readonly (readonly [string, Environment, RegExp])[] = [
    [
      'an unknown provider',
      { LLM_PROVIDER: 'openia' },
      /LLM_PROVIDER must be one of: openai, azure_openai, anthropic, google, grok, groq, llama, but is "openia"/,
    ],
    [
      'a provider without its key',
      { LLM_PROVIDER: 'anthropic', OPENAI_API_KEY: 'k' },
      /LLM_PROVIDER is "anthropic", but ANTHROPIC_API_KEY is not set/,
    ],
    [
      'a temperature that is not a number',
      { LLM_TEMPERATURE: 'warm' },
      /LLM_TEMPERATURE must be a number from 0 to 2, but is "warm"/,
    ],
    [
      'a temperature that is too high',
      { LLM_TEMPERATURE: '2.1' },
      /LLM_TEMPERATURE must be a number from 0 to 2, but is "2.1"/,
    ],
    [
      'an invalid URL',
      { OPENAI_API_KEY: 'k', OPENAI_API_BASE: 'openai.example' },
      /OPENAI_API_BASE must be an http or https URL/,
    ],
    [
      'a URL with another protocol',
      { OPENAI_API_KEY: 'k', OPENAI_API_BASE: 'file:///etc/passwd' },
      /OPENAI_API_BASE must be an http or https URL/,
    ],
    ['a URL without a key', { GROQ_BASE_URL: 'https://groq.example' }, /GROQ_BASE_URL is set, but GROQ_API_KEY is not/],
    [
      'a deployment without a key',
      { AZURE_OPENAI_DEPLOYMENT: 'mine' },
      /AZURE_OPENAI_DEPLOYMENT is set, but AZURE_OPENAI_KEY is not/,
    ],
    [
      'Azure without its address',
      { AZURE_OPENAI_KEY: 'k', AZURE_OPENAI_DEPLOYMENT: 'mine' },
      /AZURE_OPENAI_KEY is set, but AZURE_OPENAI_BASE_URL is not/,
    ],
    [
      'Azure without its deployment',
      { AZURE_OPENAI_KEY: 'k', AZURE_OPENAI_BASE_URL: 'https://azure.example' },
      /AZURE_OPENAI_KEY is set, but AZURE_OPENAI_DEPLOYMENT is not/,
    ],
    [
      'a key that is invalid in a header',
      { OPENAI_API_KEY: `${KEY}\u2026` },
      /OPENAI_API_KEY contains characters that are not allowed in an HTTP header/,
    ],
    ['a key with a line break in it', { XAI_API_KEY: `${KEY}\nx` }, /XAI_API_KEY contains characters/],
    ['an invalid model name', { OPENAI_API_KEY: 'k', OPENAI_MODEL: 'gpt 5' }, /OPENAI_MODEL must be a model name/],
  ];
  for (const [title, env, message] of PROBLEMS) {
    it(`names ${title}`, () => {
      const fault = faultOf(() => settingsFromEnvironment(env));
      expect(fault.message).to.match(message);
      expect(fault.message.split('\n')).to.have.length(1);
    });
  }

  it('lists every problem in one error, without quoting a key', () => {
    const all: Environment = {
      ...Object.fromEntries(PROBLEMS.flatMap(([, env]) => Object.entries(env))),
      OPENAI_API_KEY: `${KEY}\u2026`,
      AZURE_OPENAI_KEY: `${KEY} `,
      AZURE_OPENAI_DEPLOYMENT: '',
      LLM_PROVIDER: KEY,
      LLM_TEMPERATURE: KEY,
    };
    const { message } = faultOf(() => settingsFromEnvironment(all));
    for (const name of [
      'LLM_PROVIDER',
      'LLM_TEMPERATURE',
      'OPENAI_API_KEY',
      'OPENAI_API_BASE',
      'OPENAI_MODEL',
      'GROQ_BASE_URL',
      'AZURE_OPENAI_DEPLOYMENT',
      'XAI_API_KEY',
    ])
      expect(message).to.contain(name);
    expect(message).not.to.contain('canary');
  });
});

describe('settingsFromMeteor', () => {
  it('prefers settings to the environment, name by name', () => {
    const settings = { OPENAI_API_KEY: 'mine', LLM_TEMPERATURE: 0.2, SYSTEM_PROMPT: 'From settings.' };
    const merged = settingsFromMeteor(settings, {
      OPENAI_API_KEY: 'theirs',
      OPENAI_MODEL: 'gpt-5-mini',
      LLM_TEMPERATURE: '1',
      SYSTEM_PROMPT: 'From env.',
    });
    expect(merged).to.deep.equal({
      defaultProvider: 'openai',
      temperature: 0.2,
      systemPrompt: 'From settings.',
      providers: [{ id: 'openai', vendor: 'openai', apiKey: 'mine', defaultModel: 'gpt-5-mini' }],
    });
  });

  it('reads the environment if the settings are missing or empty', () => {
    for (const settings of [
      undefined,
      null,
      {},
      { OPENAI_API_KEY: '', LLM_PROVIDER: null, ANTHROPIC_API_KEY: undefined },
    ])
      expect(settingsFromMeteor(settings, FULL_ENVIRONMENT)).to.deep.equal(settingsFromEnvironment(FULL_ENVIRONMENT));
  });

  it('ignores foreign settings, and does not modify its arguments', () => {
    const settings = Object.freeze({ admins: ['ann'], PATH: 7, OPENAI_API_KEY: 'k' });
    const env = Object.freeze({ PATH: '/bin' });
    expect(settingsFromMeteor(settings, env).providers).to.have.length(1);
  });

  it('reports settings of the wrong type together with all other problems', () => {
    const { message } = faultOf(() =>
      settingsFromMeteor(
        { OPENAI_API_KEY: { secret: KEY }, SYSTEM_PROMPT: ['a'], LLM_TEMPERATURE: true },
        { LLM_PROVIDER: 'nobody' },
      ),
    );
    for (const problem of [
      'Meteor.settings.ai.OPENAI_API_KEY must be a string or a number',
      'Meteor.settings.ai.SYSTEM_PROMPT must be a string or a number',
      'Meteor.settings.ai.LLM_TEMPERATURE must be a string or a number',
      'LLM_PROVIDER must be one of: ',
    ]) {
      expect(message).to.contain(problem);
    }
    expect(message).not.to.contain('canary');
    expect(faultOf(() => settingsFromMeteor('ai', {})).path).to.equal('settings.ai');
  });
});
