/** Token counting through the gateway, with the official SDKs as clients. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import OpenAI from 'openai';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import type { VendorName } from '../../imports/business/ai/domain/types/VendorTypes';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { inFlowingTime } from '../support/VirtualTime';

/** The vendors whose APIs count, with their counters. */
const COUNTERS: Partial<Record<VendorName, string>> = {
  openai: '/responses/input_tokens',
  anthropic: '/v1/messages/count_tokens',
  google: ':countTokens',
};
const TOOL_SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } } };
const TEXT = 'What is the weather in Lisbon, and what should I wear for an evening by the river?';

describe('the gateway’s token counts', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  const openai = (): OpenAI => new OpenAI({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = (): Anthropic => new Anthropic({ apiKey: TOKENS.ann, baseURL: gateway.url, maxRetries: 0 });

  /** The same request by each client: its count and who counted. */
  const CLIENTS = {
    async responses(model: string) {
      const { data, response } = await openai()
        .responses.inputTokens.count({
          model,
          input: TEXT,
          instructions: 'Be brief.',
          tools: [{ type: 'function', name: 'get_weather', parameters: TOOL_SCHEMA, strict: false }],
        })
        .withResponse();
      expect(data.object).to.equal('response.input_tokens');
      return { tokens: data.input_tokens, countedBy: response.headers.get('x-bolide-counted-by') };
    },
    async messages(model: string) {
      const { data, response } = await anthropic()
        .messages.countTokens({
          model,
          system: 'Be brief.',
          messages: [{ role: 'user', content: TEXT }],
          tools: [{ name: 'get_weather', input_schema: TOOL_SCHEMA }],
        })
        .withResponse();
      return { tokens: data.input_tokens, countedBy: response.headers.get('x-bolide-counted-by') };
    },
    async gemini(model: string) {
      const generation = {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: TEXT }] }],
        tools: [{ functionDeclarations: [{ name: 'get_weather', parameters: TOOL_SCHEMA }] }],
      };
      const response = await gateway.request(`/v1beta/models/${model}:countTokens`, {
        generateContentRequest: { model: `models/${model}`, ...generation },
      });
      const { totalTokens } = (await response.json()) as { totalTokens: number };
      return { tokens: totalTokens, countedBy: response.headers.get('x-bolide-counted-by') };
    },
  };

  for (const [client, count] of Object.entries(CLIENTS))
    for (const vendor of VENDORS) {
      const counter = COUNTERS[vendor];
      it(`of ${client} for ${vendor} are ${counter === undefined ? 'a tokenizer’s' : 'the vendor’s'}`, async () => {
        const before = gateway.simulator.requests.length;
        const { tokens, countedBy } = await count(vendor);
        expect(countedBy).to.equal(counter === undefined ? 'tokenizer' : 'vendor');
        expect(tokens).to.be.within(15, 200);
        const requests = gateway.simulator.requests.slice(before);
        expect(requests).to.have.length(counter === undefined ? 0 : 1);
        const [request] = requests;
        if (counter === undefined || request === undefined) return;
        expect(request.path.endsWith(counter), request.path).to.equal(true);
        const text = JSON.stringify(request.body);
        expect(text).to.include(TEXT).and.include('get_weather').and.include('Be brief.');
        expect(request.body).to.not.have.any.keys('max_tokens', 'max_output_tokens', 'stream', 'store', 'temperature');
      });
    }

  it('include the conversation that a request continues', async () => {
    for (const model of ['openai', 'groq', 'anthropic']) {
      const first = await openai().responses.create({ model, input: `Remember this: ${'word '.repeat(200)}` });
      const { input_tokens: alone } = await openai().responses.inputTokens.count({ model, input: 'And?' });
      const { input_tokens: continued } = await openai().responses.inputTokens.count({
        model,
        input: 'And?',
        previous_response_id: first.id,
      });
      expect(continued - alone, model).to.be.greaterThan(150);
    }
  });

  it('of Gemini’s short form are those of its contents', async () => {
    const response = await gateway.request('/v1beta/models/groq:countTokens', {
      contents: [{ parts: [{ text: TEXT }] }],
    });
    expect(fieldsOf(await response.json())['totalTokens']).to.be.within(15, 40);
  });

  it('fall back to a tokenizer while the vendor is away, and report what is wrong with a request', async () => {
    const own = await startGateway({
      providers: (simulator) => [{ ...simulatedRow(simulator, 'anthropic'), baseURL: 'http://127.0.0.1:9' }],
    });
    try {
      const body = { model: 'anthropic', messages: [{ role: 'user', content: TEXT }] };
      const response = await own.request('/v1/messages/count_tokens', body);
      expect(response.headers.get('x-bolide-counted-by')).to.equal('tokenizer');
      expect(fieldsOf(await response.json())['input_tokens']).to.be.within(15, 40);
    } finally {
      await own.close();
    }
    for (const [body, status] of [
      [{ model: 'anthropic', messages: 'hi' }, 400],
      [{ model: 'nothing', messages: [{ role: 'user', content: 'hi' }] }, 404],
    ] as const) {
      const response = await gateway.request('/v1/messages/count_tokens', body);
      expect(response.status).to.equal(status);
      expect(fieldsOf(await response.json())['type']).to.equal('error');
    }
    const reader = { headers: { authorization: `Bearer ${TOKENS.reader}` } };
    const refused = await gateway.request('/v1/messages/count_tokens', { model: 'groq', messages: [] }, reader);
    expect(refused.status).to.equal(403);
  });
});

describe(
  'a token count that the vendor does not answer',
  inFlowingTime(() => {
    it('is a tokenizer’s after five seconds', async () => {
      const silent = createServer(() => undefined).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const baseURL = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
      const gateway = await startGateway({
        providers: (simulator) => [{ ...simulatedRow(simulator, 'anthropic'), baseURL }],
      });
      const startedAt = Date.now();
      const body = { model: 'anthropic', messages: [{ role: 'user', content: TEXT }] };
      const response = await gateway.request('/v1/messages/count_tokens', body);
      expect(response.headers.get('x-bolide-counted-by')).to.equal('tokenizer');
      expect(Date.now() - startedAt).to.be.within(5_000, 6_000);
      await gateway.close();
      silent.close();
    });
  }),
);
