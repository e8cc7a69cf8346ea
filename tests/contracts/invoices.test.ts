/** What a call costs is what the vendor's invoice says, and what of it is unknown is named. */
import { expect } from 'chai';
import { priceResponse } from '../../imports/business/ai/application/services/routing/priceResponse';
import type { WireName } from '../../imports/business/ai/domain/types/VendorTypes';
import type { ResponseContext } from '../../imports/business/ai/infrastructure/converters/Wire';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { addUsage, NO_USAGE } from '../../imports/business/ai/domain/entities/Response';
import { decodeStream } from '../../imports/business/ai/infrastructure/streaming/decodeStream';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { omitUndefined } from '../../imports/business/ai/domain/util/omitUndefined';
import { PRICE_CASES } from '../support/priceCases';
import type { PriceCase } from '../support/priceCases';
import { modelOf, RECORDINGS } from '../support/recordings';
import type { Recording } from '../support/recordings';
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

describe('the use of vendors’ tools', () => {
  const RECORDED: readonly (readonly [caseId: string, uses: LLMResponse['usage']['server_tool_use']])[] = [
    ['anthropic-web-search-stream-a', { web_search: 2 }],
    ['openai-resp-web-search-stream-a', { web_search: 7 }],
    ['openai-resp-server-tool-a', { code_interpreter: 3 }],
    // A page that was read, not a search.
    ['gemini-search-stream-a', undefined],
    ['xai-resp-web-search-a', { web_search: 2 }],
  ];
  for (const [caseId, uses] of RECORDED) {
    it(`is counted in recorded traffic: ${caseId}`, async () => {
      const recording = RECORDINGS.find((each) => each.caseId === caseId);
      if (recording === undefined) throw new Error(`There is no recording ${caseId}.`);
      expect((await read(recording)).usage.server_tool_use).to.deep.equal(uses);
    });
  }

  it('is that of a whole response in the last chunk of Google’s streams', async () => {
    for (const { vendor, model, body } of PRICE_CASES.filter(({ wire }) => wire === 'gemini')) {
      const context = responseContext(vendor, model);
      const whole = WIRES.gemini.fromResponse(body, context);
      const text = `data: ${JSON.stringify(body)}\n\n`;
      expect((await streamed(text, 'gemini', context)).usage).to.deep.equal(whole.usage);
    }
  });

  it('is added up, with the details of tokens, over calls', () => {
    const [search, code] = ['ten web searches', 'code in a container'].map((title) => {
      const found = PRICE_CASES.find((each) => each.vendor === 'anthropic' && each.title === title);
      if (found === undefined) throw new Error(`There is no case "${title}".`);
      return priced(found).usage;
    });
    const spoken = { ...NO_USAGE, input_tokens_details: { ...NO_USAGE.input_tokens_details, audio_tokens: 7 } };
    const sum = [search, code, search, spoken, spoken].reduce((total, usage) => addUsage(total!, usage!), NO_USAGE);
    expect(sum?.server_tool_use).to.deep.equal({ web_search: 20, code_execution: 2 });
    expect(sum?.input_tokens_details).to.deep.equal({ cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 14 });
  });
});

function read(recording: Recording): Promise<LLMResponse> | LLMResponse {
  const { vendor, wire, stream, text } = recording;
  const context = responseContext(vendor, modelOf(recording));
  return stream ? streamed(text, wire, context) : WIRES[wire].fromResponse(JSON.parse(text), context);
}

async function streamed(text: string, wire: WireName, context: ResponseContext): Promise<LLMResponse> {
  const options = { streamIdleTimeout: 60_000, maxEventBytes: 8 * 1024 * 1024, abort: () => undefined };
  for await (const event of decodeStream(bytesOf(text), WIRES[wire].createDecoder(context), options)) {
    if (event.type === 'response.completed') return event.response;
  }
  throw new Error('The stream has no end.');
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function priced({ vendor, wire, model, body, baseURL, isBatched, storedTokenHours }: PriceCase): LLMResponse {
  const read = WIRES[wire].fromResponse(body, { ...responseContext(vendor, model), storedTokenHours });
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
