/** Images and audio through the gateway, with the official SDKs as clients. */
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import Groq, { toFile as toGroqFile } from 'groq-sdk';
import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const AUDIO = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 11) % 256));

describe('the gateway’s images and audio', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  const openai = (): OpenAI => new OpenAI({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const file = (): Promise<Awaited<ReturnType<typeof toFile>>> => toFile(AUDIO, 'speech.mp3');
  const lastEntry = async (): Promise<object | undefined> => (await gateway.requestLog.seen(1)).at(-1);

  for (const vendor of ['openai', 'azure_openai', 'grok', 'openai_compatible'] as const)
    it(`of ${vendor}: images are generated, whole and as a stream`, async () => {
      const model = `${vendor}/gpt-image-1`;
      const { data, usage } = await openai().images.generate({ model, prompt: 'A river' });
      expect(data?.[0]?.b64_json).to.be.a('string');
      expect(usage?.total_tokens).to.equal(112);
      const entry = await lastEntry();
      expect(entry).to.deep.include({ api: 'images', state: 'completed', providerId: vendor, requestedModel: model });
      expect(fieldsOf(entry)['usage']).to.deep.include({ input_tokens: 12, output_tokens: 100 });
      const events = [];
      for await (const { type } of await openai().images.generate({ model, prompt: 'A river', stream: true }))
        events.push(type);
      expect(events).to.deep.equal(['image_generation.partial_image', 'image_generation.completed']);
      expect(fieldsOf(gateway.simulator.requests[0]?.body)['model']).to.equal('gpt-image-1');
    });

  for (const vendor of ['openai', 'openai_compatible'] as const)
    it(`of ${vendor}: texts are moderated, and logged`, async () => {
      const model = `${vendor}/omni-moderation-latest`;
      const { results } = await openai().moderations.create({ model, input: 'I will kill it.' });
      expect(results[0]?.flagged).to.equal(true);
      expect(fieldsOf(gateway.simulator.requests[0]?.body)).to.deep.include({ model: 'omni-moderation-latest' });
      expect(await lastEntry()).to.deep.include({ api: 'moderations', state: 'completed', providerId: vendor });
    });

  it('moderations need no model', async () => {
    for (const body of [{ input: 'Hi' }, { input: 'Hi', model: 'omni-moderation-latest' }]) {
      const { model, results } = await openai().moderations.create(body);
      expect(results[0]?.flagged).to.equal(false);
      expect(model).to.equal('omni-moderation-latest');
      expect(gateway.simulator.requests.at(-1)?.vendor).to.equal('openai');
    }
  });

  it('moderations are 501 with the reason where no vendor has them', async () => {
    for (const vendor of ['anthropic', 'google', 'groq', 'grok', 'azure_openai']) {
      const answer = await gateway.request('/v1/moderations', { model: `${vendor}/a-model`, input: 'Hi' });
      expect(answer.status, vendor).to.equal(501);
      expect(await answer.text())
        .to.include('has no moderations')
        .and.to.include('openai');
    }
    const bare = await startGateway({ providers: (simulator) => [simulatedRow(simulator, 'anthropic')] });
    try {
      const answer = await bare.request('/v1/moderations', { input: 'Hi' });
      expect(answer.status).to.equal(501);
      expect(fieldsOf(fieldsOf(await answer.json())['error'])['message']).to.include('No provider');
      const files = await bare.request('/v1/files');
      expect(files.status).to.equal(501);
    } finally {
      await bare.close();
    }
  });

  it('of OpenAI: images are edited and varied', async () => {
    const image = await file();
    const edited = await openai().images.edit({ model: 'openai/gpt-image-1', image, prompt: 'Bluer' });
    expect(edited.data).to.have.length(1);
    const form = new FormData();
    form.set('image', new Blob([AUDIO]), 'image.png');
    form.set('model', 'openai/dall-e-2');
    const varied = await gateway.request('/v1/images/variations', undefined, { method: 'POST', body: form });
    expect(fieldsOf(await varied.json())['data']).to.have.length(1);
  });

  for (const vendor of ['openai', 'azure_openai', 'groq', 'openai_compatible'] as const)
    it(`of ${vendor}: audio is spoken, transcribed and translated`, async () => {
      const spoken = await openai().audio.speech.create({ model: `${vendor}/tts-1`, input: 'Hi', voice: 'alloy' });
      expect(spoken.headers.get('content-type')).to.equal('audio/mpeg');
      expect((await spoken.arrayBuffer()).byteLength).to.equal(300_000);
      const model = `${vendor}/whisper-large-v3`;
      const { text } = await openai().audio.transcriptions.create({ model, file: await file() });
      expect(text).to.match(/^200000 bytes, [0-9a-f]{8}, whisper-large-v3$/);
      const translated = await openai().audio.translations.create({ file: await file(), model });
      expect(translated.text).to.equal(text);
      const events = [];
      for await (const event of await openai().audio.transcriptions.create({ file: await file(), model, stream: true }))
        events.push(event.type);
      expect(events).to.deep.equal(['transcript.text.delta', 'transcript.text.done']);
      const plain = await openai().audio.transcriptions.create({ file: await file(), model, response_format: 'text' });
      expect(plain).to.equal(`${text}\n`);
      const entries = await gateway.requestLog.seen(5);
      expect(entries.map(({ api, state }) => `${api ?? ''} ${state}`)).to.deep.equal(
        Array<string>(5).fill('audio completed'),
      );
      expect(entries[1]?.usage).to.deep.include({ input_tokens: 30, output_tokens: 7 });
      for (const { headers } of gateway.simulator.requests) expect(JSON.stringify(headers)).to.not.include(TOKENS.ann);
    });

  it('are found by Groq’s and Azure’s clients', async () => {
    const groq = new Groq({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/groq`, maxRetries: 0 });
    const model = 'groq/whisper-large-v3';
    const heard = await groq.audio.transcriptions.create({ model, file: await toGroqFile(AUDIO, 'x.mp3') });
    expect(heard.text).to.include('200000 bytes');
    const azure = new AzureOpenAI({ endpoint: gateway.url, apiKey: TOKENS.ann, apiVersion: '2025-04-01-preview' });
    const spoken = await azure.audio.speech.create({ model: 'azure_openai/tts-1', input: 'Hi', voice: 'alloy' });
    expect((await spoken.arrayBuffer()).byteLength).to.equal(300_000);
    expect(gateway.simulator.requests.map(({ vendor }) => vendor)).to.deep.equal(['groq', 'azure_openai']);
  });

  it('name what is wrong with a request', async () => {
    for (const [path, body, status, param] of [
      ['/v1/images/generations', {}, 400, 'model'],
      ['/v1/images/generations', { model: 7 }, 400, 'model'],
      ['/v1/images/generations', { model: 'openai', prompt: 'x' }, 400, 'model'],
      ['/v1/images/generations', { model: 'nothing', prompt: 'x' }, 404, 'model'],
      ['/v1/images/generations', { model: 'anthropic/claude', prompt: 'x' }, 400, 'model'],
      ['/v1/images/generations', { model: 'google/imagen', prompt: 'x' }, 400, 'model'],
      ['/v1/images/generations', { model: 'openai/gpt-image-1' }, 400, 'prompt'],
      ['/v1/images/generations', [], 400, null],
      ['/v1/audio/speech', { model: 'openai/tts-1' }, 400, 'input'],
      ['/v1/audio/speech', { model: 'openai/no-such-model', input: 'x', voice: 'alloy' }, 404, null],
    ] as const) {
      const response = await gateway.request(path, body);
      const { error } = fieldsOf(await response.json());
      expect([response.status, fieldsOf(error)['param']], JSON.stringify(body)).to.deep.equal([status, param]);
    }
    const form = (fields: Record<string, string>): Promise<Response> => {
      const data = new FormData();
      for (const [name, value] of Object.entries(fields)) data.set(name, value);
      return gateway.request('/v1/audio/transcriptions', undefined, { method: 'POST', body: data });
    };
    expect((await form({ language: 'en' })).status).to.equal(400);
    expect((await form({ model: 'openai/whisper-1' })).status).to.equal(400);
    expect((await form({ model: 'nothing' })).status).to.equal(404);
    expect((await gateway.request('/v1/audio/transcriptions', { model: 'openai/whisper-1' })).status).to.equal(415);
    const reader = { headers: { authorization: `Bearer ${TOKENS.reader}` } };
    expect((await gateway.request('/v1/audio/speech', { model: 'openai/tts-1' }, reader)).status).to.equal(403);
    const refused = gateway.requestLog.entries.find(({ requestedModel }) => requestedModel === 'nothing');
    expect(refused).to.include({ api: 'images', state: 'failed', status: 404 });
  });

  it('of a form with another model after the first are refused, and not completed at the vendor', async () => {
    const form = new FormData();
    form.append('model', 'openai/whisper-1');
    form.append('file', new Blob([Buffer.alloc(4 * 1024 * 1024)]), 'speech.mp3');
    form.append('model', 'whisper-large-v3');
    const refused = await gateway.request('/v1/audio/transcriptions', undefined, { method: 'POST', body: form });
    const { error } = fieldsOf(await refused.json());
    expect([refused.status, fieldsOf(error)['param']], JSON.stringify(error)).to.deep.equal([400, 'model']);
    expect(gateway.simulator.requests).to.deep.equal([]);
    expect(await lastEntry()).to.include({ state: 'failed' });
  });

  it('are read to their end when they are refused, so that the client gets the error', async () => {
    const part = (name: string): string => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n`;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(
        `${gateway.url}/v1/audio/transcriptions`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKENS.ann}`, 'content-type': 'multipart/form-data; boundary=b' },
        },
        (response) => {
          response.resume();
          sent.end(Buffer.alloc(8 * 1024 * 1024), () => resolve(response.statusCode));
        },
      );
      sent.on('error', reject);
      sent.write(`${part('model')}nothing\r\n${part('file')}`);
    });
    expect(status).to.equal(404);
  });

  it('end at the vendor when the client leaves', async () => {
    gateway.simulator.enqueue({ raw: 'x'.repeat(200_000), fault: { kind: 'stall', after: { bytes: 100_000 } } });
    const controller = new AbortController();
    const aborted = gateway.simulator.nextAbort();
    const response = await gateway.request(
      '/v1/audio/speech',
      { model: 'openai/tts-1', input: 'x', voice: 'alloy' },
      { signal: controller.signal },
    );
    await response.body!.getReader().read();
    controller.abort();
    expect((await aborted).path).to.include('/audio/speech');
    expect(await lastEntry()).to.include({ state: 'cancelled' });
  });
});
