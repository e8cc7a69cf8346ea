/** docs/reference/vendor-features.md says of each feature what becomes of it at each vendor. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLLMError, UnsupportedFeatureError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { GenerateOptions } from '../../../../../imports/business/ai/domain/types/LLMTypes';
import type { VendorName } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { createProvider } from '../../../../../imports/business/ai/infrastructure/factories/createProvider';
import { VENDOR_ROWS } from '../../../../../imports/business/ai/infrastructure/vendors/vendors';

const PAGE = readFileSync(join(__dirname, '../../../../../docs/reference/vendor-features.md'), 'utf8');

/** In the order of the columns. */
const COLUMNS = {
  OpenAI: ['openai', 'gpt-5-mini'],
  'Azure OpenAI': ['azure_openai', 'gpt-5-mini'],
  Anthropic: ['anthropic', 'claude-sonnet-4-5'],
  Google: ['google', 'gemini-2.5-flash'],
  xAI: ['grok', 'grok-4'],
  Groq: ['groq', 'openai/gpt-oss-120b'],
} as const satisfies Record<string, readonly [VendorName, string]>;

const TOOL = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } } as const;
const mcp = { type: 'mcp', server_label: 's', server_url: 'https://mcp.example.com/mcp' } as const;
const PROBES: Readonly<Record<string, Partial<GenerateOptions>>> = {
  '`web_search`': { tools: [{ type: 'web_search' }] },
  '`web_fetch`': { tools: [{ type: 'web_fetch' }] },
  '`file_search`': { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
  '`code_interpreter`': { tools: [{ type: 'code_interpreter' }] },
  '`image_generation`': { tools: [{ type: 'image_generation' }] },
  '`mcp`': { tools: [{ ...mcp, require_approval: 'never' }] },
  '`computer_use`': { tools: [{ type: 'computer_use', display_width: 800, display_height: 600 }] },
  '`tool_search`': { tools: [{ type: 'tool_search' }, TOOL] },
  'function tools': { tools: [TOOL] },
  '`background`': { background: true },
  '`conversation`': { conversation: 'conv_1' },
  "`mode: 'vendor'` of `createBatch`": {
    batch: { isSubmitted: false, isCounted: false, exchange: () => Promise.reject(new Sent()) },
  },
};

class Sent extends Error {}

/** @returns `mapped` for a request that is sent */
async function outcomeOf([vendor, model]: readonly [VendorName, string], probe: Partial<GenerateOptions>) {
  const provider = createProvider({
    vendor,
    apiKey: 'key',
    defaultModel: model,
    ...(vendor === 'azure_openai' ? { baseURL: 'https://example.openai.azure.com' } : {}),
  });
  const sent = async (): Promise<never> => Promise.reject(new Sent());
  const wire = vendor === 'grok' ? { wire: 'responses' as const } : {};
  const options = { ...probe, ...wire, input: 'Hi', ...(probe.batch === undefined ? { onSend: sent } : {}) };
  const error: unknown = await provider.generate('ann', options).catch((thrown: unknown) => thrown);
  if (error instanceof Sent) return 'mapped';
  if (error instanceof UnsupportedFeatureError) return 'refused';
  return isLLMError(error) ? `${error.code}: ${error.message}` : String(error);
}

describe('docs/reference/vendor-features.md', () => {
  const rows = PAGE.split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  it('has a column for each vendor', () => {
    const [head] = rows;
    expect(head?.slice(1)).to.deep.equal(Object.keys(COLUMNS));
  });

  for (const [feature, probe] of Object.entries(PROBES))
    it(`is true of ${feature}`, async () => {
      const row = rows.find(([name]) => name === feature);
      const outcomes = await Promise.all(Object.values(COLUMNS).map((column) => outcomeOf(column, probe)));
      // What is passed is sent; whether it is omitted, a warning says.
      const sent = (cell: string): string => (cell === 'passed' || cell === 'omitted' ? 'mapped' : cell);
      expect(row?.slice(1).map(sent)).to.deep.equal(outcomes);
    });

  it('is true of what is omitted', () => {
    const cells = rows.find(([name]) => name === '`background`')?.slice(1);
    expect(cells?.map((cell) => cell === 'mapped')).to.deep.equal(
      Object.values(COLUMNS).map(([vendor]) => VENDOR_ROWS[vendor].quirks.supportsBackground === true),
    );
  });
});
