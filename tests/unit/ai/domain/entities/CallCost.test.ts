/**
 * What calls cost, computed by hand from the vendors' price lists: US dollars per million tokens, as of the day
 * that the row states.
 */
import { expect } from 'chai';
import { costOf, priceUsage } from '../../../../../imports/business/ai/domain/entities/CallCost';
import type { PricedUsage } from '../../../../../imports/business/ai/domain/entities/CallCost';
import type { VendorName } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { DEFAULT_QUIRKS } from '../../../../../imports/business/ai/infrastructure/vendors/defaultQuirks';
import { toUsage } from '../../../../../imports/business/ai/infrastructure/converters/anthropic/response/outcome';
import { fromChatUsage } from '../../../../../imports/business/ai/infrastructure/converters/chat/usage';
import { usageOf as fromGemini } from '../../../../../imports/business/ai/infrastructure/converters/google/usage';
import { usageOf as fromResponses } from '../../../../../imports/business/ai/infrastructure/converters/responses/ResponsesConverter';
import { reportedCost } from '../../../../../imports/business/ai/infrastructure/converters/shared/reportedCost';
import { capabilitiesOf } from '../../../../../imports/business/ai/infrastructure/vendors/capabilities';

function costAt(vendor: VendorName, model: string, usage: PricedUsage): number {
  const { price } = capabilitiesOf(vendor, model);
  if (price === undefined) throw new Error(`${model} has no price.`);
  return costOf(usage, price);
}

const MILLION = 1_000_000;

describe('the cost of a call', () => {
  it('prices Anthropic’s input, cache reads and cache writes of five minutes and of an hour once each', () => {
    // https://platform.claude.com/docs/en/models/sonnet-5/overview: $2, $10, writes $2.50 and $4, reads $0.20.
    const usage = toUsage({
      input_tokens: 1_000,
      cache_read_input_tokens: 20_000,
      cache_creation_input_tokens: 5_000,
      cache_creation: { ephemeral_5m_input_tokens: 3_000, ephemeral_1h_input_tokens: 2_000 },
      output_tokens: 400,
      output_tokens_details: { thinking_tokens: 300 },
    });
    const dollars = (1_000 * 2 + 20_000 * 0.2 + 3_000 * 2.5 + 2_000 * 4 + 400 * 10) / MILLION;
    expect(costAt('anthropic', 'claude-sonnet-5-20260630', usage)).to.be.closeTo(dollars, 1e-12);
  });

  it('prices a prompt of Haiku 5.5 above 100,000 tokens at the higher rates, cached tokens included', () => {
    // https://platform.claude.com/docs/en/models/haiku-5-5/overview: $0.10 and $0.50, above 100,000 five times that.
    const short = toUsage({ input_tokens: 40_000, cache_read_input_tokens: 60_000, output_tokens: 1_000 });
    const long = toUsage({ input_tokens: 40_001, cache_read_input_tokens: 60_000, output_tokens: 1_000 });
    expect(costAt('anthropic', 'claude-haiku-5-5', short)).to.be.closeTo(
      (40_000 * 0.1 + 60_000 * 0.01 + 1_000 * 0.5) / MILLION,
      1e-12,
    );
    expect(costAt('anthropic', 'claude-haiku-5-5', long)).to.be.closeTo(
      (40_001 * 0.5 + 60_000 * 0.05 + 1_000 * 2.5) / MILLION,
      1e-12,
    );
  });

  it('prices OpenAI’s cached input, cache writes and reasoning, and prompts above 272,000 tokens', () => {
    // https://developers.openai.com/api/docs/models/gpt-6.2-sol: $2, $10, cached $0.10, writes $2.50.
    const usage = (input: number) =>
      fromResponses({
        input_tokens: input,
        input_tokens_details: { cached_tokens: 10_000, cache_write_tokens: 4_000 },
        output_tokens: 2_000,
        output_tokens_details: { reasoning_tokens: 1_500 },
      });
    const uncached = 272_000 - 14_000;
    expect(costAt('openai', 'gpt-6.2-sol', usage(272_000))).to.be.closeTo(
      (uncached * 2 + 10_000 * 0.1 + 4_000 * 2.5 + 2_000 * 10) / MILLION,
      1e-12,
    );
    expect(costAt('openai', 'gpt-6.2-sol', usage(272_001))).to.be.closeTo(
      ((uncached + 1) * 4 + 10_000 * 0.2 + 4_000 * 5 + 2_000 * 15) / MILLION,
      1e-12,
    );
  });

  it('prices OpenAI’s usage on the chat wire, by the dated name that the response states', () => {
    // https://developers.openai.com/api/docs/models/gpt-5.2: $1.75, $14, cached $0.175.
    const usage = fromChatUsage(
      {
        prompt_tokens: 3_000,
        prompt_tokens_details: { cached_tokens: 1_000 },
        completion_tokens: 500,
        completion_tokens_details: { reasoning_tokens: 400 },
        total_tokens: 3_500,
      },
      DEFAULT_QUIRKS,
    );
    expect(costAt('openai', 'gpt-5.2-2026-01-11', usage)).to.be.closeTo(
      (2_000 * 1.75 + 1_000 * 0.175 + 500 * 14) / MILLION,
      1e-12,
    );
  });

  it('prices Gemini’s thoughts as output, and prompts of its Pro models above 200,000 tokens', () => {
    // https://ai.google.dev/gemini-api/docs/pricing: 2.5 Pro $1.25, $10, cached $0.125; above: $2.50, $15, $0.25.
    const usage = (prompt: number) =>
      fromGemini(
        {
          promptTokenCount: prompt,
          cachedContentTokenCount: 50_000,
          candidatesTokenCount: 300,
          thoughtsTokenCount: 700,
          totalTokenCount: prompt + 1_000,
        },
        [],
      );
    expect(costAt('google', 'models/gemini-2.5-pro', usage(200_000))).to.be.closeTo(
      (150_000 * 1.25 + 50_000 * 0.125 + 1_000 * 10) / MILLION,
      1e-12,
    );
    expect(costAt('google', 'gemini-2.5-pro', usage(200_001))).to.be.closeTo(
      (150_001 * 2.5 + 50_000 * 0.25 + 1_000 * 15) / MILLION,
      1e-12,
    );
  });

  it('prices Groq’s cached input at half the price', () => {
    // https://console.groq.com/docs/prompt-caching: gpt-oss-120b $0.15, $0.60, cached $0.075.
    const usage = fromChatUsage(
      { prompt_tokens: 2_000, prompt_tokens_details: { cached_tokens: 1_024 }, completion_tokens: 100 },
      DEFAULT_QUIRKS,
    );
    expect(costAt('groq', 'openai/gpt-oss-120b', usage)).to.be.closeTo(
      (976 * 0.15 + 1_024 * 0.075 + 100 * 0.6) / MILLION,
      1e-12,
    );
  });

  it('is what xAI itself billed for a recorded response', () => {
    // tests/fixtures/recorded/xai/xai-resp-image-a/1.response.json: 11,706,000 ticks of 10^-10 dollars.
    const billed = {
      input_tokens: 252,
      input_tokens_details: { cached_tokens: 128 },
      output_tokens: 396,
      output_tokens_details: { reasoning_tokens: 326 },
      cost_in_usd_ticks: 11_706_000,
    };
    expect(costAt('grok', 'grok-4.3', fromResponses(billed))).to.be.closeTo(0.0011706, 1e-12);
    expect(reportedCost(billed)).to.deep.equal({ cost: 0.0011706 });
  });

  it('is what OpenRouter reports, unless that is no amount', () => {
    expect(reportedCost({ cost: 0.25 })).to.deep.equal({ cost: 0.25 });
    for (const cost of [-1, NaN, '0.25', null]) expect(reportedCost({ cost })).to.deep.equal({});
  });

  it('prices tokens without a price of their own as input', () => {
    const usage = toUsage({ input_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 3 });
    expect(costOf(usage, { input: 1, output: 9, asOf: '2026-11-22' })).to.equal(6 / MILLION);
  });

  it('multiplies the list price by the service tier of the response, or says that it has no price', () => {
    const usage = fromChatUsage({ prompt_tokens: MILLION, completion_tokens: 100_000 }, DEFAULT_QUIRKS);
    const { price } = capabilitiesOf('openai', 'gpt-5.5');
    expect(priceUsage(usage, price, 'gpt-5.5')).to.deep.equal({ cost: 10 + 4.5 });
    expect(priceUsage(usage, price, 'gpt-5.5', { serviceTier: 'default' })).to.deep.equal({ cost: 10 + 4.5 });
    expect(priceUsage(usage, price, 'gpt-5.5', { serviceTier: 'flex' })).to.deep.equal({ cost: (10 + 4.5) / 2 });
    expect(priceUsage(usage, price, 'gpt-5.5', { serviceTier: 'priority' })).to.deep.equal({ cost: (10 + 4.5) * 2.5 });
    expect(priceUsage(usage, price, 'gpt-5.5', { serviceTier: 'scale' })).to.deep.equal({
      unpriced: 'no price for service tier "scale" of model "gpt-5.5"',
    });
  });

  it('is unknown without a price and without usage, with the reason', () => {
    const usage = toUsage({ input_tokens: 1 });
    const price = { input: 1, output: 1, asOf: '2026-11-22' };
    expect(priceUsage(usage, undefined, 'x')).to.deep.equal({ unpriced: 'no price for model "x"' });
    expect(priceUsage(toUsage({}), price, 'x')).to.deep.equal({ unpriced: 'usage not reported' });
    expect(priceUsage(usage, price, 'x')).to.deep.equal({ cost: 1 / MILLION });
  });
});
