/** The Chat Completions wire, called with the vendors' own SDKs. */
import { expect } from 'chai';
import type OpenAI from 'openai';
import type { VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import {
  all,
  azureClient,
  failureOf,
  GOOD_KEY,
  groqClient,
  openaiClient,
  POPULATION,
  RECIPE_SCHEMA,
  WEATHER,
} from './clients';

const TOOLS: OpenAI.ChatCompletionTool[] = [WEATHER, POPULATION].map((tool) => ({
  type: 'function',
  function: { ...tool, parameters: { ...tool.parameters } },
}));
const user = (content: string): OpenAI.ChatCompletionMessageParam => ({ role: 'user', content });

describe('the simulated Chat Completions wire', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  for (const vendor of ['openai', 'grok', 'llama', 'openai_compatible'] satisfies VendorName[]) {
    it(`runs a tool loop for ${vendor}, in JSON and streaming`, async () => {
      const client = openaiClient(simulator, vendor);
      const model = 'some-model';
      const messages = [user('Use get_weather for the city of Berlin.')];
      const first = await client.chat.completions.create({ model, messages, tools: TOOLS });
      expect(first.choices[0]?.finish_reason).to.equal('tool_calls');
      const call = first.choices[0]!.message.tool_calls![0]!;
      expect(call.type === 'function' && JSON.parse(call.function.arguments)).to.deep.equal({ city: 'Berlin' });

      const history = [
        ...messages,
        first.choices[0]!.message,
        { role: 'tool' as const, tool_call_id: call.id, content: '18 degrees' },
      ];
      const stream = await client.chat.completions.create({
        model,
        messages: history,
        tools: TOOLS,
        stream: true,
        stream_options: { include_usage: true },
      });
      const chunks = await all(stream);
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).to.include('18 degrees');
      expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).to.deep.equal(['stop']);
      expect(chunks.at(-1)?.usage?.total_tokens).to.be.greaterThan(0);
      expect(chunks.at(-1)?.choices).to.deep.equal([]);
    });
  }

  it('sends no usage in a stream unless requested', async () => {
    const chunks = await all(
      await openaiClient(simulator).chat.completions.create({
        model: 'gpt-4.1',
        messages: [user('Hi.')],
        stream: true,
      }),
    );
    expect(chunks.some((chunk) => chunk.usage)).to.equal(false);
  });

  it('streams parallel tool calls in fragments by index', async () => {
    simulator.enqueue({
      text: 'Let me see. ',
      calls: [
        { name: 'get_weather', arguments: { city: 'Rome' } },
        { name: 'get_population', arguments: '{"city":"Rome"}', id: 'call_own' },
      ],
    });
    const chunks = await all(
      await openaiClient(simulator).chat.completions.create({
        model: 'gpt-4.1',
        messages: [user('x')],
        tools: TOOLS,
        stream: true,
      }),
    );
    const joined = new Map<number, string>();
    for (const part of chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []))
      joined.set(part.index, (joined.get(part.index) ?? '') + (part.function?.arguments ?? ''));
    expect([...joined.values()].map((text): unknown => JSON.parse(text))).to.deep.equal([
      { city: 'Rome' },
      { city: 'Rome' },
    ]);
    expect(chunks.some((chunk) => chunk.choices[0]?.delta.tool_calls?.[0]?.id === 'call_own')).to.equal(true);
  });

  it('fills a requested schema and obeys a forced tool', async () => {
    const client = openaiClient(simulator);
    const format = {
      type: 'json_schema' as const,
      json_schema: { name: 'recipe', schema: { ...RECIPE_SCHEMA }, strict: true },
    };
    const structured = await client.chat.completions.create({
      model: 'gpt-4.1',
      messages: [user('A recipe called "Soup".')],
      response_format: format,
    });
    expect(JSON.parse(structured.choices[0]!.message.content!)).to.include({ title: 'Soup' });
    const forced = await client.chat.completions.create({
      model: 'gpt-4.1',
      messages: [user('Hello.')],
      tools: TOOLS,
      tool_choice: { type: 'function', function: { name: 'get_population' } },
    });
    expect(forced.choices[0]?.message.tool_calls?.[0]).to.have.nested.property('function.name', 'get_population');
  });

  it('writes refusals, truncated and filtered responses like the vendor', async () => {
    const client = openaiClient(simulator);
    simulator.enqueue(
      { refusal: 'No.' },
      { text: 'Cut', incomplete: 'max_output_tokens' },
      { incomplete: 'content_filter' },
    );
    const ask = { model: 'gpt-4.1', messages: [user('x')] };
    const refused = await client.chat.completions.create(ask);
    expect(refused.choices[0])
      .to.deep.include({ finish_reason: 'stop' })
      .and.have.nested.property('message.refusal', 'No.');
    expect(refused.choices[0]?.message.content).to.equal(null);
    expect((await client.chat.completions.create(ask)).choices[0]?.finish_reason).to.equal('length');
    expect((await client.chat.completions.create(ask)).choices[0]?.finish_reason).to.equal('content_filter');
  });

  it('starts with a content filter chunk at an Azure deployment', async () => {
    const chunks = await all(
      await azureClient(simulator).chat.completions.create({
        model: 'my-deployment',
        messages: [user('Hi.')],
        stream: true,
      }),
    );
    expect(chunks[0]).to.deep.include({ choices: [], id: '', model: '' });
    expect(chunks[1]?.choices[0]).not.to.have.property('delta');
    expect(chunks.map((chunk) => contentOf(chunk)).join('')).to.match(/simulated/i);
    expect(simulator.requests[0]?.path).to.equal('/azure/deployments/my-deployment/chat/completions');
  });

  it('supports the Responses wire at Azure too, from its version 2025-03-01-preview on', async () => {
    const request = { model: 'my-deployment', input: 'Hi.' };
    for (const version of ['2025-03-01-preview', '2025-04-01-preview']) {
      const response = await azureClient(simulator, GOOD_KEY, version).responses.create(request);
      expect(response.output_text).to.match(/simulated/i);
    }
    expect(
      await failureOf(azureClient(simulator, GOOD_KEY, '2025-02-01-preview').responses.create(request)),
    ).to.include({ status: 404 });
  });

  it('reports usage in the last chunk of Groq without a request, and sends reasoning', async () => {
    simulator.enqueue({ reasoning: 'Thinking hard.', text: 'Done.' });
    const chunks = await all(
      await groqClient(simulator).chat.completions.create({
        model: 'openai/gpt-oss-120b',
        messages: [{ role: 'user', content: 'Hi.' }],
        stream: true,
      }),
    );
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.reasoning ?? '').join('')).to.equal('Thinking hard.');
    expect(chunks.at(-1)?.x_groq?.usage?.completion_tokens).to.be.greaterThan(0);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).to.equal('stop');
  });

  it('omits the content at Groq in a message that only calls tools', async () => {
    simulator.enqueue({ calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] });
    const response = await groqClient(simulator).chat.completions.create({
      model: 'llama-3.3-70b-versatile',
      messages: [{ role: 'user', content: 'Hi.' }],
    });
    expect(response.choices[0]?.message).not.to.have.property('content');
    expect(response.choices[0]?.message.tool_calls?.[0]?.id).to.match(/^[a-z0-9]{9}$/);
  });

  it('excludes reasoning from the completion tokens of xAI, but not from the total', async () => {
    simulator.enqueue({ reasoning: 'x'.repeat(40), text: 'y'.repeat(20) });
    const { usage } = await openaiClient(simulator, 'grok').chat.completions.create({
      model: 'grok-4.3',
      messages: [user('Hello Grok')],
    });
    expect(usage).to.deep.include({ completion_tokens: 5 });
    expect(usage!.total_tokens - usage!.prompt_tokens).to.equal(15);
  });
});

/** Azure sends choices without the delta that the SDK's type requires. */
function contentOf(chunk: OpenAI.ChatCompletionChunk): string {
  const [choice] = chunk.choices as (Partial<OpenAI.ChatCompletionChunk.Choice> | undefined)[];
  return choice?.delta?.content ?? '';
}
