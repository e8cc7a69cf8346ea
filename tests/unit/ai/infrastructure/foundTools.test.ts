/** How each API is told of tools that a model finds in mid-conversation, in requests that go on to begin alike. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import type { Item } from '../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { RunOptions } from '../../../../imports/business/ai/domain/types/RunOptions';
import type { JsonObject } from '../../../../imports/business/ai/domain/types/VendorTypes';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { ScriptedResponse } from '../../../../imports/simulator/ScriptedResponse';
import type { Simulator } from '../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../imports/simulator/startSimulator';
import { simulatedProvider } from '../../../support/simulatedProviders';
import type { SimulatedVendor } from '../../../support/simulatedProviders';

const OPENAI: SimulatedVendor = { name: 'OpenAI', vendor: 'openai', wire: 'responses', model: 'gpt-5.4' };
const OPUS: SimulatedVendor = {
  ...{ name: 'Opus', vendor: 'anthropic', wire: 'anthropic_messages', model: 'claude-opus-5-5' },
};
const SONNET: SimulatedVendor = { ...OPUS, name: 'Sonnet', model: 'claude-sonnet-4-5' };
const GROQ: SimulatedVendor = { name: 'Groq', vendor: 'groq', wire: 'chat_completions', model: 'some-model' };
const GEMINI: SimulatedVendor = { name: 'Gemini', vendor: 'google', wire: 'gemini', model: 'gemini-2.5-flash' };

const FORECAST = { city: { type: 'string' } };
const search = (query: string) => ({ name: 'search_tools', arguments: { query } });
const forecast = { name: 'forecast', arguments: { city: 'Oslo' } };
const BRIDGED = {
  name: 'call_tool',
  arguments: { name: 'forecast', arguments: JSON.stringify(forecast.arguments) },
};

const TOLD: readonly Item[] = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Find it.' }] },
  { type: 'function_call', call_id: 'c1', name: 'search_tools', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output: '{"tools":[{"name":"forecast"}]}' },
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Here.' }] },
];

/** One tool that is always there, and two that can be found. */
function tools(): ToolRegistry {
  return new ToolRegistry()
    .register({ name: 'ping', execute: () => 'pong' })
    .register({
      name: 'forecast',
      description: 'Tells the weather of tomorrow.',
      parameters: { type: 'object', properties: FORECAST, required: ['city'] },
      deferLoading: true,
      execute: ({ city }: { readonly city: string }) => `${city}: sunny`,
    })
    .register({ name: 'mail', description: 'Sends a letter.', deferLoading: true, execute: () => 'sent' });
}

function list(value: unknown): readonly JsonObject[] {
  return value as readonly JsonObject[];
}

describe('found tools', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  const run = async (
    vendor: SimulatedVendor,
    script: readonly ScriptedResponse[],
    options: Partial<RunOptions> = {},
  ) => {
    simulator.enqueue(...script);
    const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: tools() });
    const result = await loop.execute('ann', {
      ...{ model: vendor.model, input: 'How is the weather?', tools: ['ping', 'forecast', 'mail'] },
      ...options,
    });
    expect(simulator.requests.filter(({ status }) => status !== 200)).to.deep.equal([]);
    const bodies = simulator.requests.map(({ body }) => body as JsonObject);
    // Nothing that was listed once has changed.
    for (const body of bodies) expect(body['tools']).to.deep.equal(bodies[0]?.['tools']);
    return { ...result, bodies };
  };
  const SCRIPT = [
    { calls: [search('weather'), { name: 'ping', arguments: {} }] },
    { calls: [forecast] },
    { text: 'Sunny.' },
  ];

  it('come in an item behind the results of the turn that found them, on OpenAI', async () => {
    const { bodies } = await run(OPENAI, [...SCRIPT.slice(0, 2), { calls: [search('weather')] }, { text: 'Sunny.' }]);
    expect(list(bodies[0]?.['tools']).map(({ name }) => name)).to.deep.equal(['ping', 'search_tools']);
    const input = list(bodies.at(-1)?.['input']);
    const index = input.findIndex(({ type }) => type === 'additional_tools');
    expect(input.slice(index - 2, index).map(({ type }) => type)).to.deep.equal(Array(2).fill('function_call_output'));
    expect(input[index]).to.deep.include({ role: 'developer' });
    expect(list(input[index]?.['tools'])).to.have.length(1);
    expect(list(input[index]?.['tools'])[0]).to.deep.include({ type: 'function', name: 'forecast' });
    expect(JSON.stringify(input[index])).not.to.contain('deferLoading');
    // Each of them once.
    expect(input.filter(({ type }) => type === 'additional_tools')).to.have.length(1);
  });

  it('move breakpoints of the prompt cache with their items', async () => {
    const sol = { ...OPENAI, model: 'gpt-5.6-sol' };
    const { bodies } = await run(sol, [{ text: 'Yes.' }], { input: TOLD, promptCache: { breakpoints: [3] } });
    const marked = list(bodies[0]?.['input']).filter((item) =>
      JSON.stringify(item).includes('prompt_cache_breakpoint'),
    );
    expect(marked.map((item) => JSON.stringify(item['content']))).to.have.length(1);
    expect(JSON.stringify(marked)).to.contain('Here.');
  });

  it('are deferred from the beginning, and named by the result of the search, on Anthropic', async () => {
    const { bodies } = await run(OPUS, SCRIPT);
    const [ping, finder, ...deferred] = list(bodies[0]?.['tools']);
    expect(deferred.map(({ name, defer_loading }) => [name, defer_loading])).to.deep.equal([
      ['forecast', true],
      ['mail', true],
    ]);
    expect(ping).not.to.have.property('defer_loading');
    expect(finder).to.have.property('cache_control');
    const [first] = list(list(bodies[1]?.['messages'])[2]?.['content']);
    expect(first?.['content']).to.deep.equal([{ type: 'tool_reference', tool_name: 'forecast' }]);
  });

  it('are named by a message of the system if the model has guessed them, on Anthropic', async () => {
    const { bodies } = await run(OPUS, [{ calls: [forecast] }, { calls: [forecast] }, { text: 'Sunny.' }]);
    const additions = list(bodies.at(-1)?.['messages']).filter(({ role }) => role === 'system');
    expect(additions).to.have.length(1);
    expect(list(additions[0]?.['content'])[0]).to.deep.include({
      ...{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'forecast' } },
    });
    expect(simulator.requests[1]?.headers['anthropic-beta']).to.contain('mid-conversation-tool-changes-2026-07-01');
    expect(simulator.requests[0]?.headers['anthropic-beta'] ?? '').not.to.contain('tool-changes');
  });

  it('are listed once the model has guessed them where no message can name them', async () => {
    simulator.enqueue({ calls: [forecast] }, { text: 'Sunny.' });
    const loop = new AgenticLoop({ provider: simulatedProvider(simulator, SONNET), toolExecutor: tools() });
    await loop.execute('ann', { model: SONNET.model, input: 'Weather?', tools: ['forecast', 'mail'] });
    const deferred = simulator.requests.map(({ body }) =>
      list((body as JsonObject)['tools']).flatMap(({ name, defer_loading }) => (defer_loading === true ? [name] : [])),
    );
    expect(deferred).to.deep.equal([['forecast', 'mail'], ['mail']]);
  });

  for (const vendor of [GROQ, GEMINI, { ...OPENAI, model: 'gpt-5.1' }, { ...OPUS, model: 'claude-opus-4-1' }])
    it(`are called through one function on ${vendor.vendor}, ${vendor.model}`, async () => {
      const script = [SCRIPT[0]!, { calls: [BRIDGED] }, { text: 'Sunny.' }];
      const { bodies, transcript, toolCalls } = await run(vendor, script);
      expect(JSON.stringify(bodies[0]?.['tools'])).to.contain('call_tool').and.not.contain('forecast');
      // The definition is in the result of the search.
      expect(JSON.stringify(bodies[1])).to.contain('parameters').and.contain('city');
      expect(JSON.stringify(bodies[2])).to.contain('Oslo: sunny');
      // The transcript has the call itself, so that any vendor can go on with it.
      expect(toolCalls.map(({ name }) => name)).to.deep.equal(['search_tools', 'ping', 'forecast']);
      expect(JSON.stringify(transcript)).not.to.contain('call_tool');
    });

  it('are found for any vendor that goes on with the transcript', async () => {
    const { transcript } = await run(GROQ, [SCRIPT[0]!, { calls: [BRIDGED] }, { text: 'Sunny.' }]);
    await simulator.close();
    simulator = await startSimulator();
    const input: readonly Item[] = [...transcript, TOLD[3]!];
    const { bodies } = await run(OPUS, [{ text: 'Yes.' }], { input });
    const messages = JSON.stringify(bodies[0]?.['messages']);
    expect(messages).to.contain('"tool_name":"forecast"').and.contain('"name":"forecast"');
    expect(messages).not.to.contain('call_tool').and.not.contain('tool_addition');
  });

  it('come with the results that a vendor is sent which stores the rest', async () => {
    const { bodies } = await run(OPENAI, SCRIPT, { store: true });
    const [, second, third] = bodies.map((body) => list(body['input']).map(({ type }) => type));
    expect(second).to.deep.equal(['function_call_output', 'function_call_output', 'additional_tools']);
    expect(third).to.deep.equal(['function_call_output']);
  });

  it('are announced in streams by their own names', async () => {
    simulator.enqueue(SCRIPT[0]!, { calls: [BRIDGED] }, { text: 'Sunny.' });
    const loop = new AgenticLoop({ provider: simulatedProvider(simulator, GROQ), toolExecutor: tools() });
    const started: string[] = [];
    loop.on('tool:executing', ({ name }) => started.push(name));
    const { response } = await loop.execute('ann', {
      ...{ model: GROQ.model, input: 'Weather?', tools: ['ping', 'forecast'], stream: true },
    });
    expect(response.output_text).to.equal('Sunny.');
    expect(started).to.include('forecast').and.not.include('call_tool');
  });

  it('fail like unknown tools if their call names none, and the model is told to search', async () => {
    const { transcript } = await run(GROQ, [
      { calls: [{ name: 'call_tool', arguments: '{"arguments":"{}"}' }] },
      { calls: [{ name: 'call_tool', arguments: { name: 'fly', arguments: {} } }] },
      { text: 'No.' },
    ]);
    const outputs = transcript.flatMap((item) =>
      item.type === 'function_call_output' ? [JSON.stringify(item.output)] : [],
    );
    expect(outputs[0]).to.contain('Unknown tool');
    expect(outputs[1]).to.contain('fly').and.contain('search_tools');
  });

  for (const vendor of [OPENAI, OPUS, GROQ])
    it(`are listed like others once the history that found them is compacted, on ${vendor.vendor}`, async () => {
      const from = { count: 1, length: 4, summarizedUpTo: 3, clearedUpTo: 0, summary: 'A tool was found.' };
      const { bodies } = await run(vendor, [{ text: 'Yes.' }], { input: TOLD, compaction: { from } });
      const [request] = bodies;
      const listed = list(request?.['tools']).filter(({ defer_loading }) => defer_loading !== true);
      expect(JSON.stringify(listed)).to.contain('"forecast"').and.not.contain('"mail"');
      expect(JSON.stringify(request?.['messages'] ?? request?.['input'])).not.to.contain('forecast');
    });

  it('leave the names of the program’s own tools alone', async () => {
    simulator.enqueue({ text: 'Hi.' });
    const registry = tools().register({ name: 'call_tool', execute: () => 'mine' });
    const loop = new AgenticLoop({ provider: simulatedProvider(simulator, GROQ), toolExecutor: registry });
    await loop.execute('ann', { model: GROQ.model, input: 'Hi.', tools: ['call_tool', 'forecast'] });
    expect(JSON.stringify((simulator.requests[0]?.body as JsonObject)['tools'])).to.contain('call_found_tool');
  });
});
