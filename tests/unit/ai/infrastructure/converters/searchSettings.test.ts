/** What the web search of a client of Anthropic's API is limited to, at other vendors. */
import { expect } from 'chai';
import { normalizeOptions } from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { atOnce } from '../../../../../imports/business/ai/domain/util/slices';
import type { WireRequest } from '../../../../../imports/business/ai/infrastructure/converters/Wire';
import { readAnthropicRequest } from '../../../../../imports/business/ai/infrastructure/converters/anthropic/gateway/AnthropicGateway';
import { readResponsesRequest } from '../../../../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import type { ServedWire, VendorName } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { WIRES, wireContext } from '../../../../support/wireContexts';

const user_location = { type: 'approximate', city: 'Paris', country: 'FR' };
const SEARCH = { type: 'web_search_20250305', name: 'web_search', user_location, allowed_domains: ['arxiv.org'] };

function sentTo(vendor: VendorName, wire: ServedWire, model: string, search: object = SEARCH): WireRequest {
  const body = { model, max_tokens: 99, messages: [{ role: 'user', content: 'Hi' }], tools: [search] };
  const options = normalizeOptions(readAnthropicRequest(body));
  return atOnce(WIRES[wire].toRequest(options, wireContext(vendor, model), false));
}

it("limits OpenAI's search to the same domains and place", () => {
  const { body, warnings } = sentTo('openai', 'responses', 'gpt-5');
  expect(body.tools).to.deep.equal([
    { type: 'web_search', user_location, filters: { allowed_domains: ['arxiv.org'] } },
  ]);
  expect(warnings).to.deep.equal([]);
});

it("excludes the same domains from OpenAI's search, and reports that their number of searches has no limit", () => {
  const blocked_domains = ['example.com'];
  const { type, name } = SEARCH;
  const { body, warnings } = sentTo('openai', 'responses', 'gpt-5', { type, name, blocked_domains, max_uses: 3 });
  expect(body.tools).to.deep.equal([{ type: 'web_search', filters: { blocked_domains } }]);
  expect(warnings.join()).to.match(/web_search.*max_uses/);
});

it("excludes them from xAI's search under its own name, which clients of the Responses API may use, too", () => {
  const excluded = { type: 'web_search', filters: { excluded_domains: ['example.com'] } };
  const blocked_domains = ['example.com'];
  const { type, name } = SEARCH;
  const { body } = sentTo('grok', 'responses', 'grok-4.5', { type, name, blocked_domains });
  expect(body.tools).to.deep.equal([excluded]);
  for (const tool of [excluded, { type: 'web_search', filters: { blocked_domains } }]) {
    const options = normalizeOptions(readResponsesRequest({ model: 'grok-4.5', input: 'Hi', tools: [tool] }));
    const sent = atOnce(WIRES.responses.toRequest(options, wireContext('grok', 'grok-4.5'), false));
    expect(sent.body.tools).to.deep.equal([excluded]);
  }
});

for (const [vendor, wire, model, lost] of [
  ['google', 'gemini', 'gemini-2.5-pro', /web_search.*filters, user_location/],
  ['openai', 'chat_completions', 'gpt-4o-search-preview', /web_search.*: filters\./],
  ['groq', 'chat_completions', 'groq/compound', /web_search.*filters, user_location/],
] as const)
  it(`reports what ${model} does not limit its search to`, () =>
    expect(sentTo(vendor, wire, model).warnings.join()).to.match(lost));
