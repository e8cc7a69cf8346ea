/** The Responses wire, called with the vendor's own SDK. */
import { expect } from 'chai';
import type OpenAI from 'openai';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { all, failureOf, openaiClient, POPULATION, RECIPE_SCHEMA, WEATHER } from './clients';

const TOOLS = [WEATHER, POPULATION].map((tool) => ({ type: 'function' as const, ...tool, strict: true }));
const QUESTION = 'Use get_weather and get_population for the city of Berlin.';

describe('the simulated Responses wire', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  it('responds in JSON, and states that it is simulated', async () => {
    const response = await openaiClient(simulator).responses.create({ model: 'gpt-5-mini', input: 'Say hello.' });
    expect(response.status).to.equal('completed');
    expect(response.output_text)
      .to.match(/simulated/i)
      .and.to.include('Say hello.');
    expect(response.usage?.input_tokens).to.equal(Math.ceil('Say hello.'.length / 4));
    expect(response.usage?.total_tokens).to.equal(response.usage!.input_tokens + response.usage!.output_tokens);
  });

  it('repeats the truncation and the verbosity of the request', async () => {
    const { responses } = openaiClient(simulator);
    // The SDK deprecates the field, which vendors still accept.
    const fields = { truncation: 'auto', text: { verbosity: 'low' } } as const;
    const requested = await responses.create({ model: 'gpt-5-mini', input: 'Hi', ...fields });
    expect(requested).to.include({ truncation: 'auto' }).and.to.have.nested.property('text.verbosity', 'low');
    const plain = await responses.create({ model: 'gpt-5-mini', input: 'Hi' });
    expect(plain).to.include({ truncation: 'disabled' }).and.to.have.nested.property('text.verbosity', 'medium');
  });

  it('streams word by word, numbers every event and ends with the complete response', async () => {
    simulator.enqueue({ text: 'One two three.' });
    const stream = await openaiClient(simulator).responses.create({
      model: 'gpt-5-mini',
      input: 'Count.',
      stream: true,
    });
    const events = await all(stream);
    expect(events.map((event) => event.type)).to.deep.equal([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).to.deep.equal(events.map((_, index) => index));
    expect(events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))).to.deep.equal(
      ['One ', 'two ', 'three.'],
    );
    const last = events.at(-1)!;
    expect(last.type === 'response.completed' && last.response.output[0]).to.deep.include({
      type: 'message',
      status: 'completed',
    });
  });

  it('calls tools in parallel, requires their outputs and quotes them', async () => {
    const client = openaiClient(simulator);
    const first = await client.responses.create({ model: 'gpt-5-mini', input: QUESTION, tools: TOOLS });
    const calls = first.output.filter((item) => item.type === 'function_call');
    expect(calls.map((call) => call.name)).to.deep.equal(['get_weather', 'get_population']);
    expect(JSON.parse(calls[0]!.arguments)).to.deep.equal({ city: 'Berlin' });

    const outputs = calls.map((call) => ({
      type: 'function_call_output' as const,
      call_id: call.call_id,
      output: `result of ${call.name}`,
    }));
    const second = await client.responses.create({
      model: 'gpt-5-mini',
      input: outputs,
      previous_response_id: first.id,
      tools: TOOLS,
    });
    expect(second.output_text).to.include('result of get_weather').and.to.include('result of get_population');
  });

  it('streams the arguments of a call in fragments', async () => {
    simulator.enqueue({ calls: [{ name: 'get_weather', arguments: { city: 'Zürich 🏔️ am See' } }] });
    const events = await all(
      await openaiClient(simulator).responses.create({ model: 'gpt-5-mini', input: 'x', tools: TOOLS, stream: true }),
    );
    const deltas = events.flatMap((event) =>
      event.type === 'response.function_call_arguments.delta' ? [event.delta] : [],
    );
    expect(deltas.length).to.be.greaterThan(2);
    expect(JSON.parse(deltas.join(''))).to.deep.equal({ city: 'Zürich 🏔️ am See' });
  });

  it('fills a requested schema', async () => {
    const text: OpenAI.Responses.ResponseTextConfig = {
      format: { type: 'json_schema', name: 'recipe', schema: { ...RECIPE_SCHEMA }, strict: true },
    };
    const response = await openaiClient(simulator).responses.create({
      model: 'gpt-5-mini',
      input: 'A recipe called "Goulash" in 90 minutes.',
      text,
    });
    expect(JSON.parse(response.output_text)).to.include({ title: 'Goulash', minutes: 90, spicy: true });
  });

  it('issues encrypted reasoning, and accepts it with and without its id', async () => {
    const client = openaiClient(simulator);
    const request = {
      model: 'gpt-5-mini',
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    } as const;
    const first = await client.responses.create({ ...request, include: [...request.include], input: 'Hello.' });
    const [reasoning, message] = first.output as [
      OpenAI.Responses.ResponseReasoningItem,
      OpenAI.Responses.ResponseOutputMessage,
    ];
    expect(reasoning.summary[0]?.text).to.include('Hello.');
    expect(reasoning.encrypted_content).to.match(/^gAAAAA/);
    expect(first.usage?.output_tokens_details.reasoning_tokens).to.be.greaterThan(0);

    const question = { role: 'user' as const, content: 'Hello.' };
    const next = { role: 'user' as const, content: 'And now?' };
    const { id: _, ...withoutId } = reasoning;
    for (const replayed of [reasoning, withoutId as OpenAI.Responses.ResponseReasoningItem]) {
      const second = await client.responses.create({
        ...request,
        include: [...request.include],
        input: [question, replayed, message, next],
      });
      expect(second.status).to.equal('completed');
    }
  });

  it('stores responses until they are deleted', async () => {
    const client = openaiClient(simulator);
    const { id } = await client.responses.create({ model: 'gpt-5-mini', input: 'Remember me.' });
    expect((await client.responses.retrieve(id)).id).to.equal(id);
    const items = await client.responses.inputItems.list(id);
    expect(items.data).to.have.length(1);
    await client.responses.delete(id);
    expect(await failureOf(client.responses.retrieve(id))).to.include({ status: 404 });
  });

  it('stores nothing with store: false', async () => {
    const client = openaiClient(simulator);
    const { id } = await client.responses.create({ model: 'gpt-5-mini', input: 'Forget me.', store: false });
    const failure = await failureOf(
      client.responses.create({ model: 'gpt-5-mini', input: 'Go on.', previous_response_id: id }),
    );
    expect(failure).to.include({ status: 400, code: 'previous_response_not_found' });
  });

  it('accepts the late output of an asynchronous call under its call id', async () => {
    const client = openaiClient(simulator);
    const tools = [{ type: 'function' as const, ...WEATHER, strict: true, async: true }];
    const first = await client.responses.create({ model: 'gpt-5-mini', input: 'Use get_weather for "Berlin".', tools });
    const call = first.output.find((item) => item.type === 'function_call')!;
    expect(call.async).to.equal(true);
    const waiting = await client.responses.create({
      model: 'gpt-5-mini',
      input: 'Meanwhile, hello.',
      previous_response_id: first.id,
      tools,
    });
    const late = { type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny at last' };
    const final = await client.responses.create({
      model: 'gpt-5-mini',
      input: [late],
      previous_response_id: waiting.id,
      tools,
    });
    expect(final.output_text).to.include('sunny at last');
  });

  it('compacts a conversation into one encrypted item, and accepts it back', async () => {
    const client = openaiClient(simulator);
    const compacted = await client.responses.compact({
      model: 'gpt-5-mini',
      input: [{ role: 'user', content: 'A long story.' }],
    });
    expect(compacted.output.map((item) => item.type)).to.deep.equal(['message', 'compaction']);
    const input = [...compacted.output, { role: 'user', content: 'Go on.' }] as OpenAI.Responses.ResponseInput;
    expect((await client.responses.create({ model: 'gpt-5-mini', input })).status).to.equal('completed');
  });

  it('writes refusals, truncated responses and failures like the vendor', async () => {
    const client = openaiClient(simulator);
    simulator.enqueue(
      { refusal: 'I will not.' },
      { text: 'Half a', incomplete: 'max_output_tokens' },
      { failed: { message: 'Broken.' }, text: 'So' },
    );
    const refused = await client.responses.create({ model: 'gpt-5-mini', input: 'x' });
    expect(refused.output[0])
      .to.deep.include({ type: 'message' })
      .and.have.nested.property('content[0].refusal', 'I will not.');
    const cut = await client.responses.create({ model: 'gpt-5-mini', input: 'x' });
    expect(cut).to.deep.include({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    const events = await failureOf(
      client.responses.create({ model: 'gpt-5-mini', input: 'x', stream: true }).then(all),
    );
    expect(events.message).to.include('Broken.');
    simulator.assertDone();
  });

  it('uses xAI’s ids and omits the format’s name for xAI', async () => {
    const text: OpenAI.Responses.ResponseTextConfig = {
      format: { type: 'json_schema', name: 'recipe', schema: { ...RECIPE_SCHEMA } },
    };
    const response = await openaiClient(simulator, 'grok').responses.create({
      model: 'grok-4.3',
      input: 'A recipe.',
      text,
    });
    expect(response.id).to.match(/^[0-9a-f-]{36}$/);
    expect(response.text?.format).not.to.have.property('name');
  });
});
