/** What a call costs is what the vendor's invoice says, and what of it is unknown is named. */
import { expect } from 'chai';
import { priceResponse } from '../../imports/business/ai/application/services/routing/priceResponse';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { omitUndefined } from '../../imports/business/ai/domain/util/omitUndefined';
import { PRICE_CASES } from '../support/priceCases';
import type { PriceCase } from '../support/priceCases';
import { responseContext, WIRES } from '../support/wireContexts';

describe('the invoice', () => {
  for (const each of PRICE_CASES) {
    it(`of ${each.vendor}: ${each.title}, ${each.model}`, () => {
      const { cost, unpriced } = priced(each).vendor;
      if (each.cost === undefined) expect(cost).to.equal(undefined);
      else expect(cost, `${each.sum} (${each.page})`).to.be.closeTo(each.cost, 1e-12);
      expect(unpriced).to.equal(each.unpriced);
    });
  }

  it('is computed from at least sixty cases, of every vendor with list prices', () => {
    expect(PRICE_CASES.length).to.be.at.least(60);
    for (const { page } of PRICE_CASES) expect(page).to.match(/^https:\/\/\S+, \d{4}-\d{2}-\d{2}$|; https/);
  });
});

function priced({ vendor, wire, model, body, baseURL, isBatched }: PriceCase): LLMResponse {
  const read = WIRES[wire].fromResponse(body, responseContext(vendor, model));
  const response = isBatched === true ? { ...read, vendor: { ...read.vendor, batch_id: 'batch_1' } } : read;
  const provider = createProvider({
    vendor,
    apiKey: 'key',
    ...omitUndefined({ baseURL: baseURL ?? ADDRESSES[vendor] }),
  });
  return priceResponse(response, provider, vendor, model);
}

/** The vendors that have no address of their own. */
const ADDRESSES: { readonly [V in PriceCase['vendor']]?: string } = {
  azure_openai: 'https://resource.openai.azure.com',
  openai_compatible: 'https://openrouter.ai/api/v1',
};
