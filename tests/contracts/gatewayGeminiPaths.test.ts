/** The paths of Google's SDKs, whose API version is a setting: `v1beta`, `v1`, `v1alpha`. */
import { expect } from 'chai';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const BODY = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
const AS_GOOGLE = { headers: { authorization: '', 'x-goog-api-key': TOKENS.ann } };

describe("Google's API", () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  for (const version of ['v1beta', 'v1', 'v1alpha']) {
    const read = async (path: string, body?: unknown): Promise<{ status: number; body: JsonObject }> => {
      const response = await gateway.request(`/${version}${path}`, body, AS_GOOGLE);
      return { status: response.status, body: (await response.json()) as JsonObject };
    };

    it(`generates below /${version}, with and without a stream`, async () => {
      for (const model of ['groq', 'anthropic/default-model', 'llama/some-model:free', 'google%2Fdefault-model']) {
        gateway.simulator.enqueue({ text: 'Hello.' });
        const { status, body } = await read(`/models/${model}:generateContent`, BODY);
        expect(status, model).to.equal(200);
        expect(JSON.stringify(body.candidates)).to.include('Hello.');
        gateway.simulator.enqueue({ text: 'Hello.' });
        const stream = await gateway.request(
          `/${version}/models/${model}:streamGenerateContent?alt=sse`,
          BODY,
          AS_GOOGLE,
        );
        expect(stream.headers.get('content-type')).to.include('text/event-stream');
        expect(await stream.text()).to.include('Hello.');
      }
    });

    it(`lists and reads models below /${version}`, async () => {
      const { body } = await read('/models');
      const models = body.models as readonly { readonly name: string }[];
      expect(models.map(({ name }) => name)).to.include('models/groq/default-model');
      expect((await read('/models/groq/default-model')).body).to.include({ name: 'models/groq/default-model' });
    });

    it(`formats errors below /${version} as Google does`, async () => {
      for (const { status, body } of [
        await read('/models/nothing'),
        await read('/models/nothing:generateContent', BODY),
        await read('/models/groq:unknownVerb', BODY),
        await read('/unknown', BODY),
      ]) {
        expect([404, 405]).to.include(status);
        expect(body.error).to.include({ code: status }).and.to.have.property('status').that.is.a('string');
      }
      const anonymous = await gateway.request(`/${version}/models/groq:generateContent?key=wrong`, BODY, {
        headers: { authorization: '' },
      });
      expect(await anonymous.json()).to.nested.include({ 'error.status': 'UNAUTHENTICATED' });
    });

    it(`accepts the token as ?key= below /${version}`, async () => {
      gateway.simulator.enqueue({ text: 'Hello.' });
      const path = `/${version}/models/groq:generateContent?key=${TOKENS.ann}`;
      expect((await gateway.request(path, BODY, { headers: { authorization: '' } })).status).to.equal(200);
    });
  }

  it("formats errors of /v1/models as the client's API does", async () => {
    const asAnthropic = { headers: { 'anthropic-version': '2023-06-01' } };
    const anthropic: unknown = await (await gateway.request('/v1/models/nothing', undefined, asAnthropic)).json();
    expect(anthropic).to.nested.include({ type: 'error', 'error.type': 'not_found_error' });
    const openai: unknown = await (await gateway.request('/v1/models/nothing')).json();
    expect(openai).to.nested.include({ 'error.code': 'model_not_found' });
  });
});
