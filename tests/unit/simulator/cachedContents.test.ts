/** The simulator's cached contents, with the vendor's own SDK and with requests that the API refuses. */
import { expect } from 'chai';
import { GoogleAICacheManager } from '@google/generative-ai/server';
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';

const MODEL = 'models/gemini-2.5-flash';
const CONTENTS = [{ role: 'user', parts: [{ text: 'Be kind. '.repeat(2_000) }] }];
const QUESTION = [{ role: 'user', parts: [{ text: 'What does it say?' }] }];

describe('cached contents of the simulator', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  async function post(path: string, body: JsonObject, key = 'a-key'): Promise<{ status: number; message: string }> {
    const response = await fetch(`${simulator.baseURL('google')}/v1beta/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
      body: JSON.stringify(body),
    });
    const { error } = (await response.json()) as { readonly error?: { readonly message: string } };
    return { status: response.status, message: error?.message ?? '' };
  }
  const generate = (body: JsonObject, key?: string, model = MODEL) => post(`${model}:generateContent`, body, key);

  it('are created, read and deleted by the vendor’s SDK', async () => {
    const manager = new GoogleAICacheManager('a-key', { baseUrl: simulator.baseURL('google') });
    const { name = '', expireTime = '' } = await manager.create({ model: MODEL, contents: CONTENTS, ttlSeconds: 60 });
    expect(Date.parse(expireTime)).to.be.above(Date.now());
    expect(await manager.get(name)).to.include({ name, model: MODEL });
    expect(await generate({ cachedContent: name, contents: QUESTION })).to.include({ status: 200 });
    expect(await generate({ cachedContent: name, contents: QUESTION }, 'another-key')).to.include({ status: 403 });
    expect(await generate({ cachedContent: name, contents: QUESTION }, 'a-key', 'models/gemini-2.5-pro')).to.include({
      status: 400,
    });
    for (const [field, value] of Object.entries({
      systemInstruction: { parts: [{ text: 'Answer.' }] },
      tools: [{ functionDeclarations: [{ name: 'look' }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    })) {
      const refused = await generate({ cachedContent: name, contents: QUESTION, [field]: value });
      expect(refused.message, field).to.contain('CachedContent can not be used with GenerateContent request setting');
    }
    await manager.delete(name);
    expect(await generate({ cachedContent: name, contents: QUESTION })).to.deep.equal({
      status: 403,
      message: 'CachedContent not found (or permission denied)',
    });
  });

  it('are refused if they are too small, or no cached contents', async () => {
    const create = (body: JsonObject) => post('cachedContents', body);
    expect((await create({ model: MODEL, contents: QUESTION })).message).to.match(
      /^Cached content is too small\. total_token_count=\d+, min_total_token_count=2048$/,
    );
    for (const body of [
      { contents: CONTENTS },
      { model: MODEL, contents: CONTENTS, ttl: '5m' },
      { model: MODEL, contents: CONTENTS, generationConfig: {} },
    ])
      expect(await create(body)).to.include({ status: 400 });
  });
});
