import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAIModule } from '../../../../imports/business/ai/infrastructure/factories/createAIModule';
import { capabilitiesOf } from '../../../../imports/business/ai/infrastructure/vendors/capabilities';
import { settingsFromEnvironment, settingsFromMeteor } from '../../../../imports/host/settings/vendors';

const PRICE = { asOf: '2026-11-20', input: 3, output: 15 };

function faultOf(models: unknown): string {
  try {
    settingsFromMeteor({ models }, {});
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('nothing was thrown');
}

describe('settings of models', () => {
  it('are absent without settings', () => {
    expect(settingsFromEnvironment({})).to.not.have.property('models');
  });

  it('decide the limits and prices of all providers of a vendor', async () => {
    const LLM_MODELS = JSON.stringify({
      openai: [{ name: 'gpt-7', maxTokens: 2_000_000, supportsReasoning: true, price: PRICE }],
    });
    const settings = settingsFromEnvironment({ OPENAI_API_KEY: 'key', LLM_MODELS });
    const module = createAIModule(settings);
    try {
      const provider = module.providers.get('openai');
      expect(provider?.getCapabilities('gpt-7-2026-12-01')).to.include({
        maxTokens: 2_000_000,
        supportsReasoning: true,
      });
      expect(provider?.getCapabilities('gpt-7').price).to.deep.equal(PRICE);
      expect(provider?.getCapabilities('gpt-5').price?.input).to.equal(1.25);
    } finally {
      await module.close();
    }
  });

  it('are read from a file, of Meteor’s settings first, with those of the provider before all', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'bolide-models-'));
    try {
      const file = join(directory, 'models.json');
      writeFileSync(file, JSON.stringify({ groq: [{ models: '.', maxTokens: 1_000, maxOutputTokens: 10 }] }));
      const { models } = settingsFromMeteor(
        { models: { groq: [{ name: 'a', maxTokens: 2_000 }] } },
        { LLM_MODELS: file },
      );
      const own = [{ models: '^a$', maxOutputTokens: 20 }];
      const module = createAIModule({
        providers: [
          { id: 'one', vendor: 'groq', apiKey: 'k' },
          { id: 'two', vendor: 'groq', apiKey: 'k', models: own },
        ],
        ...(models === undefined ? {} : { models }),
      });
      try {
        expect(module.providers.get('one')?.getCapabilities('a').maxTokens).to.equal(2_000);
        expect(module.providers.get('one')?.getCapabilities('b').maxTokens).to.equal(1_000);
        expect(module.providers.get('two')?.getCapabilities('a').maxOutputTokens).to.equal(20);
      } finally {
        await module.close();
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('may be the list of models.dev, of which other providers are ignored', () => {
    const models = {
      xai: {
        models: {
          'grok-9': {
            modalities: { input: ['text', 'image'], output: ['text'] },
            limit: { context: 3_000_000, output: 50_000 },
            reasoning: true,
            tool_call: { supported: true },
            cost: {
              input: 2,
              output: 10,
              cache_read: 0.2,
              tiers: [{ input: 4, output: 20, tier: { size: 200_000 } }],
            },
            experimental: {
              modes: { fast: { cost: { input: 4, output: 20 }, provider: { body: { service_tier: 'priority' } } } },
            },
          },
          painter: { modalities: { input: ['text'], output: ['image'] }, limit: { context: 1, output: 1 } },
        },
      },
      somebody: { models: { x: {} } },
    };
    const read = settingsFromMeteor({ models }, {}).models;
    expect(Object.keys(read ?? {})).to.deep.equal(['grok']);
    const [row, ...others] = read?.grok ?? [];
    expect(others).to.deep.equal([]);
    expect(row).to.deep.include({
      maxTokens: 3_000_000,
      maxOutputTokens: 50_000,
      supportsTools: true,
      supportsReasoning: true,
      supportsVision: true,
      supportsFiles: false,
    });
    expect(row?.price).to.deep.include({
      input: 2,
      output: 10,
      cached: 0.2,
      longPrompt: { above: 200_000, input: 4, output: 20 },
      serviceTiers: { priority: 2 },
    });
  });

  it('have prices of tools and factors of their own, and otherwise those of the table', () => {
    const price = { asOf: '2026-11-20', input: 3, output: 15, audioInput: 6 };
    const tools = { web_search: { perUse: 0.008, asOf: '2026-11-20' } };
    const models = {
      anthropic: [
        { name: 'claude-opus-5', price },
        { name: 'claude-sonnet-5', price: { ...price, tools, regions: { us: 1.2 } } },
      ],
    };
    const rows = settingsFromMeteor({ models }, {}).models?.anthropic;
    const listed = capabilitiesOf('anthropic', 'claude-opus-5').price;
    const { tools: known, speeds, regions } = listed ?? {};
    expect(capabilitiesOf('anthropic', 'claude-opus-5', rows).price).to.deep.equal({
      ...price,
      tools: known,
      speeds,
      regions,
    });
    expect(capabilitiesOf('anthropic', 'claude-sonnet-5', rows).price).to.deep.include({ tools, regions: { us: 1.2 } });
  });

  for (const [what, models, fault] of [
    ['no object', [], 'Models must be an object of model entries by vendor'],
    ['an unknown vendor', { opnai: [] }, '"opnai" is not a vendor. Expected one of: openai'],
    ['no list', { openai: 'gpt' }, '"openai" must be a list of model entries'],
    ['an entry for no model', { openai: [{ maxTokens: 1 }] }, '"openai[0]" must have either "name" or "models"'],
    ['an invalid pattern', { openai: [{ models: '(' }] }, '"openai[0].models" must be a regular expression'],
    ['an invalid limit', { openai: [{ name: 'a', maxTokens: 0.5 }] }, '"openai[0].maxTokens" must be a positive whole'],
    ['a misspelt field', { openai: [{ name: 'a', context: 1 }] }, '"openai[0].context" is unknown. Expected one of'],
    ['a flag that is none', { openai: [{ name: 'a', supportsTools: 1 }] }, '"openai[0].supportsTools" must be true or'],
    [
      'a price without a day',
      { openai: [{ name: 'a', price: { input: 1, output: 1 } }] },
      '"openai[0].price.asOf" must',
    ],
    [
      'a price without output',
      { openai: [{ name: 'a', price: { asOf: '2026-01-01', input: 1 } }] },
      '"openai[0].price.output" is missing: US dollars per million tokens',
    ],
    [
      'a negative price',
      { openai: [{ name: 'a', price: { asOf: '2026-01-01', input: -1, output: 1 } }] },
      '"openai[0].price.input" must be a number that is not negative',
    ],
    [
      'the price of a tool without a day',
      { openai: [{ name: 'a', price: { asOf: '2026-01-01', input: 1, output: 1, tools: { search: { perUse: 1 } } } }] },
      '"openai[0].price.tools.search.asOf" must',
    ],
    [
      'the price of a tool for what is not known',
      {
        openai: [
          {
            name: 'a',
            price: { asOf: '2026-01-01', input: 1, output: 1, tools: { search: { perHour: 1, asOf: '2026-01-01' } } },
          },
        ],
      },
      '"openai[0].price.tools.search.perHour" is unknown. Expected one of: perUse, perRequest',
    ],
    [
      'a factor that is none',
      { openai: [{ name: 'a', price: { asOf: '2026-01-01', input: 1, output: 1, speeds: { fast: '2' } } }] },
      '"openai[0].price.speeds.fast" must be a number that is not negative',
    ],
    [
      'a long prompt without its length',
      {
        openai: [
          { name: 'a', price: { asOf: '2026-01-01', input: 1, output: 1, longPrompt: { input: 1, output: 1 } } },
        ],
      },
      '"openai[0].price.longPrompt.above" must be a positive number of tokens',
    ],
  ] as const) {
    it(`are rejected with the place: ${what}`, () => {
      expect(faultOf(models)).to.contain(`Meteor.settings.ai.models: ${fault}`);
    });
  }
});
