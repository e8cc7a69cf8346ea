/** The Messages wire, called with the vendor's own SDK. */
import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { all, anthropicClient, failureOf, POPULATION, RECIPE_SCHEMA, WEATHER } from './clients';

const TOOLS: Anthropic.Tool[] = [WEATHER, POPULATION].map(({ name, description, parameters }) => ({
  name,
  description,
  input_schema: { ...parameters, required: [...parameters.required] },
}));
const REQUEST = { model: 'claude-sonnet-4-6', max_tokens: 4096 };
const THINKING: Anthropic.ThinkingConfigParam = { type: 'enabled', budget_tokens: 1024 };
const user = (content: Anthropic.MessageParam['content']): Anthropic.MessageParam => ({ role: 'user', content });

describe('the simulated Messages wire', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  it('runs a tool loop with thinking, and accepts its own signature', async () => {
    const client = anthropicClient(simulator);
    const messages = [user('Use get_weather and get_population for the city of Berlin.')];
    const first = await client.messages.create({ ...REQUEST, messages, tools: TOOLS, thinking: THINKING });
    expect(first.stop_reason).to.equal('tool_use');
    expect(first.content.map((block) => block.type)).to.deep.equal(['thinking', 'tool_use', 'tool_use']);

    const results = first.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: `${block.name} is done` }]
        : [],
    );
    const second = await client.messages.create({
      ...REQUEST,
      messages: [...messages, { role: 'assistant', content: first.content }, user(results)],
      tools: TOOLS,
      thinking: THINKING,
    });
    expect(textOf(second)).to.include('get_weather is done').and.to.include('get_population is done');
    expect(second.stop_reason).to.equal('end_turn');
  });

  it('streams the same message as in JSON, with a ping', async () => {
    const script = {
      text: 'On my way.',
      reasoning: 'Think first.',
      calls: [{ name: 'get_weather', arguments: { city: 'Köln 🌦️' }, id: 'toolu_1' }],
    };
    simulator.enqueue(script, script);
    const client = anthropicClient(simulator);
    const complete = await client.messages.create({ ...REQUEST, messages: [user('x')] });
    const stream = client.messages.stream({ ...REQUEST, messages: [user('x')] });
    const final = await stream.finalMessage();
    expect(final.content).to.deep.equal(complete.content);
    expect(final.usage.output_tokens).to.equal(complete.usage.output_tokens);

    simulator.enqueue(script);
    const raw = await client.messages.create({ ...REQUEST, messages: [user('x')], stream: true }).asResponse();
    expect(await raw.text()).to.include('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it('streams word by word', async () => {
    simulator.enqueue({ text: 'One two three.' });
    const events = await all(
      await anthropicClient(simulator).messages.create({ ...REQUEST, messages: [user('x')], stream: true }),
    );
    const deltas = events.flatMap((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? [event.delta.text] : [],
    );
    expect(deltas).to.deep.equal(['One ', 'two ', 'three.']);
  });

  it('fills a requested schema and obeys a forced tool', async () => {
    const client = anthropicClient(simulator);
    const schema = { ...RECIPE_SCHEMA };
    const structured = await client.messages.create({
      ...REQUEST,
      messages: [user('A recipe called "Pie" in 45 minutes.')],
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(JSON.parse(textOf(structured))).to.include({ title: 'Pie', minutes: 45 });
    const forced = await client.messages.create({
      ...REQUEST,
      messages: [user('Hello.')],
      tools: TOOLS,
      tool_choice: { type: 'tool', name: 'get_population' },
    });
    expect(forced.content[0]).to.include({ type: 'tool_use', name: 'get_population' });
  });

  it('writes refusals, truncated responses and redacted thinking like the vendor', async () => {
    const client = anthropicClient(simulator);
    simulator.enqueue(
      { refusal: 'No.' },
      { text: 'Cut', incomplete: 'max_output_tokens' },
      { reasoning: 'Secret.', redacted: true, text: 'Hm.' },
    );
    const ask = { ...REQUEST, messages: [user('x')] };
    expect((await client.messages.create(ask)).stop_reason).to.equal('refusal');
    expect((await client.messages.create(ask)).stop_reason).to.equal('max_tokens');
    const redacted = await client.messages.create(ask);
    expect(redacted.content[0]).to.have.property('type', 'redacted_thinking');
    expect(JSON.stringify(redacted.content[0])).not.to.include('Secret');
    const replayed = await client.messages.create({
      ...ask,
      messages: [user('x'), { role: 'assistant', content: redacted.content }, user('y')],
    });
    expect(replayed.stop_reason).to.equal('end_turn');
  });

  it('fails with an error event in a stream, or with an error body', async () => {
    const client = anthropicClient(simulator);
    simulator.enqueue(
      { text: 'So far', failed: { message: 'Overloaded', code: 'overloaded_error' } },
      { failed: { message: 'Internal server error' } },
    );
    const streamed = await failureOf(
      client.messages.create({ ...REQUEST, messages: [user('x')], stream: true }).then(all),
    );
    expect(streamed.message).to.include('Overloaded');
    expect(await failureOf(client.messages.create({ ...REQUEST, messages: [user('x')] }))).to.include({ status: 500 });
  });

  it('estimates tokens from the length of the texts, and truncates at max_tokens', async () => {
    const client = anthropicClient(simulator);
    const messages = [user('a'.repeat(400))];
    const counted = await client.messages.countTokens({ model: REQUEST.model, messages });
    const message = await client.messages.create({ ...REQUEST, max_tokens: 5, messages });
    expect(counted.input_tokens).to.equal(100);
    expect(message.usage).to.include({ input_tokens: 100, output_tokens: 5 });
    expect(message.stop_reason).to.equal('max_tokens');
  });

  it('counts cached input separately', async () => {
    simulator.enqueue({ text: 'Hi.', usage: { input: 120, cached: 100 } });
    const message = await anthropicClient(simulator).messages.create({ ...REQUEST, messages: [user('x')] });
    expect(message.usage).to.include({ input_tokens: 20, cache_read_input_tokens: 100 });
  });

  it('rejects each kind of invalid request in its own format', async () => {
    expect(
      await failureOf(anthropicClient(simulator, 'bad-key').messages.create({ ...REQUEST, messages: [user('x')] })),
    ).to.be.instanceOf(Anthropic.AuthenticationError);
    const lost = await failureOf(
      anthropicClient(simulator).messages.create({ ...REQUEST, model: 'no-such-model', messages: [user('x')] }),
    );
    expect(lost).to.be.instanceOf(Anthropic.NotFoundError);
    const models = await anthropicClient(simulator).models.list();
    expect(models.data.map((model) => model.id)).to.include('claude-sonnet-4-6');
  });
});

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
