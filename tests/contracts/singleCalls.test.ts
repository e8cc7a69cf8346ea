/** `parallel_tool_calls: false` yields one call at most, even from models that make several at once. */
import { expect } from 'chai';
import { toolCalls } from '../../imports/business/ai/domain/entities/Response';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { SIMULATED_VENDORS, simulatedProvider } from '../support/simulatedProviders';
import { CHECKS } from '../support/streamGrammar';

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const TOOL = { type: 'function', name: 'get_weather', description: 'The weather', parameters: PARAMETERS } as const;
const BOTH = {
  text: 'I look.',
  calls: [
    { name: 'get_weather', arguments: { city: 'Lisbon' } },
    { name: 'get_weather', arguments: { city: 'Bergen' } },
  ],
};

for (const vendor of SIMULATED_VENDORS)
  describe(`parallel_tool_calls: false at ${vendor.name}`, () => {
    let simulator: Simulator;
    let provider: ILLMProvider;
    before(async () => {
      simulator = await startSimulator();
      provider = simulatedProvider(simulator, vendor);
    });
    after(() => simulator.close());

    const ask = (input: GenerateOptions['input']): GenerateOptions => ({
      input,
      tools: [TOOL],
      parallel_tool_calls: false,
    });

    it('keeps the first call, after which the conversation goes on', async () => {
      simulator.enqueue(BOTH);
      const question = { role: 'user', content: 'How is it in both cities?' } as const;
      const response = await provider.generate('ann', ask([question]));
      expect(toolCalls(response).map((call) => JSON.parse(call.arguments) as unknown)).to.deep.equal([
        { city: 'Lisbon' },
      ]);
      expect(response.output_text).to.equal('I look.');
      expect(response.vendor.warnings.join(' ')).to.include('only the first was kept');
      simulator.enqueue({ text: 'Sunny.' });
      const [call] = toolCalls(response);
      const output = { type: 'function_call_output', call_id: call!.call_id, output: 'sunny' } as const;
      const next = await provider.generate('ann', ask([question, ...response.output, output]));
      expect(next.output_text).to.equal('Sunny.');
      expect(JSON.stringify(simulator.requests.at(-1)?.body))
        .to.include('Lisbon')
        .and.not.to.include('Bergen');
      simulator.assertDone();
    });

    it('keeps it in a stream, whose items stay numbered without a gap', async () => {
      simulator.enqueue(BOTH);
      const events: ResponseStreamEvent[] = [];
      for await (const event of provider.stream('ann', ask('How is it in both cities?'))) events.push(event);
      expect(JSON.stringify(events)).to.include('Lisbon').and.not.to.include('Bergen');
      const added = events.flatMap((event) => (event.type === 'response.output_item.added' ? event.output_index : []));
      expect(added).to.deep.equal(added.map((_, index) => index));
      const last = events.at(-1);
      const output = last?.type === 'response.completed' ? last.response.output : [];
      expect(output).to.have.length(added.length);
      expect(events.filter(({ type }) => type === 'response.tool_use.announced')).to.have.length(1);
    });

    it('changes nothing about a response with one call', async () => {
      simulator.enqueue({ calls: BOTH.calls.slice(0, 1) });
      const response = await provider.generate('ann', ask('How is it?'));
      expect(toolCalls(response)).to.have.length(1);
      expect(response.vendor).not.to.have.property('omitted_calls');
    });
  });

describe('parallel_tool_calls: false of a client of the gateway', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  const messages = [{ role: 'user', content: 'How is it in both cities?' }];
  const { type: _, parameters: input_schema, ...tool } = TOOL;
  const ROUTES: Readonly<Record<string, { path: string; scheme: keyof typeof CHECKS; body: JsonObject }>> = {
    'chat completions': {
      path: '/v1/chat/completions',
      scheme: 'openai',
      body: {
        messages,
        parallel_tool_calls: false,
        tools: [{ type: 'function', function: { ...tool, parameters: input_schema } }],
      },
    },
    Responses: {
      path: '/v1/responses',
      scheme: 'openai_responses',
      body: { input: messages, parallel_tool_calls: false, tools: [TOOL] },
    },
    Messages: {
      path: '/v1/messages',
      scheme: 'anthropic',
      body: {
        messages,
        max_tokens: 100,
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
        tools: [{ ...tool, input_schema }],
      },
    },
  };
  for (const [api, { path, scheme, body }] of Object.entries(ROUTES))
    for (const model of ['google', 'groq', 'grok', 'openai_compatible'])
      it(`is kept by ${api} with ${model}`, async () => {
        gateway.simulator.enqueue(BOTH);
        const whole = await (await gateway.request(path, { ...body, model })).text();
        expect(whole).to.include('Lisbon').and.not.to.include('Bergen');
        gateway.simulator.enqueue(BOTH);
        const stream = await (await gateway.request(path, { ...body, model, stream: true })).text();
        expect(stream)
          .to.include('get_weather')
          .and.not.to.match(/Berg|"index":1,"id"/);
        CHECKS[scheme](stream);
      });

  it('leaves the messages of a vendor that keeps it itself as they are', async () => {
    gateway.simulator.enqueue({ calls: BOTH.calls.slice(0, 1) });
    const { path, body } = ROUTES['chat completions']!;
    const answer = await gateway.request(path, { ...body, model: 'openai' });
    const sent = await answer.text();
    expect(sent).to.include('system_fingerprint').and.to.include('Lisbon');
  });
});
