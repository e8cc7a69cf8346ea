/** Each rule of the Messages wire: a body that violates it, and a minimal variant that does not. */
import { expect } from 'chai';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ADDRESS, verdictOn } from './post';
import type { RefusalCase } from './post';

const user = (content: unknown): object => ({ role: 'user', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const text = (content: string): object => ({ type: 'text', text: content });
const call = (id: string): object => ({ type: 'tool_use', id, name: 'search', input: {} });
const result = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
const tool = { name: 'search', input_schema: { type: 'object' } };
const thinking = { type: 'enabled', budget_tokens: 1024 };
const body = (messages: unknown, more: object = {}): object => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 2000,
  messages,
  ...more,
});
const CACHED = { type: 'ephemeral' };
const reference = (tool_name: string): object => ({ type: 'tool_reference', tool_name });
const ADDITION = { type: 'tool_addition', tool: { type: 'tool_reference', name: 'search' } };
const hello = [user('Hello.')];
const withSchema = (schema: object): object =>
  body(hello, { output_config: { format: { type: 'json_schema', schema } } });
const marked = (count: number): object =>
  body([user(Array.from({ length: count }, () => ({ ...text('x'), cache_control: { type: 'ephemeral' } })))]);

const CASES: readonly RefusalCase[] = [
  {
    rule: 'an unknown field',
    rejected: body(hello, { frobnicate: 1 }),
    accepted: body(hello),
    message: 'frobnicate: Extra inputs are not permitted',
  },
  {
    rule: 'a missing max_tokens',
    rejected: { model: 'claude-sonnet-4-5', messages: hello },
    accepted: body(hello),
    message: 'max_tokens: Field required',
  },
  {
    rule: 'an unknown role',
    rejected: body([{ role: 'tool', content: 'x' }]),
    accepted: body(hello),
    message: /^messages\.0\.role:/,
  },
  {
    rule: 'nothing but deferred tools',
    rejected: body(hello, { tools: [{ ...tool, defer_loading: true }] }),
    accepted: body(hello, { tools: [tool, { ...tool, name: 'other', defer_loading: true }] }),
    message: 'At least one tool must have defer_loading=false. All tools cannot be deferred.',
  },
  {
    rule: 'a mark of the cache at a deferred tool',
    rejected: body(hello, { tools: [tool, { ...tool, name: 'b', defer_loading: true, cache_control: CACHED }] }),
    accepted: body(hello, {
      tools: [
        { ...tool, cache_control: CACHED },
        { ...tool, name: 'b', defer_loading: true },
      ],
    }),
    message: /cannot have both defer_loading=true and cache_control/,
  },
  {
    rule: 'a reference to an unknown tool',
    rejected: body([...hello, assistant([call('a')]), user([{ ...result('a'), content: [reference('b')] }])], {
      tools: [tool],
    }),
    accepted: body([...hello, assistant([call('a')]), user([{ ...result('a'), content: [reference('search')] }])], {
      tools: [tool],
    }),
    message: "Tool reference 'b' not found in available tools",
  },
  {
    rule: 'an addition of a tool without the beta feature',
    rejected: body([...hello, { role: 'system', content: [ADDITION] }], { tools: [tool] }),
    accepted: body([...hello, { role: 'system', content: [text('x')] }], { tools: [tool] }),
    message: /^messages\.1\.content\.0: Input tag 'tool_addition'/,
  },
  {
    rule: 'an empty text block',
    rejected: body([user([text('')])]),
    accepted: body([user([text('x')])]),
    message: 'messages: text content blocks must be non-empty',
  },
  {
    rule: 'a blank text block',
    rejected: body([user([text(' ')])]),
    accepted: body([user([text('x')])]),
    message: 'messages: text content blocks must contain non-whitespace text',
  },
  {
    rule: 'an empty message',
    rejected: body([user('')]),
    accepted: body(hello),
    message: /^messages\.0: all messages must have non-empty content/,
  },
  {
    rule: 'trailing whitespace in a prefill',
    rejected: body([...hello, assistant('So ')]),
    accepted: body([...hello, assistant('So')]),
    message: 'messages: final assistant content cannot end with trailing whitespace',
  },
  {
    rule: 'an unanswered call',
    rejected: body([...hello, assistant([call('a')]), user('Well?')]),
    accepted: body([...hello, assistant([call('a')]), user([result('a'), text('Well?')])]),
    message: /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: a\./,
  },
  {
    rule: 'a call at the end',
    rejected: body([...hello, assistant([call('a')])]),
    accepted: body([...hello, assistant([call('a')]), user([result('a')])]),
    message: /without `tool_result` blocks immediately after/,
  },
  {
    rule: 'one of two results missing',
    rejected: body([...hello, assistant([call('a'), call('b')]), user([result('a')])]),
    accepted: body([...hello, assistant([call('a'), call('b')]), user([result('b'), result('a')])]),
    message: /immediately after: b\./,
  },
  {
    rule: 'a result after another message',
    rejected: body([...hello, assistant([call('a')]), user('Wait.'), assistant('I do.'), user([result('a')])]),
    accepted: body([...hello, assistant([call('a')]), user([result('a')])]),
    message: /immediately after: a\./,
  },
  {
    rule: 'a result without a call',
    rejected: body([user([result('a')])]),
    accepted: body([...hello, assistant([call('a')]), user([result('a')])]),
    message: /^messages\.0\.content\.0: unexpected `tool_use_id` found in `tool_result` blocks: a\./,
  },
  {
    rule: 'text before results',
    rejected: body([...hello, assistant([call('a')]), user([text('Here:'), result('a')])]),
    accepted: body([...hello, assistant([call('a')]), user([result('a'), text('Here.')])]),
    message: /^messages\.2: `tool_use` ids were found without/,
  },
  {
    rule: 'two results of one call',
    rejected: body([...hello, assistant([call('a')]), user([result('a'), result('a')])]),
    accepted: body([...hello, assistant([call('a')]), user([result('a')])]),
    message: /each tool_use must have a single result/,
  },
  {
    rule: 'a duplicate call id',
    rejected: body([...hello, assistant([call('a'), call('a')]), user([result('a')])]),
    accepted: body([...hello, assistant([call('a'), call('b')]), user([result('a'), result('b')])]),
    message: 'messages.1.content.1: `tool_use` ids must be unique',
  },
  {
    rule: 'a call id with a dot',
    rejected: body([...hello, assistant([call('a.b')]), user([result('a.b')])]),
    accepted: body([...hello, assistant([call('a-b')]), user([result('a-b')])]),
    message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  },
  {
    rule: 'a tool loop without its thinking',
    rejected: body([...hello, assistant([call('a')]), user([result('a')])], { thinking }),
    accepted: body([...hello, assistant([call('a')]), user([result('a')])], { thinking: { type: 'adaptive' } }),
    message: /Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
  },
  {
    rule: 'a budget above max_tokens',
    rejected: body(hello, { thinking: { type: 'enabled', budget_tokens: 2000 } }),
    accepted: body(hello, { thinking }),
    message: /must be greater than `thinking.budget_tokens`/,
  },
  {
    rule: 'a budget below the minimum',
    rejected: body(hello, { thinking: { type: 'enabled', budget_tokens: 10 } }),
    accepted: body(hello, { thinking }),
    message: /greater than or equal to 1024/,
  },
  {
    rule: 'thinking with a forced tool',
    rejected: body(hello, { thinking, tools: [tool], tool_choice: { type: 'any' } }),
    accepted: body(hello, { thinking, tools: [tool], tool_choice: { type: 'auto' } }),
    message: 'Thinking may not be enabled when tool_choice forces tool use.',
  },
  {
    rule: 'thinking with a temperature',
    rejected: body(hello, { thinking, temperature: 0.5 }),
    accepted: body(hello, { thinking, temperature: 1 }),
    message: /`temperature` may only be set to 1/,
  },
  {
    rule: 'thinking with top_k',
    rejected: body(hello, { thinking, top_k: 5 }),
    accepted: body(hello, { top_k: 5 }),
    message: /`top_k` must be unset/,
  },
  {
    rule: 'temperature and top_p together',
    rejected: body(hello, { temperature: 0.5, top_p: 0.5 }),
    accepted: body(hello, { temperature: 0.5 }),
    message: /cannot both be specified/,
  },
  {
    rule: 'sampling parameters for models without them',
    rejected: body(hello, { model: 'claude-opus-4-7', temperature: 0.5 }),
    accepted: body(hello, { model: 'claude-opus-4-6', temperature: 0.5 }),
    message: '`temperature` is deprecated for this model.',
  },
  {
    rule: 'a prefill for models without it',
    rejected: body([...hello, assistant('So')], { model: 'claude-opus-4-6' }),
    accepted: body([...hello, assistant('So')]),
    message: /does not support assistant message prefill/,
  },
  {
    rule: 'two tools with one name',
    rejected: body(hello, { tools: [tool, tool] }),
    accepted: body(hello, { tools: [tool] }),
    message: 'tools: Tool names must be unique.',
  },
  {
    rule: 'a tool choice without tools',
    rejected: body(hello, { tool_choice: { type: 'any' } }),
    accepted: body(hello, { tools: [tool], tool_choice: { type: 'any' } }),
    message: /may only be specified while providing tools/,
  },
  {
    rule: 'the choice of an unknown tool',
    rejected: body(hello, { tools: [tool], tool_choice: { type: 'tool', name: 'leap' } }),
    accepted: body(hello, { tools: [tool], tool_choice: { type: 'tool', name: 'search' } }),
    message: "Tool 'leap' not found in provided tools",
  },
  {
    rule: 'five cache breakpoints',
    rejected: marked(5),
    accepted: marked(4),
    message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  },
  {
    rule: 'an open output schema',
    rejected: withSchema({ type: 'object', properties: {} }),
    accepted: withSchema({ type: 'object', properties: {}, additionalProperties: false }),
    message: /'additionalProperties' must be explicitly set to false/,
  },
  {
    rule: 'a bound in an output schema',
    rejected: withSchema({ type: 'integer', minimum: 1 }),
    accepted: withSchema({ type: 'integer' }),
    message: /For 'integer' type, property 'minimum' is not supported/,
  },
];

describe('the simulated Messages wire rejects', () => {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  for (const { rule, rejected, accepted, message } of CASES) {
    it(rule, async () => {
      const verdict = await verdictOn(simulator, ADDRESS.anthropic_messages, rejected);
      expect(verdict).to.deep.include({ status: 400 });
      if (typeof message === 'string') expect(verdict.message).to.equal(message);
      else expect(verdict.message).to.match(message);
      expect(verdict.body).to.have.nested.property('error.type', 'invalid_request_error');
      expect(await verdictOn(simulator, ADDRESS.anthropic_messages, accepted)).to.deep.include({
        status: 200,
        message: '',
      });
    });
  }
});
