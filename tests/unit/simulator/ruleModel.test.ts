/** The rule-based model: which tools it calls, with what, and what it says of their results. */
import { expect } from 'chai';
import type { Conversation, OfferedTool, Turn } from '../../../imports/simulator/model/Conversation';
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
  more: Partial<OfferedTool> = {},
): OfferedTool => ({
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
    toolDemand: { mode: 'auto' },
    parallelCalls: true,
    wantsReasoning: false,
    ...more,
  };
}

function callsFor(text: string, more: Partial<Conversation> = {}): [string, unknown][] {
  return ruleModel
    .answer(conversation([user(text)], more))
    .calls.map(({ name, arguments: args }) => [name, JSON.parse(args)]);
}

describe('the rule model', () => {
  it('calls the tool that a text names, with what the text offers', () => {
    expect(callsFor('Please use get_weather for the city of New York, in fahrenheit.')).to.deep.equal([
      ['get_weather', { city: 'New York', unit: 'fahrenheit' }],
    ]);
    expect(callsFor('Call add_numbers with 3 and -4.5')).to.deep.equal([['add_numbers', { a: 3, b: -4.5 }]]);
    expect(callsFor('Use send_mail to bob@example.org about "The harvest".')).to.deep.equal([
      ['send_mail', { to: 'bob@example.org', subject: 'The harvest' }],
    ]);
  });

  it('calls the tools whose words a text shares, all in one turn', () => {
    expect(callsFor('What is the weather in Oslo?').map(([name]) => name)).to.deep.equal(['get_weather']);
    expect(callsFor('Tell me the weather in Oslo and send a mail about it.').map(([name]) => name)).to.deep.equal([
      'get_weather',
      'send_mail',
    ]);
  });

  it('calls a tool once for each place', () => {
    expect(
      callsFor('What is the weather in Oslo and in Paris?').map(([, args]) => (args as { city: string }).city),
    ).to.deep.equal(['Oslo', 'Paris']);
  });

  it('calls one tool where only one may be called', () => {
    expect(callsFor('Use get_weather and add_numbers.', { parallelCalls: false })).to.have.length(1);
  });

  it('obeys the demand for tools', () => {
    expect(callsFor('Use get_weather.', { toolDemand: { mode: 'none' } })).to.deep.equal([]);
    expect(
      callsFor('Hello.', { toolDemand: { mode: 'required', names: ['add_numbers'] } }).map(([name]) => name),
    ).to.deep.equal(['add_numbers']);
    expect(
      callsFor('Use get_weather and add_numbers.', { toolDemand: { mode: 'auto', names: ['add_numbers'] } }).map(
        ([name]) => name,
      ),
    ).to.deep.equal(['add_numbers']);
  });

  it('marks the calls of tools that answer later', () => {
    const [first] = ruleModel.answer(
      conversation([user('Use get_weather.')], { tools: [{ ...WEATHER, async: true }] }),
    ).calls;
    expect(first?.async).to.equal(true);
  });

  it('says plainly that it is simulated when no tool is needed', () => {
    const { text, calls } = ruleModel.answer(conversation([user('How are you?')]));
    expect(calls).to.deep.equal([]);
    expect(text)
      .to.match(/simulated/)
      .and.to.include('How are you?')
      .and.to.include('3 tools');
  });

  it('quotes results, and failures as such, and calls nothing again', () => {
    const turns = [
      user('Use get_weather and add_numbers.'),
      call('1', 'get_weather'),
      call('2', 'add_numbers'),
      result('1', 'get_weather', '{"degrees":21}'),
      result('2', 'add_numbers', 'overflow', true),
    ];
    const { text, calls } = ruleModel.answer(conversation(turns));
    expect(calls).to.deep.equal([]);
    expect(text).to.include('get_weather says: “{"degrees":21}”').and.to.include('add_numbers failed: “overflow”');
  });

  it('says that it waits for what was only acknowledged', () => {
    for (const acknowledgement of [
      '{"status":"in_progress","call_id":"1"}',
      'Accepted. The result will follow as a message.',
    ]) {
      const { text } = ruleModel.answer(
        conversation([user('Use get_weather.'), call('1', 'get_weather'), result('1', 'get_weather', acknowledgement)]),
      );
      expect(text).to.match(/get_weather is still at work; I wait/);
    }
  });

  it('speaks of a result that comes late, as a message or on its call', () => {
    const before = [
      user('Use get_weather.'),
      call('call_77', 'get_weather'),
      result('call_77', 'get_weather', '{"status":"in_progress"}'),
      { type: 'assistant', text: 'I wait.' } as const,
    ];
    const envelope =
      '<tool_result call_id="call_77" tool="get_weather">\nThe JSON below is data.\n{"degrees":9}\n</tool_result>';
    for (const message of [envelope, envelope.replace('call_77', 'an id that this wire has not seen')]) {
      const asMessage = ruleModel.answer(conversation([...before, user(message)]));
      expect(asMessage.calls).to.deep.equal([]);
      expect(asMessage.text).to.include('The result of get_weather has arrived: “{"degrees":9}”.');
    }
    const inWords = ruleModel.answer(conversation([...before, user('By the way, call_77 gave 9 degrees.')]));
    expect(inWords.text).to.include('The result of get_weather has arrived: “By the way, call_77 gave 9 degrees.”.');
    const onItsCall = ruleModel.answer(conversation([...before, result('call_77', 'get_weather', '{"degrees":9}')]));
    expect(onItsCall.text).to.include('get_weather says: “{"degrees":9}”');
  });

  it('fills a wanted schema from the question and the results', () => {
    const wantedSchema = closed({ title: { type: 'string' }, degrees: { type: 'integer' }, sure: { type: 'boolean' } });
    const turns = [user('A report called "Spring".'), call('1', 'get_weather'), result('1', 'get_weather', '21')];
    expect(JSON.parse(ruleModel.answer(conversation(turns, { wantedSchema })).text ?? '')).to.deep.equal({
      title: 'Spring',
      degrees: 21,
      sure: true,
    });
  });

  it('fills a schema that it is told in words', () => {
    const instructions = `Answer as JSON. It has to satisfy this JSON Schema:\n${JSON.stringify(closed({ title: { type: 'string' } }))}`;
    for (const wantedSchema of [undefined, {}]) {
      const told = conversation([user('A report called "Spring".')], {
        instructions,
        ...(wantedSchema === undefined ? {} : { wantedSchema }),
      });
      expect(JSON.parse(ruleModel.answer(told).text ?? '')).to.deep.equal({ title: 'Spring' });
    }
  });

  it('reasons when it is asked to, and never beyond its limit', () => {
    const thinking = ruleModel.answer(conversation([user('Use get_weather.')], { wantsReasoning: true }));
    expect(thinking.reasoning).to.include('Use get_weather.').and.to.include('I call get_weather.');
    const cut = ruleModel.answer(conversation([user('How are you?')], { maxOutputTokens: 3 }));
    expect(cut).to.deep.include({ ending: 'max_output_tokens', calls: [] });
    expect(cut.text).to.have.length(12);
  });

  it('answers the same each time', () => {
    const asked = conversation([user('What is the weather in Oslo?')]);
    expect(ruleModel.answer(asked)).to.deep.equal(ruleModel.answer(asked));
  });
});
