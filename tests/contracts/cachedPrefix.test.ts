/** No feature of runs breaks the prefix of their requests that vendors have cached. */
import { expect } from 'chai';
import { cachedTurns } from '../support/cachedTurns';
import type { SimulatedVendor } from '../support/simulatedProviders';
import { IS_SOAK } from '../support/soak';

const PLAN = IS_SOAK ? { runs: 10, turnsPerRun: 50, discoveries: 30 } : { runs: 3, turnsPerRun: 12, discoveries: 4 };
/** The least part of the tokens of the request before that is read from the cache. */
const LEAST_SHARE = 0.95;

const VENDORS: readonly SimulatedVendor[] = [
  { name: 'OpenAI, gpt-6.1-sol', vendor: 'openai', wire: 'responses', model: 'gpt-6.1-sol' },
  { name: 'OpenAI, gpt-5.4', vendor: 'openai', wire: 'responses', model: 'gpt-5.4' },
  { name: 'Anthropic, claude-opus-5-5', vendor: 'anthropic', wire: 'anthropic_messages', model: 'claude-opus-5-5' },
  { name: 'Anthropic, claude-sonnet-4-5', vendor: 'anthropic', wire: 'anthropic_messages', model: 'claude-sonnet-4-5' },
  { name: 'OpenAI chat', vendor: 'openai', wire: 'chat_completions', model: 'gpt-4.1-mini' },
  { name: 'Gemini', vendor: 'google', wire: 'gemini', model: 'gemini-2.5-flash' },
];

describe('the cached prefix of requests', () => {
  for (const vendor of VENDORS)
    it(`is read whole in all of ${PLAN.runs * PLAN.turnsPerRun} turns with 200 tools on ${vendor.name}`, async () => {
      const { turns, tools, takeovers, memories, refusals } = await cachedTurns(vendor, PLAN);
      expect(refusals).to.deep.equal([]);
      expect(tools).to.have.length(PLAN.discoveries);
      expect(takeovers).to.be.at.least(1);
      expect(memories).to.equal(PLAN.runs);
      const shares = turns.map(({ earlier, cached }) => Math.min(1, cached / earlier));
      if (process.env['BOLIDE_FIGURES'] !== undefined) {
        const all = turns.reduce((sum, { earlier }) => sum + earlier, 0);
        const read = turns.reduce((sum, { cached, earlier }) => sum + Math.min(cached, earlier), 0);
        const broken = shares.filter((share) => share < LEAST_SHARE).length;
        console.log(vendor.name, { requests: shares.length + 1, least: Math.min(...shares), mean: read / all, broken });
      }
      expect(Math.min(...shares)).to.be.at.least(LEAST_SHARE);
    });
});
