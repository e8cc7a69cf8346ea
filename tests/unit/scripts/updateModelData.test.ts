import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ModelData } from '../../../imports/business/ai/infrastructure/vendors/ModelRow';
import { readModelsDev } from '../../../imports/business/ai/infrastructure/vendors/modelsDev';
import { readModelOverrides } from '../../../imports/business/ai/infrastructure/vendors/readModelOverrides';
import { updateModelData } from '../../../scripts/models/updateModelData';

const ASOF = '2026-11-20';
const TEXT = { modalities: { input: ['text'], output: ['text'] } };

function listed(models: Record<string, object>, vendor: 'openai' | 'anthropic' = 'openai') {
  return readModelsDev(
    Object.fromEntries(Object.entries(models).map(([id, model]) => [id, { ...TEXT, ...model }])),
    vendor,
    ASOF,
  );
}

const DATA: ModelData = {
  sources: ['https://example.com'],
  serviceTiers: { flex: 0.5 },
  models: [
    {
      name: 'gpt-9-mini',
      maxTokens: 1_000,
      maxOutputTokens: 100,
      price: {
        asOf: '2026-01-01',
        input: 1,
        output: 2,
        cached: 0.1,
        serviceTiers: { priority: 2 },
        regions: { us: 1.1 },
      },
      note: 'kept',
    },
    { name: 'gpt-9', maxTokens: 2_000, maxOutputTokens: 100, supportsReasoning: true },
    { models: 'gpt-', maxTokens: 500, maxOutputTokens: 50 },
  ],
};

describe('updating the data of models', () => {
  it('changes nothing where the list agrees, whatever day it is', () => {
    const list = listed({
      'gpt-9-mini': { limit: { context: 1_000, output: 100 }, cost: { input: 1, output: 2, cache_read: 0.1 } },
    });
    const { data, changes } = updateModelData(DATA, list);
    expect(changes).to.deep.equal([]);
    expect(data).to.deep.equal(DATA);
  });

  it('takes limits and prices of a known model, and keeps what the list lacks', () => {
    const list = listed({ 'gpt-9-mini': { limit: { context: 4_000, output: 100 }, cost: { input: 3, output: 2 } } });
    const { data, changes } = updateModelData(DATA, list);
    expect(data.models[0]).to.deep.equal({
      name: 'gpt-9-mini',
      maxTokens: 4_000,
      maxOutputTokens: 100,
      price: { asOf: ASOF, input: 3, output: 2, serviceTiers: { priority: 2 }, regions: { us: 1.1 } },
      note: 'kept',
    });
    expect(data.models.slice(1)).to.deep.equal(DATA.models.slice(1));
    expect(changes).to.deep.equal(['gpt-9-mini: maxTokens 1,000 → 4,000, price $1/$2, cached $0.1 → $3/$2']);
  });

  it('adds a model before the entry that described it so far', () => {
    const list = listed({
      'gpt-9-ultra': { limit: { context: 9_000, output: 100 }, cost: { input: 30, output: 60 } },
      'gpt-10': { limit: { context: 500, output: 50 }, cost: { input: 1, output: 1 } },
    });
    const { data } = updateModelData(DATA, list);
    expect(data.models.map(({ name, models }) => name ?? models)).to.deep.equal([
      'gpt-9-mini',
      'gpt-9-ultra',
      'gpt-9',
      'gpt-10',
      'gpt-',
    ]);
    expect(data.models[1]).to.deep.include({ supportsReasoning: true, maxTokens: 9_000 });
    expect(updateModelData(data, list).changes).to.deep.equal([]);
  });

  it('says why it takes no price that it cannot represent', () => {
    const limit = { context: 2_000, output: 100 };
    const tier = (size: number) => ({ input: 2, output: 2, tier: { size } });
    const list = listed({
      'gpt-9': { limit, cost: { input: 1, output: 1, tiers: [tier(10), tier(20)] } },
      'gpt-9-mini': { limit: { context: 1_000, output: 100 }, cost: { input: 1, output: 2, reasoning: 3 } },
    });
    const { data, changes } = updateModelData(DATA, list);
    expect(data).to.deep.equal(DATA);
    expect(changes).to.deep.equal([
      'gpt-9: no price is taken from the list, since there are several prices for long prompts',
      'gpt-9-mini: no price is taken from the list, since reasoning has a price of its own',
    ]);
  });

  it('adds what Anthropic’s cache costs for an hour', () => {
    const list = listed({ 'claude-9': { limit: {}, cost: { input: 3, output: 15, cache_write: 3.75 } } }, 'anthropic');
    expect(list[0]?.price).to.deep.include({ cacheWrite: 3.75, cacheWriteHour: 6 });
  });
});

describe('the data of models', () => {
  const directory = join(__dirname, '../../../imports/business/ai/infrastructure/vendors/models');
  for (const file of readdirSync(directory)) {
    it(`is valid: ${file}`, () => {
      const { sources, models } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as ModelData;
      expect(sources).to.not.be.empty;
      expect(() =>
        readModelOverrides(
          { openai: models.map((entry) => ({ ...entry, maxOutputTokens: entry.maxOutputTokens || 1 })) },
          ASOF,
        ),
      ).to.not.throw();
    });
  }
});
