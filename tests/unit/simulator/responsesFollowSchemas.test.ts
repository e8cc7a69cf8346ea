/** The simulator's responses on OpenAI's wires follow OpenAI's published schemas. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import { asObject, parseJson } from '../../../imports/simulator/json';
import type { StaticResponse } from '../../../imports/simulator/ScriptedResponse';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ADDRESS, post } from './post';

const SCRIPTS: Record<string, StaticResponse> = {
  'a text': { text: 'Hello there.' },
  'parallel calls after text and reasoning': {
    reasoning: 'Think.',
    text: 'Wait.',
    calls: [{ name: 'a', arguments: { x: 1 } }, { name: 'b' }],
  },
  'a refusal': { refusal: 'No.' },
  'a truncated response': { text: 'Hal', incomplete: 'max_output_tokens' },
  'a filtered response': { incomplete: 'content_filter' },
  'the rule model': {},
};
const RESPONSES = {
  model: 'gpt-5-mini',
  input: 'Hello.',
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  tools: [{ type: 'function', name: 'a', parameters: { type: 'object' }, strict: false }],
};
const CHAT = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello.' }] };

describe('responses on OpenAI’s wires', () => {
  const schemas = new Map<string, ValidateFunction>();
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  const expectValid = (name: string, value: unknown): void => {
    const validate = schemas.get(name) ?? compile(name);
    schemas.set(name, validate);
    expect(validate(value), `${JSON.stringify(value)} ${JSON.stringify(validate.errors?.slice(0, 3))}`).to.equal(true);
  };

  for (const [what, script] of Object.entries(SCRIPTS)) {
    it(`follow the schema of a response: ${what}`, async () => {
      simulator.enqueue(script, script);
      expectValid('openai.responses.response', await (await post(simulator, ADDRESS.responses, RESPONSES)).json());
      const events = eventsIn(await (await post(simulator, ADDRESS.responses, { ...RESPONSES, stream: true })).text());
      expect(events.length).to.be.greaterThan(2);
      for (const { event, data } of events) {
        expectValid('openai.responses.stream-event', parseJson(data));
        expect(asObject(parseJson(data)).type).to.equal(event);
      }
    });

    it(`follow the schema of a chat completion: ${what}`, async () => {
      simulator.enqueue(script, script);
      expectValid(
        'openai.chat-completions.response',
        await (await post(simulator, ADDRESS.chat_completions, CHAT)).json(),
      );
      const response = await post(simulator, ADDRESS.chat_completions, {
        ...CHAT,
        stream: true,
        stream_options: { include_usage: true },
      });
      const events = eventsIn(await response.text());
      expect(events.at(-1)?.data).to.equal('[DONE]');
      for (const { data } of events.slice(0, -1)) expectValid('openai.chat-completions.chunk', parseJson(data));
    });
  }

  it('end a failed stream with an error and a failed response, and a failed chat with an error, zero usage and the end marker', async () => {
    simulator.enqueue({ text: 'So', failed: { message: 'Broken.' } }, { text: 'So', failed: { message: 'Broken.' } });
    const events = eventsIn(await (await post(simulator, ADDRESS.responses, { ...RESPONSES, stream: true })).text());
    expect(events.slice(-2).map(({ event }) => event)).to.deep.equal(['error', 'response.failed']);
    const chunks = eventsIn(
      await (await post(simulator, ADDRESS.chat_completions, { ...CHAT, stream: true })).text(),
    ).map(({ data }) => data);
    expect(asObject(parseJson(chunks.at(-3) ?? ''))).to.have.nested.property('error.message', 'Broken.');
    expect(asObject(parseJson(chunks.at(-2) ?? ''))).to.have.nested.property('usage.total_tokens', 0);
    expect(chunks.at(-1)).to.equal('[DONE]');
  });
});

function compile(name: string): ValidateFunction {
  const file = path.join(__dirname, '../../fixtures/schemas', `${name}.schema.json`);
  return new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile(
    asObject(parseJson(readFileSync(file, 'utf8'))),
  );
}

function eventsIn(stream: string): { readonly event?: string | undefined; readonly data: string }[] {
  const events: { readonly event?: string | undefined; readonly data: string }[] = [];
  createParser({ onEvent: ({ event, data }) => events.push({ event, data }) }).feed(stream);
  return events;
}
