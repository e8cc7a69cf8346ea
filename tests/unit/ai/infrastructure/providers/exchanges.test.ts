/** What `onExchange` receives: the vendor's own request and response, of every vendor, without credentials. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { ILLMProvider } from '../../../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../../../imports/business/ai/domain/types/LLMTypes';
import type { VendorExchange } from '../../../../../imports/business/ai/domain/types/RequestRecords';
import { VENDORS } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { MAX_RECORDED_LENGTH } from '../../../../../imports/business/ai/infrastructure/clients/RecordedExchange';
import { createProvider } from '../../../../../imports/business/ai/infrastructure/factories/createProvider';
import type { Simulator } from '../../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../../imports/simulator/startSimulator';
import { failure } from '../../../../support/failure';

const KEY = 'a-key-without-any-known-form';
const HELLO: GenerateOptions = { model: 'some-model', input: 'hello' };

async function readAll(provider: ILLMProvider, options: GenerateOptions): Promise<void> {
  for await (const event of provider.stream('ann', options)) if (event.type === 'response.failed') throw event.error;
}

describe('onExchange', () => {
  describe('with every vendor', () => {
    let simulator: Simulator;
    before(async () => {
      simulator = await startSimulator();
    });
    after(() => simulator.close());

    for (const vendor of VENDORS)
      it(`receives what ${vendor} was sent and what came back, as JSON and as events`, async () => {
        const provider = createProvider({
          vendor,
          apiKey: 'a-key',
          baseURL: simulator.baseURL(vendor),
          allowPrivateHosts: true,
          defaultModel: 'some-model',
        });
        const seen: VendorExchange[] = [];
        const options = { ...HELLO, onExchange: (exchange: VendorExchange) => void seen.push(exchange) };
        const before = simulator.requests.length;
        await provider.generate('ann', options);
        await readAll(provider, options);
        const sent = simulator.requests.slice(before);
        expect(seen).to.have.length(2);
        for (const [index, { wire, request, status, response }] of seen.entries()) {
          expect({ wire, status }).to.deep.equal({ wire: sent[index]?.wire, status: 200 });
          expect(request).to.deep.equal(sent[index]?.body);
          expect(Array.isArray(response)).to.equal(index === 1);
          expect(JSON.stringify(response)).to.include('usage');
        }
      });
  });

  describe('with a vendor that', () => {
    let server: Server;
    let provider: ILLMProvider;
    let reply: { readonly status: number; readonly type: string; readonly body: string };
    beforeEach(async () => {
      server = createServer((request, response) => {
        request.resume();
        response.writeHead(reply.status, { 'content-type': reply.type }).end(reply.body);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      provider = createProvider({
        vendor: 'openai_compatible',
        apiKey: KEY,
        baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
        allowPrivateHosts: true,
      });
    });
    afterEach(() => new Promise((resolve) => server.close(resolve)));

    const exchangeOf = async (call: (options: GenerateOptions) => Promise<unknown>): Promise<VendorExchange> => {
      const seen: VendorExchange[] = [];
      await call({ ...HELLO, onExchange: (exchange) => void seen.push(exchange) });
      expect(seen).to.have.length(1);
      return seen[0] as VendorExchange;
    };
    const chunk = (text: string): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })}\n\n`;
    const END = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

    it('refuses, has the status and the body', async () => {
      reply = { status: 400, type: 'application/json', body: '{"error":{"message":"No such model.","code":"x"}}' };
      const { status, response } = await exchangeOf((options) => failure(provider.generate('ann', options)));
      expect(status).to.equal(400);
      expect(response).to.deep.equal({ error: { message: 'No such model.', code: 'x' } });
    });

    it('returns something else than JSON, has the text', async () => {
      reply = { status: 200, type: 'text/html', body: '<p>Welcome</p>' };
      const { response } = await exchangeOf((options) => failure(provider.generate('ann', options)));
      expect(response).to.equal('<p>Welcome</p>');
    });

    it('repeats the credential, lacks it', async () => {
      reply = { status: 200, type: 'text/event-stream', body: chunk(`Your key is ${KEY}.`) + END };
      const { response } = await exchangeOf((options) => readAll(provider, options));
      expect(JSON.stringify(response)).to.include('Your key is [redacted].').and.not.to.include(KEY);
    });

    it('streams without end, is bounded, and says so', async () => {
      reply = { status: 200, type: 'text/event-stream', body: chunk('x'.repeat(999)).repeat(4_000) + END };
      const { response } = await exchangeOf((options) => readAll(provider, options));
      expect(JSON.stringify(response)).to.have.length.below(1.2 * MAX_RECORDED_LENGTH);
      expect((response as readonly unknown[]).at(-1)).to.equal('… The rest was not recorded.');
    });

    it('breaks off in the middle of an event, has what arrived before it', async () => {
      reply = { status: 200, type: 'text/event-stream', body: `${chunk('Hello')}data: {"id":` };
      const { response } = await exchangeOf((options) => failure(readAll(provider, options)));
      expect(response).to.have.length(1);
      expect(JSON.stringify(response)).to.include('Hello');
    });
  });
});
