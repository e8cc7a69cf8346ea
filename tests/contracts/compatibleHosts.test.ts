/** What hosts of OpenAI's API have beyond it. https://openrouter.ai/docs */
import { expect } from 'chai';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { readChatCompletionsRequest } from '../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { openAICompatible } from '../../imports/business/ai/infrastructure/vendors/openAICompatible';
import { quirksAtHost } from '../../imports/business/ai/infrastructure/vendors/quirksAtHost';
import { failure } from '../support/failure';
import { startCannedResponseServer } from '../support/cannedResponseServer';
import type { CannedResponseServer } from '../support/cannedResponseServer';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const FILE = { type: 'file', file: { hash: 'abc', name: 'a.pdf', content: [{ type: 'text', text: 'Page one' }] } };
const CITATION = { type: 'url_citation', url_citation: { url: 'https://example.com', title: 'X' } };

describe('OpenRouter', () => {
  let server: CannedResponseServer;
  before(async () => {
    server = await startCannedResponseServer();
  });
  after(() => server.close());

  const ask = async (host: string, input: readonly object[]) => {
    const message = { role: 'assistant', content: 'Hi', annotations: [CITATION, FILE] };
    const body = { id: 'c', model: 'm', created: 1, choices: [{ index: 0, message, finish_reason: 'stop' }] };
    server.respondWith(JSON.stringify(body), 'application/json');
    const quirks = quirksAtHost(openAICompatible, `https://${host}/api/v1`) ?? {};
    const settings = { vendor: 'openai_compatible', baseURL: server.url, quirks, allowPrivateHosts: true } as const;
    const response = await createProvider(settings).generate('ann', { model: 'm', input } as GenerateOptions);
    const { messages } = server.lastRequestBody as { readonly messages: readonly JsonObject[] };
    return { response, messages };
  };

  const SEEN = [
    { role: 'user', content: 'Look.' },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: 'Seen' },
        { type: 'input_image', image_url: PIXEL },
      ],
    },
  ];

  it('receives the images of a result in its tool message', async () => {
    const { messages } = await ask('openrouter.ai', SEEN);
    expect(messages.at(-1)).to.deep.equal({
      role: 'tool',
      tool_call_id: 'c1',
      content: [
        { type: 'text', text: 'Seen' },
        { type: 'image_url', image_url: { url: PIXEL } },
      ],
    });
  });

  it('gets the annotations of files that it has parsed back, and no others', async () => {
    const { response } = await ask('openrouter.ai', [{ role: 'user', content: 'Read.' }]);
    const { messages } = await ask('openrouter.ai', [...response.output, { role: 'user', content: 'Go on.' }]);
    expect(messages[0]).to.deep.include({ role: 'assistant', content: 'Hi', annotations: [FILE] });
  });

  it('fetches a file by the URL that stands in place of its data', async () => {
    const file = { file_data: 'https://example.com/a.pdf', filename: 'a.pdf' };
    const { input } = readChatCompletionsRequest({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] });
    const { messages } = await ask('openrouter.ai', input as readonly object[]);
    expect(messages).to.deep.equal([{ role: 'user', content: [{ type: 'file', file }] }]);
  });

  it('is the only host that gets them', async () => {
    const { response } = await ask('example.com', [{ role: 'user', content: 'Read.' }]);
    const { messages } = await ask('example.com', [...response.output, ...SEEN]);
    expect(messages[0]).to.deep.equal({ role: 'assistant', content: 'Hi' });
    expect(messages.at(-1)).to.include({ role: 'user' });
  });
});

describe('A stream', () => {
  let server: CannedResponseServer;
  before(async () => {
    server = await startCannedResponseServer();
  });
  after(() => server.close());

  const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const chunk = (choice: object, usage?: object): string =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', created: 1, choices: [{ index: 0, ...choice }], usage })}\n\n`;
  const TEXT = chunk({ delta: { content: 'Hi' } });
  const read = async (host: string, body: string): Promise<string> => {
    server.respondWith(body, 'text/event-stream');
    const quirks = quirksAtHost(openAICompatible, `https://${host}/v1`) ?? {};
    const settings = { vendor: 'openai_compatible', baseURL: server.url, quirks, allowPrivateHosts: true } as const;
    for await (const event of createProvider(settings).stream('ann', { model: 'm', input: 'Hi' }))
      if (event.type === 'response.completed') return event.response.output_text;
    throw new Error('The stream has no response.');
  };

  it("may end without a finish reason and usage at Snowflake's hosts only", async () => {
    const body = `${TEXT}${chunk({ delta: {} })}data: [DONE]\n\n`;
    expect(await read('me.snowflakecomputing.com', body)).to.equal('Hi');
    expect(await failure(read('notsnowflakecomputing.com', body))).to.have.property('code', 'stream-broken');
  });

  it('may end without a marker, but not without its reason and its usage, at hosts that never send one', async () => {
    const stop = { delta: {}, finish_reason: 'stop' };
    const whole = TEXT + chunk(stop, USAGE);
    for (const host of ['api.perplexity.ai', 'router.huggingface.co', 'api.cerebras.ai', 'api.minimax.io']) {
      expect(await read(host, whole)).to.equal('Hi');
      for (const body of [TEXT + chunk(stop), TEXT + chunk({ delta: {} }, USAGE)])
        expect(await failure(read(host, body)), body).to.have.property('code', 'stream-broken');
    }
    const error = await failure(read('example.com', whole));
    expect(error).to.have.property('code', 'stream-broken');
    expect(error).to.have.property('message').that.contains('"allowsMissingEndMarker"');
  });
});
