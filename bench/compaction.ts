/**
 * Compares what a run of 500 turns costs with and without compaction: `npm run bench:compaction -- [--turns 500]
 * [--save]`. The simulator counts tokens, and what the vendors would read from their prompt caches; prices are those of
 * the models.
 */
import { parseArgs } from 'node:util';
import type { VendorName } from '../imports/business/ai/domain/types/VendorTypes';
import { startSimulator } from '../imports/simulator/startSimulator';
import { FACTS, LONG_INPUT, longLoop, longModel } from '../tests/support/longRuns';
import { SIMULATED_VENDORS } from '../tests/support/simulatedProviders';
import type { SimulatedVendor } from '../tests/support/simulatedProviders';
import { saveSection, table } from './resultsPage';

const WINDOW = 32_768;
/** What their models cost is the customer's contract, or the host's business. */
const UNPRICED: ReadonlySet<VendorName> = new Set(['azure_openai', 'llama', 'openai_compatible']);
const HEAD = ['vendor', 'model', 'without', 'with', 'with / without', 'compactions', 'longest request'];

interface LongRun {
  /** US dollars, summaries included. */
  readonly cost: number;
  readonly compactions: number;
  /** Tokens of the longest request. */
  readonly longest: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { turns: { type: 'string', default: '500' }, save: { type: 'boolean', default: false } },
  });
  const turns = Number(values.turns);
  const rows: string[][] = [];
  for (const vendor of SIMULATED_VENDORS) {
    if (UNPRICED.has(vendor.vendor)) continue;
    const without = await run(vendor, turns, false);
    const compacted = await run(vendor, turns, { window: WINDOW });
    rows.push([
      vendor.name,
      vendor.model,
      dollars(without.cost),
      dollars(compacted.cost),
      (compacted.cost / without.cost).toFixed(2),
      String(compacted.compactions),
      `${compacted.longest} of ${without.longest} tokens`,
    ]);
    console.log(rows.at(-1)?.join(' | '));
  }
  console.log(`\n${table(HEAD, rows)}`);
  if (values.save)
    await saveSection({
      title: 'Cost of long runs',
      intro: `\`npm run bench:compaction -- --save\`: a run of ${turns} turns with a call each, in a window of ${WINDOW} tokens with compaction, and in one without an end without it. The vendors' caches count in both.`,
      head: HEAD,
      keys: 2,
      rows,
    });
}

async function run(
  vendor: SimulatedVendor,
  turns: number,
  compaction: false | { readonly window: number },
): Promise<LongRun> {
  const simulator = await startSimulator({ model: longModel(turns), historyLimit: 10_000, cachesPrompts: true });
  try {
    const loop = longLoop(simulator, vendor);
    let compactions = 0;
    let longest = 0;
    loop.on('history:compacted', () => (compactions += 1));
    loop.on('llm:response', ({ response }) => (longest = Math.max(longest, response.usage.input_tokens)));
    const options = { model: vendor.model, input: LONG_INPUT, tools: ['visit'], max_output_tokens: 512, compaction };
    const { response, cost, unpriced } = await loop.execute('ann', options);
    if (response.output_text !== FACTS.join(' ')) throw new Error(`The run forgot: ${response.output_text}`);
    if (cost === undefined) throw new Error(unpriced?.reasons.join(' '));
    return { cost, compactions, longest };
  } finally {
    await simulator.close();
  }
}

function dollars(amount: number): string {
  return `$${amount.toFixed(3)}`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
