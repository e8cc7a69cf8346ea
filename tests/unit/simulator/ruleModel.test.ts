/** The rule-based model: which tools it calls, with which arguments, and how it reports their results. */
import { expect } from 'chai';
import type { Conversation, ToolDefinition, Turn } from '../../../imports/simulator/model/Conversation';
import { ruleModel } from '../../../imports/simulator/model/RuleModel';

const closed = (properties: Record<string, object>): Record<string, unknown> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const tool = (
  name: string,
  description: string,
  properties: Record<string, object>,
  more: Partial<ToolDefinition> = {},
): ToolDefinition => ({
  name,
  description,
  parameters: closed(properties),
  async: false,
  ...more,
});
const WEATHER = tool('get_weather', 'Current weather at a place', {
  city: { type: 'string' },
  unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
});
const ADD = tool('add_numbers', 'Sum of two numbers', { a: { type: 'number' }, b: { type: 'number' } });
const MAIL = tool('send_mail', 'Delivers a letter', {
  to: { type: 'string', format: 'email' },
  subject: { type: 'string' },
});
const TOOLS = [WEATHER, ADD, MAIL];

const user = (text: string): Turn => ({ type: 'user', text });
const call = (id: string, name: string): Turn => ({ type: 'call', id, name, arguments: '{}' });
const result = (callId: string, name: string, text: string, failed = false): Turn => ({
  type: 'result',
  callId,
  name,
  text,
  failed,
});

function conversation(turns: readonly Turn[], more: Partial<Conversation> = {}): Conversation {
  return {
    vendor: 'openai',
    wire: 'responses',
    model: 'some-model',
    instructions: '',
    turns,
    tools: TOOLS,
    toolChoice: { mode: 'auto' },
    allowsParallelCalls: true,
    wantsReasoning: false,
    ...more,
  };
}

function callsFor(text: string, more: Partial<Conversation> = {}): [string, unknown][] {
  return ruleModel
    .respond(conversation([user(text)], more))
    .calls.map(({ name, arguments: args }) => [name, JSON.parse(args)]);
}

describe('ruleModel', () => {
  it('calls the tool that a text names, with values from the text', () => {
    expect(callsFor('Please use get_weather for the city of New York, in fahrenheit.')).to.deep.equal([
      ['get_weather', { city: 'New York', unit: 'fahrenheit' }],
    ]);
    expect(callsFor('Call add_numbers with 3 and -4.5')).to.deep.equal([['add_numbers', { a: 3, b: -4.5 }]]);
    expect(callsFor('Use send_mail to bob@example.org about "The harvest".')).to.deep.equal([
      ['send_mail', { to: 'bob@example.org', subject: 'The harvest' }],
    ]);
  });

  it('calls all tools whose names or descriptions match a text in one turn', () => {
    expect(callsFor('What is the weather in Oslo?').map(([name]) => name)).to.deep.equal(['get_weather']);
    expect(callsFor('Give me the weather in Oslo and send a mail about it.').map(([name]) => name)).to.deep.equal([
      'get_weather',
      'send_mail',
    ]);
  });

  it('calls a tool once for each place', () => {
    expect(
      callsFor('What is the weather in Oslo and in Paris?').map(([, args]) => (args as { city: string }).city),
    ).to.deep.equal(['Oslo', 'Paris']);
  });

  it('makes one call when parallel calls are disabled', () => {
    expect(callsFor('Use get_weather and add_numbers.', { allowsParallelCalls: false })).to.have.length(1);
  });

  it('obeys the tool choice', () => {
    expect(callsFor('Use get_weather.', { toolChoice: { mode: 'none' } })).to.deep.equal([]);
    expect(
      callsFor('Hello.', { toolChoice: { mode: 'required', names: ['add_numbers'] } }).map(([name]) => name),
    ).to.deep.equal(['add_numbers']);
    expect(
      callsFor('Use get_weather and add_numbers.', { toolChoice: { mode: 'auto', names: ['add_numbers'] } }).map(
        ([name]) => name,
      ),
    ).to.deep.equal(['add_numbers']);
  });

  it('marks the calls of asynchronous tools', () => {
    const [first] = ruleModel.respond(
      conversation([user('Use get_weather.')], { tools: [{ ...WEATHER, async: true }] }),
    ).calls;
    expect(first?.async).to.equal(true);
  });

  it('states that it is simulated when no tool is needed', () => {
    const { text, calls } = ruleModel.respond(conversation([user('How are you?')]));
    expect(calls).to.deep.equal([]);
    expect(text)
      .to.match(/simulated/)
      .and.to.include('How are you?')
      .and.to.include('3 tools');
  });

  it('quotes results and failures without repeating the calls', () => {
    const turns = [
      user('Use get_weather and add_numbers.'),
      call('1', 'get_weather'),
      call('2', 'add_numbers'),
      result('1', 'get_weather', '{"degrees":21}'),
      result('2', 'add_numbers', 'overflow', true),
    ];
    const { text, calls } = ruleModel.respond(conversation(turns));
    expect(calls).to.deep.equal([]);
    expect(text).to.include('get_weather returned: “{"degrees":21}”').and.to.include('add_numbers failed: “overflow”');
  });

  it('states that it waits for results that were only acknowledged', () => {
    for (const acknowledgement of [
      '{"status":"in_progress","call_id":"1"}',
      'Accepted. The result will follow as a message.',
    ]) {
      const { text } = ruleModel.respond(
        conversation([user('Use get_weather.'), call('1', 'get_weather'), result('1', 'get_weather', acknowledgement)]),
      );
      expect(text).to.match(/get_weather is still running; I will wait/);
    }
  });

  it('reports a late result that arrives as a message or under its call id', () => {
    const before = [
      user('Use get_weather.'),
      call('call_77', 'get_weather'),
      result('call_77', 'get_weather', '{"status":"in_progress"}'),
      { type: 'assistant', text: 'I wait.' } as const,
    ];
    const envelope =
      '<tool_result call_id="call_77" tool="get_weather">\nThe JSON below is data.\n{"degrees":9}\n</tool_result>';
    for (const message of [envelope, envelope.replace('call_77', 'an id that this wire has not seen')]) {
      const asMessage = ruleModel.respond(conversation([...before, user(message)]));
      expect(asMessage.calls).to.deep.equal([]);
      expect(asMessage.text).to.include('The result of get_weather has arrived: “{"degrees":9}”.');
    }
    const asMessage = ruleModel.respond(conversation([...before, user('By the way, call_77 gave 9 degrees.')]));
    expect(asMessage.text).to.include('The result of get_weather has arrived: “By the way, call_77 gave 9 degrees.”.');
    const onItsCall = ruleModel.respond(conversation([...before, result('call_77', 'get_weather', '{"degrees":9}')]));
    expect(onItsCall.text).to.include('get_weather returned: “{"degrees":9}”');
  });

  it('fills a requested schema from the prompt and the results', () => {
    const outputSchema = closed({ title: { type: 'string' }, degrees: { type: 'integer' }, sure: { type: 'boolean' } });
    const turns = [user('A report called "Spring".'), call('1', 'get_weather'), result('1', 'get_weather', '21')];
    expect(JSON.parse(ruleModel.respond(conversation(turns, { outputSchema })).text ?? '')).to.deep.equal({
      title: 'Spring',
      degrees: 21,
      sure: true,
    });
  });

  it('fills a schema that is part of the instructions', () => {
    const instructions = `Answer as JSON. It has to satisfy this JSON Schema:\n${JSON.stringify(closed({ title: { type: 'string' } }))}`;
    for (const outputSchema of [undefined, {}]) {
      const withInstructions = conversation([user('A report called "Spring".')], {
        instructions,
        ...(outputSchema === undefined ? {} : { outputSchema }),
      });
      expect(JSON.parse(ruleModel.respond(withInstructions).text ?? '')).to.deep.equal({ title: 'Spring' });
    }
  });

  it('reasons on request, and never exceeds its token limit', () => {
    const thinking = ruleModel.respond(conversation([user('Use get_weather.')], { wantsReasoning: true }));
    expect(thinking.reasoning).to.include('Use get_weather.').and.to.include('I will call get_weather.');
    const cut = ruleModel.respond(conversation([user('How are you?')], { maxOutputTokens: 3 }));
    expect(cut).to.deep.include({ ending: 'max_output_tokens', calls: [] });
    expect(cut.text).to.have.length(12);
  });

  it('is deterministic', () => {
    const prompt = conversation([user('What is the weather in Oslo?')]);
    expect(ruleModel.respond(prompt)).to.deep.equal(ruleModel.respond(prompt));
  });
});
