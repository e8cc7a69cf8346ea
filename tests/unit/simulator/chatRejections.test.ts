/**
 * Each rule of the Chat Completions wire: a body that violates it, a minimal variant that does not, and the vendors
 * that enforce it.
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
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'search', arguments: '{}' } })),
});
const result = (tool_call_id: string): object => ({ role: 'tool', tool_call_id, content: 'ok' });
const body = (messages: unknown, more: object = {}): object => ({ model: 'gpt-4.1', messages, ...more });
const hello = user('Hello, in json.');
const tool = (fields: object = {}): object => ({ type: 'function', function: { name: 'search', ...fields } });
const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };
const format = (given: object): object => body([user('Hello.')], { response_format: given });

const UNANSWERED =
  /^An assistant message with 'tool_calls' must be followed by tool messages .*The following tool_call_ids did not have response messages: /;
const UNCALLED =
  "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";

const CASES: readonly RefusalCase[] = [
  {
    rule: 'an unknown argument',
    rejected: body([hello], { frobnicate: 1 }),
    accepted: body([hello]),
    message: 'Unrecognized request argument supplied: frobnicate',
  },
  {
    rule: 'a missing model',
    rejected: { messages: [hello] },
    accepted: body([hello]),
    message: "Missing required parameter: 'model'.",
  },
  {
    rule: 'an unknown role',
    rejected: body([{ role: 'model', content: 'x' }]),
    accepted: body([{ role: 'developer', content: 'x' }]),
    message: /^Invalid value for 'messages\[0\]\.role'/,
  },
  {
    rule: 'an unanswered call',
    rejected: body([hello, calling('a'), user('Well?')]),
    accepted: body([hello, calling('a'), result('a'), user('Well?')]),
    message: UNANSWERED,
  },
  {
    rule: 'a call at the end',
    rejected: body([hello, calling('a')]),
    accepted: body([hello, calling('a'), result('a')]),
    message: UNANSWERED,
  },
  {
    rule: 'one of two results missing',
    rejected: body([hello, calling('a', 'b'), result('b')]),
    accepted: body([hello, calling('a', 'b'), result('b'), result('a')]),
    message: /messages: a$/,
  },
  {
    rule: 'a result after other messages',
    rejected: body([hello, calling('a'), user('Wait.'), result('a')]),
    accepted: body([hello, calling('a'), result('a'), user('Wait.')]),
    message: UNANSWERED,
  },
  {
    rule: 'a result without a call',
    rejected: body([hello, result('a')]),
    accepted: body([hello, calling('a'), result('a')]),
    message: UNCALLED,
  },
  {
    rule: 'a result of another call',
    rejected: body([hello, calling('a'), result('a'), result('b')]),
    accepted: body([hello, calling('a', 'b'), result('a'), result('b')]),
    message: UNCALLED,
  },
  {
    rule: 'two results of one call',
    rejected: body([hello, calling('a'), result('a'), result('a')]),
    accepted: body([hello, calling('a'), result('a')]),
    message: "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[2] and messages[3].",
  },
  {
    rule: 'a call id of 41 characters',
    rejected: body([hello, calling('a'.repeat(41)), result('a'.repeat(41))]),
    accepted: body([hello, calling('a'.repeat(40)), result('a'.repeat(40))]),
    message: /^Invalid 'messages\[1\]\.tool_calls\[0\]\.id': string too long\./,
  },
  {
    rule: 'an assistant message without content',
    rejected: body([hello, { role: 'assistant', content: null }]),
    accepted: body([hello, { role: 'assistant', content: 'x' }]),
    message: "Invalid value for 'content': expected a string, got null.",
  },
  {
    rule: 'a tool name with a dot',
    rejected: body([hello], { tools: [tool({ name: 'a.b' })] }),
    accepted: body([hello], { tools: [tool()] }),
    message: /string does not match pattern/,
  },
  {
    rule: 'a tool name of 65 characters',
    rejected: body([hello], { tools: [tool({ name: 'a'.repeat(65) })] }),
    accepted: body([hello], { tools: [tool({ name: 'a'.repeat(64) })] }),
    message: /string too long/,
  },
  {
    rule: 'a choice without tools',
    rejected: body([hello], { tool_choice: 'auto' }),
    accepted: body([hello], { tool_choice: 'auto', tools: [tool()] }),
    message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
  },
  {
    rule: 'parallel calls without tools',
    rejected: body([hello], { parallel_tool_calls: false }),
    accepted: body([hello], { parallel_tool_calls: false, tools: [tool()] }),
    message: /'parallel_tool_calls' is only allowed/,
  },
  {
    rule: 'no tools in tools',
    rejected: body([hello], { tools: [] }),
    accepted: body([hello]),
    message: /^Invalid 'tools': empty array/,
  },
  {
    rule: 'an open schema in strict mode',
    rejected: body([hello], { tools: [tool({ strict: true, parameters: { type: 'object' } })] }),
    accepted: body([hello], { tools: [tool({ strict: true, parameters: closed })] }),
    message: /^Invalid schema for function 'search'/,
  },
  {
    rule: 'an open output schema in strict mode',
    rejected: format({ type: 'json_schema', json_schema: { name: 'n', strict: true, schema: { type: 'object' } } }),
    accepted: format({ type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } }),
    message: /^Invalid schema for response_format 'n'/,
  },
  {
    rule: 'a json_object format that no message mentions',
    rejected: format({ type: 'json_object' }),
    accepted: body([hello], { response_format: { type: 'json_object' } }),
    message: /must contain the word 'json'/,
  },
  {
    rule: 'max_tokens of a reasoning model',
    rejected: body([hello], { model: 'o3-mini', max_tokens: 9 }),
    accepted: body([hello], { model: 'o3-mini', max_completion_tokens: 9 }),
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  },
  {
    rule: 'a temperature of a reasoning model',
    rejected: body([hello], { model: 'gpt-5-mini', temperature: 0 }),
    accepted: body([hello], { model: 'gpt-5-mini', temperature: 1 }),
    message: /'temperature' does not support 0 with this model/,
  },
];

describe('the simulated Chat Completions wire rejects', () => {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  for (const { rule, rejected, accepted, message } of CASES) {
    it(rule, async () => {
      const verdict = await verdictOn(simulator, ADDRESS.chat_completions, rejected);
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
    it(`an unanswered call for ${vendor}: ${status === 400 ? 'yes' : 'no, not known to be rejected'}`, async () => {
      expect(
        await verdictOn(simulator, CHAT_ADDRESS[vendor as keyof typeof CHAT_ADDRESS]!, unanswered),
      ).to.deep.include({ status });
    });
  }

  it("an unknown field at Groq, in Groq's format", async () => {
    const verdict = await verdictOn(simulator, CHAT_ADDRESS.groq!, body([hello], { frobnicate: 1 }));
    expect(verdict).to.deep.include({ status: 400, message: "property 'frobnicate' is unsupported" });
  });

  it('a call without arguments at Llama, with a server error', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'search' } };
    const replay = body([hello, { role: 'assistant', content: null, tool_calls: [call] }, result('a')]);
    expect(await verdictOn(simulator, CHAT_ADDRESS.llama!, replay)).to.deep.include({
      status: 500,
      message: 'Internal server error',
    });
    expect(await verdictOn(simulator, CHAT_ADDRESS.llama!, body([hello, calling('a'), result('a')]))).to.deep.include({
      status: 200,
    });
  });

  it("invalid requests to xAI, in xAI's format", async () => {
    const { status, body: errorBody } = await verdictOn(simulator, CHAT_ADDRESS.grok!, {
      messages: 'x',
      model: 'grok-4.3',
    });
    expect(status).to.equal(400);
    expect(errorBody).to.have.keys('code', 'error');
    expect(errorBody.error).to.be.a('string');
  });

  it('a body that is not JSON', async () => {
    expect(await verdictOn(simulator, ADDRESS.chat_completions, '{"model":')).to.deep.include({
      status: 400,
      message: 'We could not parse the JSON body of your request.',
    });
  });
});
