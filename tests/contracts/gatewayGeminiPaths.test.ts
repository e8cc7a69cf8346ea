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

  const MODELS = ['google', 'groq', 'anthropic', 'openai'] as const;

  it('reads a single object as a list of it, with every vendor behind it', async () => {
    const body = {
      systemInstruction: { parts: { text: 'Be brief.' } },
      contents: { parts: { text: 'Hi' } },
      tools: { functionDeclarations: { name: 'look', description: 'Looks.' } },
    };
    for (const model of MODELS) {
      gateway.simulator.enqueue({ text: 'Hello.' });
      const response = await gateway.request(`/v1beta/models/${model}:generateContent`, body, AS_GOOGLE);
      expect(response.status, await response.clone().text()).to.equal(200);
      const sent = JSON.stringify(gateway.simulator.requests.at(-1)?.body);
      for (const text of ['Be brief.', 'Hi', 'look']) expect(sent, model).to.include(text);
    }
  });

  it('ends a stream as Google does, whose last message says why the model failed', async () => {
    const first = { candidates: [{ content: { parts: [{ text: 'I' }] }, index: 0 }] };
    const last = { candidates: [{ content: { parts: [] }, finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }] };
    const raw = [first, last].map((message) => `data: ${JSON.stringify(message)}\r\n\r\n`).join('');
    for (const query of ['?alt=sse', '']) {
      gateway.simulator.enqueue({ raw, headers: { 'content-type': 'text/event-stream' } });
      const response = await gateway.request(`/v1beta/models/google:streamGenerateContent${query}`, BODY, AS_GOOGLE);
      const text = await response.text();
      const messages = query === '' ? text : `[${text.replaceAll('data: ', '').trim().replace('\n\n', ',')}]`;
      expect(JSON.parse(messages)).to.deep.equal([first, last]);
    }
  });

  const BROKEN: Readonly<Record<string, unknown>> = {
    'an unknown field': { nonsense: {} },
    'no field': {},
    'media without data': { inlineData: { mimeType: 'image/png' } },
    'data that is no base64': { inlineData: { mimeType: 'image/png', data: '%' } },
    'a file without a URI': { fileData: { mimeType: 'image/png' } },
    'a call without a name': { functionCall: { args: {} } },
    'a result without a name': { functionResponse: { response: {} } },
    'a text that is none': { text: 1 },
  };
  for (const [name, part] of Object.entries(BROKEN))
    it(`refuses a part with ${name}, which other vendors would not see, and leaves it to Google`, async () => {
      const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }, part] }] };
      const { length } = gateway.simulator.requests;
      for (const model of MODELS.filter((other) => other !== 'google'))
        for (const [verb, sent] of [
          ['generateContent', body],
          ['streamGenerateContent', body],
          ['countTokens', body],
          ['countTokens', { generateContentRequest: body }],
        ] as const) {
          const response = await gateway.request(`/v1beta/models/${model}:${verb}`, sent, AS_GOOGLE);
          const text = await response.text();
          expect(response.status, text).to.equal(400);
          expect(text).to.include('contents[0].parts[1]').and.to.include('INVALID_ARGUMENT');
        }
      expect(gateway.simulator.requests).to.have.length(length);
      await gateway.request('/v1beta/models/google:generateContent', body, AS_GOOGLE);
      expect(gateway.simulator.requests.at(-1)?.body).to.have.deep.nested.property('contents[0].parts[1]', part);
    });

  it('keeps parts of its own tools from other vendors, with a warning', async () => {
    gateway.simulator.enqueue({ text: 'Hello.' });
    const parts = [
      { text: 'Ran.' },
      { executableCode: { language: 'PYTHON', code: '1' } },
      { thoughtSignature: 'YQ==' },
    ];
    const contents = [...BODY.contents, { role: 'model', parts }, ...BODY.contents];
    const response = await gateway.request('/v1beta/models/groq:generateContent', { contents }, AS_GOOGLE);
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-bolide-warnings')).to.include('vendor_item');
  });

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
