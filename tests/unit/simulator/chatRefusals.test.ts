/**
 * Each rule of the Chat Completions wire: a body that breaks it, and its twin that doesn't; and which hosts have
 * it.
 */
import { expect } from 'chai';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ADDRESS, CHAT_ADDRESS, verdictOn } from './post';
import type { RefusalCase } from './post';

const user = (content: string): object => ({ role: 'user', content });
const calling = (...ids: string[]): object => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
});
const answer = (tool_call_id: string): object => ({ role: 'tool', tool_call_id, content: 'ok' });
const body = (messages: unknown, more: object = {}): object => ({ model: 'gpt-4.1', messages, ...more });
const hello = user('Hello, in json.');
const tool = (fields: object = {}): object => ({ type: 'function', function: { name: 'look', ...fields } });
const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };
const format = (given: object): object => body([user('Hello.')], { response_format: given });

const UNANSWERED =
  /^An assistant message with 'tool_calls' must be followed by tool messages .*The following tool_call_ids did not have response messages: /;
const UNCALLED =
  "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";

const CASES: readonly RefusalCase[] = [
  {
    rule: 'an unknown argument',
    refused: body([hello], { frobnicate: 1 }),
    accepted: body([hello]),
    message: 'Unrecognized request argument supplied: frobnicate',
  },
  {
    rule: 'a missing model',
    refused: { messages: [hello] },
    accepted: body([hello]),
    message: "Missing required parameter: 'model'.",
  },
  {
    rule: 'a role that it lacks',
    refused: body([{ role: 'model', content: 'x' }]),
    accepted: body([{ role: 'developer', content: 'x' }]),
    message: /^Invalid value for 'messages\[0\]\.role'/,
  },
  {
    rule: 'an unanswered call',
    refused: body([hello, calling('a'), user('Well?')]),
    accepted: body([hello, calling('a'), answer('a'), user('Well?')]),
    message: UNANSWERED,
  },
  {
    rule: 'a call at the end',
    refused: body([hello, calling('a')]),
    accepted: body([hello, calling('a'), answer('a')]),
    message: UNANSWERED,
  },
  {
    rule: 'one of two answers missing',
    refused: body([hello, calling('a', 'b'), answer('b')]),
    accepted: body([hello, calling('a', 'b'), answer('b'), answer('a')]),
    message: /messages: a$/,
  },
  {
    rule: 'an answer after other messages',
    refused: body([hello, calling('a'), user('Wait.'), answer('a')]),
    accepted: body([hello, calling('a'), answer('a'), user('Wait.')]),
    message: UNANSWERED,
  },
  {
    rule: 'an answer without a call',
    refused: body([hello, answer('a')]),
    accepted: body([hello, calling('a'), answer('a')]),
    message: UNCALLED,
  },
  {
    rule: 'an answer to another call',
    refused: body([hello, calling('a'), answer('a'), answer('b')]),
    accepted: body([hello, calling('a', 'b'), answer('a'), answer('b')]),
    message: UNCALLED,
  },
  {
    rule: 'two answers to one call',
    refused: body([hello, calling('a'), answer('a'), answer('a')]),
    accepted: body([hello, calling('a'), answer('a')]),
    message: "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[2] and messages[3].",
  },
  {
    rule: 'a call id of 41 characters',
    refused: body([hello, calling('a'.repeat(41)), answer('a'.repeat(41))]),
    accepted: body([hello, calling('a'.repeat(40)), answer('a'.repeat(40))]),
    message: /^Invalid 'messages\[1\]\.tool_calls\[0\]\.id': string too long\./,
  },
  {
    rule: 'an assistant that says nothing',
    refused: body([hello, { role: 'assistant', content: null }]),
    accepted: body([hello, { role: 'assistant', content: 'x' }]),
    message: "Invalid value for 'content': expected a string, got null.",
  },
  {
    rule: 'a tool name with a dot',
    refused: body([hello], { tools: [tool({ name: 'a.b' })] }),
    accepted: body([hello], { tools: [tool()] }),
    message: /string does not match pattern/,
  },
  {
    rule: 'a tool name of 65 characters',
    refused: body([hello], { tools: [tool({ name: 'a'.repeat(65) })] }),
    accepted: body([hello], { tools: [tool({ name: 'a'.repeat(64) })] }),
    message: /string too long/,
  },
  {
    rule: 'a choice without tools',
    refused: body([hello], { tool_choice: 'auto' }),
    accepted: body([hello], { tool_choice: 'auto', tools: [tool()] }),
    message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
  },
  {
    rule: 'parallel calls without tools',
    refused: body([hello], { parallel_tool_calls: false }),
    accepted: body([hello], { parallel_tool_calls: false, tools: [tool()] }),
    message: /'parallel_tool_calls' is only allowed/,
  },
  {
    rule: 'no tools in tools',
    refused: body([hello], { tools: [] }),
    accepted: body([hello]),
    message: /^Invalid 'tools': empty array/,
  },
  {
    rule: 'an open schema in strict mode',
    refused: body([hello], { tools: [tool({ strict: true, parameters: { type: 'object' } })] }),
    accepted: body([hello], { tools: [tool({ strict: true, parameters: closed })] }),
    message: /^Invalid schema for function 'look'/,
  },
  {
    rule: 'an open answer schema in strict mode',
    refused: format({ type: 'json_schema', json_schema: { name: 'n', strict: true, schema: { type: 'object' } } }),
    accepted: format({ type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } }),
    message: /^Invalid schema for response_format 'n'/,
  },
  {
    rule: 'a json_object that nobody speaks of',
    refused: format({ type: 'json_object' }),
    accepted: body([hello], { response_format: { type: 'json_object' } }),
    message: /must contain the word 'json'/,
  },
  {
    rule: 'max_tokens of a reasoning model',
    refused: body([hello], { model: 'o3-mini', max_tokens: 9 }),
    accepted: body([hello], { model: 'o3-mini', max_completion_tokens: 9 }),
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  },
  {
    rule: 'a temperature of a reasoning model',
    refused: body([hello], { model: 'gpt-5-mini', temperature: 0 }),
    accepted: body([hello], { model: 'gpt-5-mini', temperature: 1 }),
    message: /'temperature' does not support 0 with this model/,
  },
];

describe('the simulated Chat Completions wire refuses', () => {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  for (const { rule, refused, accepted, message } of CASES) {
    it(rule, async () => {
      const verdict = await verdictOn(simulator, ADDRESS.chat_completions, refused);
      expect(verdict).to.deep.include({ status: 400 });
      if (typeof message === 'string') expect(verdict.message).to.equal(message);
      else expect(verdict.message).to.match(message);
      expect(verdict.body).to.have.nested.property('error.type', 'invalid_request_error');
      expect(await verdictOn(simulator, ADDRESS.chat_completions, accepted)).to.deep.include({
        status: 200,
        message: '',
      });
    });
  }

  const unanswered = body([hello, calling('a'), user('Well?')]);
  for (const [vendor, status] of Object.entries({
    azure_openai: 400,
    llama: 400,
    openai_compatible: 400,
    grok: 200,
    groq: 200,
  } as const)) {
    it(`an unanswered call for ${vendor}: ${status === 400 ? 'yes' : 'no, nothing of the kind is known'}`, async () => {
      expect(
        await verdictOn(simulator, CHAT_ADDRESS[vendor as keyof typeof CHAT_ADDRESS]!, unanswered),
      ).to.deep.include({ status });
    });
  }

  it("an unknown field on Groq in Groq's words", async () => {
    const verdict = await verdictOn(simulator, CHAT_ADDRESS.groq!, body([hello], { frobnicate: 1 }));
    expect(verdict).to.deep.include({ status: 400, message: "property 'frobnicate' is unsupported" });
  });

  it('a call without arguments on Llama hosts, by breaking', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'look' } };
    const replay = body([hello, { role: 'assistant', content: null, tool_calls: [call] }, answer('a')]);
    expect(await verdictOn(simulator, CHAT_ADDRESS.llama!, replay)).to.deep.include({
      status: 500,
      message: 'Internal server error',
    });
    expect(await verdictOn(simulator, CHAT_ADDRESS.llama!, body([hello, calling('a'), answer('a')]))).to.deep.include({
      status: 200,
    });
  });

  it("what xAI refuses in xAI's shape", async () => {
    const { status, body: said } = await verdictOn(simulator, CHAT_ADDRESS.grok!, { messages: 'x', model: 'grok-4.3' });
    expect(status).to.equal(400);
    expect(said).to.have.keys('code', 'error');
    expect(said.error).to.be.a('string');
  });

  it('a body that is no JSON', async () => {
    expect(await verdictOn(simulator, ADDRESS.chat_completions, '{"model":')).to.deep.include({
      status: 400,
      message: 'We could not parse the JSON body of your request.',
    });
  });
});
