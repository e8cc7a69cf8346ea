/** The capabilities of listed and unlisted models, and the validity of the tables. */
import { expect } from 'chai';
import fc from 'fast-check';
import { LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { anthropic } from '../../../../../imports/business/ai/infrastructure/vendors/anthropic';
import { google } from '../../../../../imports/business/ai/infrastructure/vendors/google';
import { grok } from '../../../../../imports/business/ai/infrastructure/vendors/grok';
import { groq } from '../../../../../imports/business/ai/infrastructure/vendors/groq';
import { openai } from '../../../../../imports/business/ai/infrastructure/vendors/openai';
import { OPEN_MODELS } from '../../../../../imports/business/ai/infrastructure/vendors/openModels';
import { capabilitiesOf } from '../../../../../imports/business/ai/infrastructure/vendors/capabilities';
import { SCHEME_OF_WIRE, VENDORS } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import type { ModelCapabilities } from '../../../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { ModelRow } from '../../../../../imports/business/ai/infrastructure/vendors/ModelRow';
import type { VendorName, WireName } from '../../../../../imports/business/ai/domain/types/VendorTypes';

/** For each table, a name that matches each of its rows, in order. */
const TABLES: Readonly<Record<string, { readonly rows: readonly ModelRow[]; readonly names: readonly string[] }>> = {
  openai: {
    rows: openai.models,
    names: [
      'gpt-5.6-cyber',
      'gpt-image-2.5-sunburst',
      'gpt-image-1.5',
      'gpt-image-1-mini',
      'gpt-6-astra',
      'gpt-6.2-sol',
      'gpt-6.1-sol',
      'gpt-6.1-terra',
      'gpt-6-sol',
      'gpt-6-luna',
      'gpt-5.6-terra',
      'gpt-5.6-luna',
      'gpt-5.6-sol',
      'gpt-5.5-pro-2026-04-23',
      'gpt-5.5-2026-04-23',
      'gpt-5.4-mini-2026-03-17',
      'gpt-5.4-nano',
      'gpt-5.4',
      'gpt-5.3-codex-spark',
      'gpt-5.3-chat-latest',
      'gpt-5.2-chat-latest',
      'gpt-5.1-chat-latest',
      'gpt-5.2-pro',
      'gpt-5.3-codex',
      'gpt-5.2-2025-12-11',
      'gpt-5.1-codex-mini',
      'gpt-5.1-mini',
      'gpt-5.1-codex-max',
      'gpt-5-pro-2025-10-06',
      'gpt-5-mini',
      'gpt-5-nano',
      'gpt-5-chat-latest',
      'gpt-5-2025-08-07',
      'o3-deep-research-2025-06-26',
      'o4-mini-deep-research',
      'o4-mini-2025-04-16',
      'o3-pro',
      'o3-mini',
      'o3-2025-04-16',
      'o1-mini',
      'o1-preview',
      'o1-pro',
      'o1',
      'codex-mini-latest',
      'gpt-4.1-mini',
      'gpt-4.1-nano',
      'gpt-4.1',
      'gpt-4.5-preview',
      'gpt-4o-mini-search-preview-2025-03-11',
      'gpt-4o-mini',
      'gpt-4o-2024-05-13',
      'chatgpt-4o-latest',
      'gpt-4-0125-preview',
      'gpt-4-32k-0613',
      'gpt-4-0613',
      'gpt-3.5-turbo-16k',
      'gpt-7-nova',
      'o5-mini',
      'text-embedding-3-small',
      'text-embedding-3-large',
      'text-embedding-ada-002',
    ],
  },
  anthropic: {
    rows: anthropic.models,
    names: [
      'claude-fable-5-1',
      'claude-mythos-5',
      'claude-opus-5-5',
      'claude-opus-5',
      'claude-sonnet-5-5',
      'claude-sonnet-5',
      'claude-haiku-5-5',
      'claude-opus-4-8',
      'claude-opus-4-7',
      'claude-sonnet-4-6',
      'claude-opus-4-5-20251101',
      'claude-sonnet-4-5-20250929',
      'claude-haiku-4-5',
      'claude-opus-4-1-20250805',
      'claude-opus-4-20250514',
      'claude-sonnet-4-0',
      'claude-3-7-sonnet-20250219',
      'claude-3-5-haiku-20241022',
      'claude-3-5-sonnet-latest',
      'claude-3-opus-20240229',
      'claude-3-sonnet-20240229',
      'claude-3-haiku-20240307',
      'claude-2.1',
      'claude-fable-5-2',
    ],
  },
  google: {
    rows: google.models,
    names: [
      'gemini-embedding-001',
      'gemini-embedding-2',
      'gemini-3.1-flash-image',
      'gemini-3-pro-image-preview',
      'gemini-2.5-flash-image',
      'gemini-2.5-flash-preview-tts',
      'gemini-4-argon',
      'gemini-3.8-flash',
      'gemini-3.6-flash',
      'gemini-3.5-flash-lite',
      'gemini-3.5-flash',
      'gemini-3.1-flash-lite',
      'gemini-3.1-pro-preview',
      'gemini-3-flash-preview',
      'gemini-2.5-flash-lite',
      'gemini-2.5-flash',
      'gemini-2.5-pro',
      'gemini-2.0-flash-lite-001',
      'gemini-2.0-flash-001',
      'gemini-1.5-flash',
      'gemini-flash-latest',
      'gemini-5-neon',
      'gemma-4-31b-it',
      'gemma-3-27b-it',
      'gemma-3-4b-it',
      'gemini-pro',
    ],
  },
  grok: {
    rows: grok.models,
    names: [
      'grok-4.7',
      'grok-4.6',
      'grok-4.5',
      'grok-4.3',
      'grok-4.20-multi-agent-0309',
      'grok-4.20-0309-non-reasoning',
      'grok-4.20-0309-reasoning',
      'grok-4-1-fast-non-reasoning',
      'grok-4-fast',
      'grok-4-0709',
      'grok-build-0.1',
      'grok-code-fast-1',
      'grok-3-mini-fast',
      'grok-3-mini',
      'grok-3-fast',
      'grok-3-latest',
      'grok-2-vision-1212',
      'grok-2-1212',
      'grok-5',
    ],
  },
  groq: {
    rows: groq.models,
    names: [
      'openai/gpt-oss-safeguard-20b',
      'meta-llama/llama-guard-4-12b',
      'groq/compound-mini',
      'openai/gpt-oss-120b',
      'openai/gpt-oss-20b',
      'llama-3.1-8b-instant',
      'llama-3.3-70b-versatile',
      'meta-llama/llama-4-scout-17b-16e-instruct',
      'meta-llama/llama-4-maverick-17b-128e-instruct',
      'moonshotai/kimi-k2-instruct-0905',
      'moonshotai/kimi-k2-instruct',
      'qwen/qwen3-32b',
      'deepseek-r1-distill-llama-70b',
      'gemma2-9b-it',
      'llama3-70b-8192',
      'llama3-8b-8192',
    ],
  },
  open: {
    rows: OPEN_MODELS,
    names: [
      'llama-guard3:8b',
      'gpt-oss:120b',
      'meta-llama/Llama-4-Scout-17B-16E-Instruct',
      'llama3.2-11b-vision',
      'meta-llama/Llama-3.3-70B-Instruct',
      'llama3:8b',
    ],
  },
};

const rowFor = (rows: readonly ModelRow[], name: string): number =>
  rows.findIndex(({ models }) => new RegExp(models, 'i').test(name));

describe('model tables', () => {
  for (const [table, { rows, names }] of Object.entries(TABLES)) {
    it(`are each reachable: ${table}`, () => {
      expect(names.map((name) => [name, rowFor(rows, name)])).to.deep.equal(names.map((name, index) => [name, index]));
      expect(names).to.have.length(rows.length);
    });

    it(`are valid: ${table}`, () => {
      for (const row of rows) {
        expect(Number.isSafeInteger(row.maxTokens) && Number.isSafeInteger(row.maxOutputTokens), row.models).to.equal(
          true,
        );
        const generates = row.makesEmbeddings !== true;
        expect(row.maxOutputTokens, row.models)
          .to.be.at.least(generates ? 1 : 0)
          .and.at.most(generates ? (row.maxTokens ?? 0) : 0);
        if (row.price === undefined) continue;
        expect(row.price.asOf, row.models).to.match(/^202[56]-\d\d-\d\d$/);
        expect(row.price.output, row.models).to.be.at.least(generates ? row.price.input : 0);
        expect(row.price.cached ?? 0, row.models).to.be.below(row.price.input);
        for (const [tool, { asOf, source, ...fees }] of Object.entries(row.price.tools ?? {})) {
          expect(asOf, tool).to.match(/^202[56]-\d\d-\d\d$/);
          expect(source, tool).to.match(/^https:/);
          expect(fees, tool).to.not.deep.equal({});
        }
      }
    });
  }

  it("do not match a newer version with an older one's row", () => {
    const pairs: readonly (readonly [VendorName, string, string])[] = [
      ['anthropic', 'claude-opus-4', 'claude-opus-4-5'],
      ['anthropic', 'claude-opus-4', 'claude-opus-4-9'],
      ['anthropic', 'claude-opus-5', 'claude-opus-5-6'],
      ['openai', 'gpt-5', 'gpt-5.7'],
      ['google', 'gemini-2.0-flash', 'gemini-2.01-flash'],
    ];
    for (const [vendor, older, newer] of pairs)
      expect(capabilitiesOf(vendor, newer).price, newer).not.to.deep.equal(capabilitiesOf(vendor, older).price);
  });
});

describe('capabilitiesOf', () => {
  const EXPECTED: readonly (readonly [VendorName, string, Partial<ModelCapabilities>])[] = [
    [
      'openai',
      'gpt-4o',
      {
        maxTokens: 128_000,
        maxOutputTokens: 16_384,
        supportsVision: true,
        supportsReasoning: false,
        supportsJSONSchema: true,
        keepsState: true,
        supportsAsyncTools: false,
      },
    ],
    [
      'openai',
      'ft:gpt-4o-mini-2024-07-18:acme::id',
      { maxTokens: 128_000, maxOutputTokens: 16_384, supportsReasoning: false },
    ],
    ['openai', 'gpt-5-nano', { maxTokens: 400_000, maxOutputTokens: 128_000, supportsReasoning: true }],
    ['openai', 'gpt-6-sol', { supportsReasoning: true, supportsAsyncTools: true, keepsState: true }],
    ['openai', 'o3-mini', { supportsReasoning: true, supportsVision: false }],
    ['openai', 'gpt-3.5-turbo', { supportsVision: false, supportsJSONSchema: false, supportsTools: true }],
    ['azure_openai', 'gpt-35-turbo', { maxTokens: 16_385, maxOutputTokens: 4_096, keepsState: true }],
    ['azure_openai', 'grok-4-1-fast-non-reasoning', { supportsReasoning: false, maxTokens: 2_000_000 }],
    [
      'anthropic',
      'claude-3-haiku-20240307',
      { maxOutputTokens: 4_096, supportsReasoning: false, supportsJSONSchema: false },
    ],
    [
      'anthropic',
      'claude-sonnet-4-20250514',
      { maxOutputTokens: 64_000, supportsReasoning: true, supportsJSONSchema: false },
    ],
    [
      'anthropic',
      'claude-sonnet-4-5',
      { maxOutputTokens: 64_000, supportsJSONSchema: true, keepsState: false, supportsAsyncTools: false },
    ],
    ['anthropic', 'claude-opus-4@20250514', { maxOutputTokens: 32_000 }],
    ['anthropic', 'us.anthropic.claude-opus-4-1-20250805-v1:0', { maxOutputTokens: 32_000, supportsJSONSchema: true }],
    ['anthropic', 'claude-opus-5-5', { maxTokens: 1_000_000, maxOutputTokens: 128_000, supportsJSONSchema: true }],
    [
      'google',
      'models/gemini-2.5-flash',
      { maxTokens: 1_048_576, maxOutputTokens: 65_536, supportsReasoning: true, keepsState: false },
    ],
    ['google', 'gemini-1.5-flash', { maxOutputTokens: 8_192, supportsReasoning: false }],
    ['grok', 'grok-4.3', { maxTokens: 1_000_000, supportsReasoning: true, keepsState: true }],
    ['grok', 'grok-4-fast-non-reasoning', { supportsReasoning: false }],
    [
      'groq',
      'openai/gpt-oss-120b',
      { supportsReasoning: true, supportsJSONSchema: true, supportsVision: false, maxOutputTokens: 65_536 },
    ],
    ['groq', 'llama-3.3-70b-versatile', { supportsJSONSchema: false, supportsVision: false }],
    ['llama', 'meta-llama/llama-4-scout-17b-16e-instruct', { supportsVision: true, maxTokens: 131_072 }],
    [
      'openai_compatible',
      'anthropic/claude-opus-4.5',
      { maxTokens: 200_000, maxOutputTokens: 64_000, supportsReasoning: true, keepsState: false },
    ],
  ];
  for (const [vendor, model, expected] of EXPECTED) {
    it(`lists ${model} of ${vendor}`, () => {
      expect(capabilitiesOf(vendor, model)).to.include(expected);
    });
  }

  it("reports prices only at the model's own vendor", () => {
    expect(capabilitiesOf('openai', 'gpt-5').price).to.deep.include({
      input: 1.25,
      output: 10,
      cached: 0.125,
      serviceTiers: { flex: 0.5, priority: 2 },
      asOf: '2026-07-02',
    });
    expect(capabilitiesOf('azure_openai', 'gpt-5'))
      .to.include({ maxTokens: 400_000 })
      .and.not.to.have.property('price');
    expect(capabilitiesOf('llama', 'llama-3.3-70b-versatile')).not.to.have.property('price');
  });

  it('reports stored state and late outputs only on the Responses wire', () => {
    expect(capabilitiesOf('openai', 'gpt-6-sol', [], 'chat_completions')).to.include({
      keepsState: false,
      supportsAsyncTools: false,
    });
    expect(capabilitiesOf('azure_openai', 'gpt-6-sol', [], 'responses')).to.include({
      keepsState: true,
      supportsAsyncTools: false,
    });
    expect(capabilitiesOf('grok', 'grok-4.3', [], 'chat_completions')).to.include({ keepsState: false });
    expect(capabilitiesOf('openai_compatible', 'gpt-6-sol', [], 'responses')).to.include({
      keepsState: false,
      supportsAsyncTools: false,
    });
  });

  it('assumes low limits and full content support for unlisted models', () => {
    expect(capabilitiesOf('openai_compatible', 'acme-1')).to.deep.equal({
      supportsTools: true,
      supportsParallelTools: true,
      supportsAsyncTools: false,
      supportsVision: true,
      supportsFiles: true,
      supportsJSON: true,
      supportsJSONSchema: true,
      supportsReasoning: false,
      keepsState: false,
      maxTokens: 32_768,
      maxOutputTokens: 4_096,
      isWindowUnknown: true,
    });
    expect(capabilitiesOf('openai', 'gpt-6-sol')).not.to.have.property('isWindowUnknown');
    const stated = capabilitiesOf('openai_compatible', 'acme-1', [{ models: 'acme', maxTokens: 8_192 }]);
    expect(stated).to.include({ maxTokens: 8_192 }).and.not.to.have.property('isWindowUnknown');
    expect(capabilitiesOf('anthropic', 'acme-1')).to.include({ supportsJSONSchema: false, maxOutputTokens: 4_096 });
    expect(capabilitiesOf('anthropic', 'claude-next-9')).to.include({
      supportsJSONSchema: true,
      maxOutputTokens: 64_000,
      supportsReasoning: true,
    });
    expect(capabilitiesOf('openai', 'gpt-9')).to.include({ supportsReasoning: true, supportsAsyncTools: false });
  });

  it('lets settings override single capabilities', () => {
    const extensions: readonly ModelRow[] = [
      { models: '^prod-chat$', maxTokens: 400_000, supportsReasoning: true },
      { models: '^claude-opus-5', maxOutputTokens: 16_000 },
      { models: '^claude-opus-5', maxOutputTokens: 1 },
    ];
    expect(capabilitiesOf('azure_openai', 'prod-chat', extensions))
      .to.include({ maxTokens: 400_000, supportsReasoning: true, maxOutputTokens: 4_096, keepsState: true })
      .and.not.to.have.property('models');
    expect(capabilitiesOf('anthropic', 'claude-opus-5', extensions)).to.include({
      maxOutputTokens: 16_000,
      maxTokens: 1_000_000,
    });
    expect(capabilitiesOf('anthropic', 'claude-opus-5')).to.include({ maxOutputTokens: 128_000 });
    expect(capabilitiesOf('openai_compatible', 'x', [{ models: 'x', keepsState: true }], 'responses')).to.include({
      keepsState: true,
    });
  });

  it('names an invalid pattern in the settings', () => {
    expect(() => capabilitiesOf('openai', 'gpt-5', [{ models: '(' }]))
      .to.throw(LLMInvalidRequestError, /"models" is not a valid regular expression: \(/)
      .with.property('path', 'models');
  });

  it('returns consistent capabilities for every vendor, wire and name', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<VendorName>(...VENDORS),
        fc.constantFrom<WireName>(...(Object.keys(SCHEME_OF_WIRE) as WireName[])),
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          fc.constantFrom(...Object.values(TABLES).flatMap(({ names }) => names)),
        ),
        (vendor, wire, model) => {
          const capabilities = capabilitiesOf(vendor, model, [], wire);
          expect(capabilities.maxOutputTokens)
            .to.be.at.least(capabilities.makesEmbeddings === true ? 0 : 1)
            .and.at.most(capabilities.maxTokens);
          expect(capabilities.supportsTools || !capabilities.supportsParallelTools).to.equal(true);
          expect(capabilities).not.to.have.property('models');
          expect(capabilitiesOf(vendor, model, [], wire)).to.equal(capabilities);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('requires a row to name its models, by its type', () => {
    // @ts-expect-error a row without its pattern
    const row: ModelRow = { maxTokens: 1 };
    expect(row).not.to.have.property('models');
  });
});
