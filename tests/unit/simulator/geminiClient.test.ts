/** The generateContent wire, called with the vendor's own SDK. */
import { FunctionCallingMode, SchemaType } from '@google/generative-ai';
import type { FunctionDeclaration, Part } from '@google/generative-ai';
import { expect } from 'chai';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { all, failureOf, geminiModel, GOOD_KEY } from './clients';

const CITY = {
  type: SchemaType.OBJECT as const,
  properties: { city: { type: SchemaType.STRING as const } },
  required: ['city'],
};
const FUNCTIONS: FunctionDeclaration[] = [
  { name: 'get_weather', description: 'The weather at a place', parameters: CITY },
  { name: 'get_population', description: 'How many people live in a city', parameters: CITY },
];
const MODEL = 'gemini-2.5-flash';

describe('the simulated generateContent wire', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  it('runs a tool loop in a chat session, without ids, signed on the first of parallel calls', async () => {
    const chat = geminiModel(simulator, { model: MODEL, tools: [{ functionDeclarations: FUNCTIONS }] }).startChat();
    const first = await chat.sendMessage('Use get_weather and get_population for the city of Berlin.');
    const parts = first.response.candidates![0]!.content.parts as (Part & { thoughtSignature?: string })[];
    expect(parts.map((part) => part.functionCall?.name)).to.deep.equal(['get_weather', 'get_population']);
    expect(parts.map((part) => part.thoughtSignature !== undefined)).to.deep.equal([true, false]);
    expect(parts[0]?.functionCall).not.to.have.property('id');
    expect(first.response.candidates![0]!.finishReason).to.equal('STOP');

    const second = await chat.sendMessage(
      parts.map((part) => ({
        functionResponse: { name: part.functionCall!.name, response: { output: `${part.functionCall!.name} is done` } },
      })),
    );
    expect(second.response.text()).to.include('get_weather is done').and.to.include('get_population is done');
  });

  it('assigns ids to calls from Gemini 3.1 on', async () => {
    const model = geminiModel(simulator, {
      model: 'gemini-3.1-pro-preview',
      tools: [{ functionDeclarations: FUNCTIONS }],
    });
    const { response } = await model.generateContent('Use get_weather for the city of Berlin.');
    expect(response.candidates![0]!.content.parts[0]?.functionCall).to.have.property('id');
  });

  it('streams with CRLF, without event names and without an end marker', async () => {
    simulator.enqueue({ text: 'One two three four five six seven.' });
    const response = await fetch(
      `${simulator.baseURL('google')}/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
      {
        method: 'POST',
        headers: { 'x-goog-api-key': GOOD_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'x' }] }] }),
      },
    );
    const text = await response.text();
    expect(text.split('\r\n\r\n').filter((event) => event !== '')).to.have.length(2);
    expect(text.replaceAll('\r\n', '')).not.to.include('\n');
    expect(text).not.to.match(/event:|\[DONE\]/);
  });

  it('streams the same text and usage to the SDK as in JSON', async () => {
    const script = { text: 'One two three four five six seven eight nine.', reasoning: 'Hm.' };
    simulator.enqueue(script, script);
    const model = geminiModel(simulator, { model: MODEL });
    const complete = (await model.generateContent('x')).response;
    const streamed = await model.generateContentStream('x');
    expect((await all(streamed.stream)).length).to.be.greaterThan(2);
    const final = await streamed.response;
    expect(final.usageMetadata).to.deep.equal(complete.usageMetadata);
    expect(final.text()).to.equal(complete.text());
  });

  it('streams a JSON array without alt=sse', async () => {
    simulator.enqueue({ text: 'One two three four five six seven.' });
    const response = await fetch(
      `${simulator.baseURL('google')}/v1beta/models/${MODEL}:streamGenerateContent?key=${GOOD_KEY}`,
      {
        method: 'POST',
        body: JSON.stringify({ contents: [{ parts: [{ text: 'x' }] }] }),
      },
    );
    expect((await response.json()) as unknown[]).to.have.length(2);
    expect(simulator.requests[0]?.query).to.deep.equal({ key: '[redacted]' });
  });

  it('fills a requested schema and obeys a forced function', async () => {
    const generationConfig = {
      responseMimeType: 'application/json',
      responseSchema: {
        type: SchemaType.OBJECT as const,
        properties: { title: { type: SchemaType.STRING as const } },
        required: ['title'],
      },
    };
    const structured = await geminiModel(simulator, { model: MODEL, generationConfig }).generateContent(
      'A book called "Momo".',
    );
    expect(JSON.parse(structured.response.text())).to.deep.equal({ title: 'Momo' });
    const toolConfig = {
      functionCallingConfig: { mode: FunctionCallingMode.ANY, allowedFunctionNames: ['get_population'] },
    };
    const forced = await geminiModel(simulator, {
      model: MODEL,
      tools: [{ functionDeclarations: FUNCTIONS }],
      toolConfig,
    }).generateContent('Hello.');
    expect(forced.response.functionCalls()?.map((call) => call.name)).to.deep.equal(['get_population']);
  });

  it('writes refusals, truncated and filtered responses like the vendor', async () => {
    const model = geminiModel(simulator, { model: MODEL });
    simulator.enqueue(
      { refusal: 'No.' },
      { text: 'Cut', incomplete: 'max_output_tokens' },
      { incomplete: 'content_filter' },
    );
    const reasons = [];
    for (let count = 0; count < 3; count += 1)
      reasons.push((await model.generateContent('x')).response.candidates?.[0]?.finishReason);
    expect(reasons).to.deep.equal(['PROHIBITED_CONTENT', 'MAX_TOKENS', 'SAFETY']);
  });

  it('responds to a bad key with 400, to a missing key with 403, and to an unknown model with 404', async () => {
    const bad = await failureOf(geminiModel(simulator, { model: MODEL }, 'bad-key').generateContent('x'));
    expect(bad.message).to.include('400').and.to.include('API key not valid');
    const missing = await fetch(`${simulator.baseURL('google')}/v1beta/models/${MODEL}:generateContent`, {
      method: 'POST',
      body: '{}',
    });
    expect(missing.status).to.equal(403);
    expect(
      (await failureOf(geminiModel(simulator, { model: 'no-such-model' }).generateContent('x'))).message,
    ).to.include('404');
  });

  it('counts tokens', async () => {
    expect((await geminiModel(simulator, { model: MODEL }).countTokens('a'.repeat(40))).totalTokens).to.equal(10);
  });
});
