/** Every accepted form of input, with its exact normalized form. */
import { expect } from 'chai';
import {
  normalizeInput,
  normalizeTools,
} from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { ContentType, MessageRole } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { LLMInput, LooseTool } from '../../../../../imports/business/ai/domain/types/LLMTypes';
import type { Content, InputItem } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';

const input = (text: string): Content => ({ type: 'input_text', text });
const output = (text: string): Content => ({ type: 'output_text', text, annotations: [] });
const user = (...content: Content[]): InputItem => ({ type: 'message', role: 'user', content });
const assistant = (...content: Content[]): InputItem => ({ type: 'message', role: 'assistant', content });
const call = (call_id: string, name: string, args: string): InputItem => ({
  type: 'function_call',
  call_id,
  name,
  arguments: args,
});

interface Form {
  readonly title: string;
  readonly given: unknown;
  readonly gives: readonly unknown[];
}

const FORMS: readonly Form[] = [
  { title: 'a bare string', given: 'hello', gives: [user(input('hello'))] },
  { title: 'an empty string', given: '', gives: [user(input(''))] },
  { title: 'an empty array', given: [], gives: [] },
  { title: 'an array of strings', given: ['a', 'b'], gives: [user(input('a')), user(input('b'))] },
  {
    title: 'strings, messages and items in one list',
    given: ['a', { role: 'assistant', content: 'b' }, call('c1', 'f', '{}')],
    gives: [user(input('a')), assistant(output('b')), call('c1', 'f', '{}')],
  },

  { title: 'string content of a user', given: [{ role: 'user', content: 'x' }], gives: [user(input('x'))] },
  {
    title: 'string content of a system or developer message',
    given: [
      { role: 'system', content: 'x' },
      { role: 'developer', content: 'y' },
    ],
    gives: [
      { type: 'message', role: 'system', content: [input('x')] },
      { type: 'message', role: 'developer', content: [input('y')] },
    ],
  },
  {
    title: 'string content of an assistant',
    given: [{ role: 'assistant', content: 'x' }],
    gives: [assistant(output('x'))],
  },
  {
    title: 'a message with its type, id, status and phase',
    given: [
      { type: 'message', id: 'msg_1', role: 'assistant', content: 'x', status: 'completed', phase: 'commentary' },
    ],
    gives: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [output('x')],
        status: 'completed',
        phase: 'commentary',
      },
    ],
  },
  {
    title: 'an array of strings as content',
    given: [{ role: 'user', content: ['a', 'b'] }],
    gives: [user(input('a'), input('b'))],
  },
  {
    title: 'null and missing content',
    given: [{ role: 'assistant', content: null }, { role: 'user' }],
    gives: [assistant(), user()],
  },
  {
    title: 'null for optional fields',
    given: [
      {
        role: 'user',
        content: 'x',
        id: null,
        status: null,
        phase: null,
        vendor: null,
        refusal: null,
        tool_calls: null,
        audio: null,
        function_call: null,
      },
    ],
    gives: [user(input('x'))],
  },
  {
    title: 'unknown fields',
    given: [{ role: 'user', content: 'x', name: 'bob', cache: { ttl: 5 } }],
    gives: [{ type: 'message', role: 'user', content: [input('x')], name: 'bob', cache: { ttl: 5 } }],
  },
  {
    title: 'vendor fields of a message and of a part',
    given: [
      {
        role: 'user',
        vendor: { anthropic: { a: 1 } },
        content: [{ type: 'input_text', text: 'x', vendor: { google: { b: 2 } } }],
      },
    ],
    gives: [
      {
        type: 'message',
        role: 'user',
        vendor: { anthropic: { a: 1 } },
        content: [{ type: 'input_text', text: 'x', vendor: { google: { b: 2 } } }],
      },
    ],
  },

  {
    title: 'every type of text part in a user message',
    given: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'input_text', text: 'b' },
          { type: 'output_text', text: 'c', annotations: [], logprobs: [] },
        ],
      },
    ],
    gives: [user(input('a'), input('b'), input('c'))],
  },
  {
    title: 'every type of text part in an assistant message',
    given: [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'input_text', text: 'b' },
          { type: 'output_text', text: 'c' },
        ],
      },
    ],
    gives: [assistant(output('a'), output('b'), output('c'))],
  },
  {
    title: 'annotations and log probabilities',
    given: [
      {
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'a',
            annotations: [{ type: 'url_citation', url: 'https://a.b' }],
            logprobs: [{ token: 'a', logprob: -0.5 }],
          },
        ],
      },
    ],
    gives: [
      assistant({
        type: 'output_text',
        text: 'a',
        annotations: [{ type: 'url_citation', url: 'https://a.b' }],
        logprobs: [{ token: 'a', logprob: -0.5 }],
      }),
    ],
  },
  {
    title: 'null annotations',
    given: [{ role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations: null, logprobs: null }] }],
    gives: [assistant(output('a'))],
  },
  {
    title: 'a refusal part',
    given: [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }],
    gives: [assistant({ type: 'refusal', refusal: 'no' })],
  },
  {
    title: 'a chat refusal',
    given: [{ role: 'assistant', content: null, refusal: 'no' }],
    gives: [assistant({ type: 'refusal', refusal: 'no' })],
  },

  {
    title: 'an image of the Responses API',
    given: [
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'https://a.b/c.png', detail: 'low' },
          { type: 'input_image', file_id: 'file_1', image_url: null },
        ],
      },
    ],
    gives: [
      user(
        { type: 'input_image', image_url: 'https://a.b/c.png', detail: 'low' },
        { type: 'input_image', file_id: 'file_1' },
      ),
    ],
  },
  {
    title: 'an image of Chat Completions',
    given: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PNG, detail: 'high' } }] }],
    gives: [user({ type: 'input_image', image_url: PNG, detail: 'high' })],
  },
  {
    title: 'input_image_url',
    given: [
      {
        role: 'user',
        content: [
          { type: 'input_image_url', image_url: { url: 'http://a.b/c' } },
          { type: 'input_image_url', image_url: 'http://a.b/d' },
        ],
      },
    ],
    gives: [
      user({ type: 'input_image', image_url: 'http://a.b/c' }, { type: 'input_image', image_url: 'http://a.b/d' }),
    ],
  },
  {
    title: 'files by id, URL and data',
    given: [
      {
        role: 'user',
        content: [
          { type: 'input_file', file_id: 'f' },
          { type: 'input_file', file_url: 'https://a.b/c.pdf' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERg==', filename: 'c.pdf' },
          { type: 'input_file', file_data: 'JVBERg==', filename: 'c.pdf', file_id: null },
        ],
      },
    ],
    gives: [
      user(
        { type: 'input_file', file_id: 'f' },
        { type: 'input_file', file_url: 'https://a.b/c.pdf' },
        { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERg==', filename: 'c.pdf' },
        { type: 'input_file', file_data: 'JVBERg==', filename: 'c.pdf' },
      ),
    ],
  },
  {
    title: 'a file of Chat Completions',
    given: [
      {
        role: 'user',
        content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'c.pdf' } }],
      },
    ],
    gives: [user({ type: 'input_file', file_data: 'data:application/pdf;base64,JVBERg==', filename: 'c.pdf' })],
  },
  {
    title: 'a part of an unknown type',
    given: [{ role: 'user', content: [{ type: 'input_hologram', depth: 3 }] }],
    gives: [{ type: 'message', role: 'user', content: [{ type: 'input_hologram', depth: 3 }] }],
  },

  {
    title: 'chat tool calls without text',
    given: [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x": 1}' } }],
      },
    ],
    gives: [call('c1', 'f', '{"x": 1}')],
  },
  {
    title: 'chat tool calls with an empty text',
    given: [{ role: 'assistant', content: '', tool_calls: [{ id: 'c1', function: { name: 'f' } }] }],
    gives: [call('c1', 'f', '{}')],
  },
  {
    title: 'chat tool calls after a text',
    given: [
      {
        role: 'assistant',
        content: 'looking it up',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '' } },
          { id: 'c2', index: 1, type: 'function', function: { name: 'g', arguments: '{"a":' } },
        ],
      },
    ],
    gives: [assistant(output('looking it up')), call('c1', 'f', ''), call('c2', 'g', '{"a":')],
  },
  {
    title: 'a chat call of a custom tool',
    given: [{ role: 'assistant', tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'grep', input: 'x' } }] }],
    gives: [{ type: 'custom_tool_call', call_id: 'c1', name: 'grep', input: 'x' }],
  },
  {
    title: 'a message with chat tool calls and other fields',
    given: [
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    ],
    gives: [{ type: 'message', role: 'assistant', content: [], reasoning_content: 'hm' }, call('c1', 'f', '{}')],
  },
  {
    title: 'role tool',
    given: [{ role: 'tool', tool_call_id: 'c1', content: 'sunny' }],
    gives: [{ type: 'function_call_output', call_id: 'c1', output: 'sunny' }],
  },
  {
    title: 'role tool with parts, a name and no content',
    given: [
      { role: 'tool', tool_call_id: 'c1', name: 'f', content: [{ type: 'text', text: 'a' }] },
      { role: 'tool', tool_call_id: 'c2', content: null },
    ],
    gives: [
      { type: 'function_call_output', call_id: 'c1', name: 'f', output: [input('a')] },
      { type: 'function_call_output', call_id: 'c2', output: '' },
    ],
  },

  {
    title: 'tool_use with an input object',
    given: [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't1', name: 'f', input: { city: 'Bern', n: [1, null] } }],
      },
    ],
    gives: [call('t1', 'f', '{"city":"Bern","n":[1,null]}')],
  },
  {
    title: 'tool_use with arguments as text, as an object, and without',
    given: [
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 't1', name: 'f', arguments: ' {"a":1}' },
          { type: 'tool_use', id: 't2', name: 'f', arguments: { a: 1 } },
          { type: 'tool_use', id: 't3', name: 'f' },
        ],
      },
    ],
    gives: [call('t1', 'f', ' {"a":1}'), call('t2', 'f', '{"a":1}'), call('t3', 'f', '{}')],
  },
  {
    title: 'tool_use between texts, which splits the message',
    given: [
      {
        role: 'assistant',
        id: 'msg_1',
        status: 'completed',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'tool_use', id: 't1', name: 'f', input: {} },
          { type: 'text', text: 'c' },
        ],
      },
    ],
    gives: [
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [output('a'), output('b')] },
      call('t1', 'f', '{}'),
      { type: 'message', role: 'assistant', status: 'completed', content: [output('c')] },
    ],
  },
  {
    title: 'tool_result with a string, with parts, and without content',
    given: [
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'ok' },
          {
            type: 'tool_result',
            tool_use_id: 't2',
            content: [
              { type: 'text', text: 'x' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
              { type: 'image', source: { type: 'url', url: 'https://a.b/c' } },
              { type: 'image', source: { type: 'file', file_id: 'f' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 't3' },
        ],
      },
    ],
    gives: [
      { type: 'function_call_output', call_id: 't1', output: 'ok' },
      {
        type: 'function_call_output',
        call_id: 't2',
        output: [
          input('x'),
          { type: 'input_image', image_url: PNG },
          { type: 'input_image', image_url: 'https://a.b/c' },
          { type: 'input_image', file_id: 'f' },
        ],
      },
      { type: 'function_call_output', call_id: 't3', output: '' },
    ],
  },
  {
    title: 'a tool_result that is an error, before a text',
    given: [
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'no such city', is_error: true },
          { type: 'text', text: 'go on' },
        ],
      },
    ],
    gives: [
      { type: 'function_call_output', call_id: 't1', output: 'no such city', state: 'failed' },
      user(input('go on')),
    ],
  },
  {
    title: 'vendor fields of tool_use and tool_result',
    given: [
      {
        role: 'assistant',
        content: [
          {
            type: 'tool_use',
            id: 't1',
            name: 'f',
            input: {},
            vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
          },
        ],
      },
    ],
    gives: [{ ...call('t1', 'f', '{}'), vendor: { anthropic: { cache_control: { type: 'ephemeral' } } } }],
  },

  {
    title: 'a function call',
    given: [
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        name: 'f',
        arguments: '{ }',
        status: 'completed',
        async: true,
      },
    ],
    gives: [
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        name: 'f',
        arguments: '{ }',
        status: 'completed',
        async: true,
      },
    ],
  },
  {
    title: 'a function call with an object as arguments, and without arguments',
    given: [
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: { a: [] } },
      { type: 'function_call', call_id: 'c2', name: 'f' },
    ],
    gives: [call('c1', 'f', '{"a":[]}'), call('c2', 'f', '{}')],
  },
  {
    title: 'an acknowledgement and a deferred result',
    given: [
      { type: 'function_call_output', call_id: 'c1', output: 'later', status: 'in_progress' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [{ type: 'output_text', text: 'now', annotations: [] }],
        deferred: true,
        name: 'f',
        state: 'completed',
      },
    ],
    gives: [
      { type: 'function_call_output', call_id: 'c1', output: 'later', status: 'in_progress' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [input('now')],
        deferred: true,
        name: 'f',
        state: 'completed',
      },
    ],
  },
  {
    title: 'reasoning with its origin and encrypted content',
    given: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 's' }],
        content: [{ type: 'reasoning_text', text: 'r' }],
        encrypted_content: 'xyz',
        origin: { wire: 'responses', vendor: 'openai', model: 'gpt-5' },
      },
    ],
    gives: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 's' }],
        content: [{ type: 'reasoning_text', text: 'r' }],
        encrypted_content: 'xyz',
        origin: { wire: 'responses', vendor: 'openai', model: 'gpt-5' },
      },
    ],
  },
  {
    title: 'reasoning without content',
    given: [{ type: 'reasoning', content: null, encrypted_content: null }],
    gives: [{ type: 'reasoning', summary: [] }],
  },
  {
    title: 'a compaction',
    given: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'x' }],
    gives: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'x' }],
  },
  {
    title: 'a vendor item',
    given: [
      { type: 'vendor_item', origin: { wire: 'anthropic_messages' }, item: { type: 'server_tool_use', id: 's' } },
    ],
    gives: [
      { type: 'vendor_item', origin: { wire: 'anthropic_messages' }, item: { type: 'server_tool_use', id: 's' } },
    ],
  },
  {
    title: 'hosted items of known and unknown types, complete',
    given: [
      { type: 'web_search_call', id: 'ws_1', status: null, action: { type: 'search', query: 'q' } },
      { type: 'hologram_call', depth: [1, [2]] },
    ],
    gives: [
      { type: 'web_search_call', id: 'ws_1', status: null, action: { type: 'search', query: 'q' } },
      { type: 'hologram_call', depth: [1, [2]] },
    ],
  },
  {
    title: 'fields without a value',
    given: [{ role: 'user', content: 'x', id: undefined, extra: undefined }],
    gives: [user(input('x'))],
  },
  {
    title: 'objects without a prototype',
    given: [Object.assign(Object.create(null) as object, { role: 'user', content: 'x' })],
    gives: [user(input('x'))],
  },
  {
    title: 'own keys with the names of inherited ones',
    given: [{ role: 'user', content: 'x', toString: 'y', hasOwnProperty: 1 }],
    gives: [{ type: 'message', role: 'user', content: [input('x')], toString: 'y', hasOwnProperty: 1 }],
  },
  { title: 'surrogate pairs', given: '😀 and 𝒳', gives: [user(input('😀 and 𝒳'))] },
];

describe('normalizeInput', () => {
  for (const { title, given, gives } of FORMS) {
    it(`accepts ${title}`, () => {
      expect(normalizeInput(given)).to.deep.equal(gives);
    });
  }

  it('returns its own results unchanged, also after a JSON round trip', () => {
    for (const { title, given } of FORMS) {
      const once = normalizeInput(given);
      expect(normalizeInput(JSON.parse(JSON.stringify(once))), title).to.deep.equal(once);
    }
  });

  it('does not modify its argument', () => {
    for (const { title, given } of FORMS) {
      const before = JSON.stringify(given);
      normalizeInput(deepFreeze(given));
      expect(JSON.stringify(given), title).to.equal(before);
    }
  });

  it('retains no part of its argument', () => {
    const extra = { depth: 1 };
    const given = [{ role: 'user', content: 'x', extra }];
    const normalized = normalizeInput(given);
    extra.depth = 2;
    expect(normalized[0]).to.have.deep.property('extra', { depth: 1 });
  });

  it('returns its own result by identity', () => {
    const transcript = Array.from({ length: 200 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `turn ${index}`,
    }));
    const items = normalizeInput(transcript);
    expect(normalizeInput(items)).to.equal(items);
    expect(normalizeInput([...items, 'one more'])).to.deep.equal([...items, ...normalizeInput('one more')]);
  });

  it('checks a list again that shares items with an earlier one', () => {
    const items = normalizeInput(['a', 'b', 'c']);
    expect(normalizeInput([items[0], { role: 'user', content: 'B' }, items[2]])).to.deep.equal(
      normalizeInput(['a', 'B', 'c']),
    );
    expect(() => normalizeInput([items[0], { role: 'nobody', content: 'b' }, items[2]])).to.throw(
      '"input[1].role" must be one of: user',
    );
    expect(normalizeInput([items[0], items[2]])).to.deep.equal(normalizeInput(['a', 'c']));
  });

  it('accepts normalized items unchanged, and converts or rejects all others', () => {
    const call = {
      type: 'function_call',
      id: 'fc',
      call_id: 'c',
      name: 'f',
      arguments: '{}',
      status: 'completed',
      async: true,
      vendor: { anthropic: { x: 1 } },
    };
    const output = {
      type: 'function_call_output',
      call_id: 'c',
      output: 'done',
      state: 'failed',
      name: 'f',
      deferred: true,
    };
    const message = {
      type: 'message',
      role: 'assistant',
      id: 'm',
      status: 'completed',
      content: [{ type: 'output_text', text: 'x', annotations: [{ type: 'url_citation' }] }],
    };
    expect(normalizeInput([call, output, message])).to.deep.equal([call, output, message]);
    expect(normalizeInput([{ ...call, id: null, status: null }])).to.deep.equal([
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', async: true, vendor: { anthropic: { x: 1 } } },
    ]);
    expect(normalizeInput([{ ...message, role: 'user' }])).to.deep.equal([
      { ...message, role: 'user', content: [{ type: 'input_text', text: 'x' }] },
    ]);
    for (const [field, item] of [
      ['name', { ...call, name: undefined }],
      ['call_id', { ...call, call_id: '' }],
      ['async', { ...call, async: 'yes' }],
      ['vendor.anthropic', { ...call, vendor: { anthropic: 1 } }],
      ['output', { ...output, output: 1 }],
      ['call_id', { ...output, call_id: '' }],
      ['role', { ...message, role: 'constructor' }],
      ['content[0].annotations[0]', { ...message, content: [{ ...message.content[0], annotations: [1] }] }],
    ] as const) {
      expect(() => normalizeInput([item]), field).to.throw(`"input[0].${field}" `);
    }
  });

  it('does not cache an item that changes later', () => {
    const given = { role: 'user', content: 'x' };
    normalizeInput([given]);
    given.role = 'nobody';
    expect(() => normalizeInput([given])).to.throw(/role" must be one of/);
    expect(() => Object.assign(normalizeInput('x')[0]!, { role: 'nobody' })).to.throw(TypeError);
  });

  it('has a type that accepts what it accepts at run time', () => {
    const loose: LLMInput = [
      'text',
      { role: MessageRole.USER, content: 'text' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
      {
        role: 'assistant',
        content: [
          { type: ContentType.TOOL_USE, id: 'a', name: 'f', input: {} },
          { type: 'tool_use', id: 'b', name: 'f', arguments: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: ContentType.TOOL_RESULT, tool_use_id: 'a', content: 'r', is_error: false },
          { type: 'input_image_url', image_url: { url: PNG } },
          'text',
        ],
      },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ];
    expect(normalizeInput(loose)).to.have.length(9);
    // @ts-expect-error an unknown role
    const wrongRole: LLMInput = [{ role: 'robot', content: 'x' }];
    // @ts-expect-error a part without its text
    const wrongPart: LLMInput = [{ role: 'user', content: [{ type: 'input_text' }] }];
    // @ts-expect-error a number is not an input
    const wrongInput: LLMInput = 5;
    for (const wrong of [wrongRole, wrongPart, wrongInput]) expect(() => normalizeInput(wrong)).to.throw();
    const items = normalizeInput('x');
    expect(() => {
      // @ts-expect-error the result is read-only
      items[0] = user();
    }).to.throw(TypeError);
  });
});

describe('normalizeTools', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

  it('flattens the nested tools of Chat Completions', () => {
    const nested: LooseTool = { type: 'function', function: { name: 'f', description: 'd', parameters, strict: true } };
    expect(normalizeTools([nested])).to.deep.equal([
      { type: 'function', name: 'f', description: 'd', parameters, strict: true },
    ]);
  });

  it('preserves the settings beside a nested function', () => {
    expect(normalizeTools([{ type: 'function', blocking: false, function: { name: 'f' } }])).to.deep.equal([
      { type: 'function', name: 'f', blocking: false },
    ]);
  });

  it('accepts flat tools, built-in tools and unknown fields', () => {
    const tools = [
      {
        type: 'function',
        name: 'f',
        blocking: false,
        timeout: 5_000,
        sequential: true,
        idempotent: false,
        kind: 'function',
        needsApproval: true,
        delivery: 'silent',
        onDuplicate: 'join',
        vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
        defer_loading: true,
      },
      { type: 'web_search', search_context_size: 'low', blocking: true },
      { type: 'mcp', server_label: 'a' },
      { type: 'mcp', server_label: 'b' },
    ];
    expect(normalizeTools(tools)).to.deep.equal(tools);
  });

  it('omits null fields', () => {
    expect(
      normalizeTools([{ type: 'function', name: 'f', description: null, parameters: null, strict: null }]),
    ).to.deep.equal([{ type: 'function', name: 'f' }]);
  });

  it('preserves a needsApproval function', () => {
    const needsApproval = (): boolean => true;
    expect(normalizeTools([{ type: 'function', name: 'f', needsApproval }])[0]).to.have.property(
      'needsApproval',
      needsApproval,
    );
  });

  it('treats undefined and null as no tools', () => {
    expect(normalizeTools(undefined)).to.deep.equal([]);
    expect(normalizeTools(null)).to.deep.equal([]);
  });

  it('returns its own result by identity', () => {
    const tools = normalizeTools([{ type: 'function', name: 'f', parameters }]);
    expect(normalizeTools(tools)).to.equal(tools);
    expect(normalizeTools([...tools])[0]).to.equal(tools[0]);
  });

  const WRONG: readonly (readonly [title: string, tools: unknown, path: string, message: RegExp])[] = [
    ['an object instead of an array', { type: 'function', name: 'f' }, 'tools', /must be an array, not an object/],
    ['a tool without a type', [{ name: 'f' }], 'tools[0].type', /must be "function" or/],
    ['a function without a name', [{ type: 'function' }], 'tools[0].name', /must be 1 to 64 letters/],
    ['a name with a space', [{ type: 'function', name: 'a b' }], 'tools[0].name', /letters, digits, "_" or "-"/],
    [
      'a name that ends with a line break',
      [{ type: 'function', name: 'ab\n' }],
      'tools[0].name',
      /letters, digits, "_" or "-"/,
    ],
    ['a name of 65 characters', [{ type: 'function', name: 'a'.repeat(65) }], 'tools[0].name', /1 to 64/],
    [
      'two tools with the same name',
      [
        { type: 'function', name: 'f' },
        { type: 'function', function: { name: 'f' } },
      ],
      'tools[1].name',
      /the name of an earlier tool/,
    ],
    [
      'parameters that are not an object',
      [{ type: 'function', name: 'f', parameters: 'x' }],
      'tools[0].parameters',
      /must be an object, not a string/,
    ],
    [
      'a reserved key deep in the parameters',
      [{ type: 'function', name: 'f', parameters: { properties: { constructor: {} } } }],
      'tools[0].parameters.properties.constructor',
      /reserved key/,
    ],
    [
      'a timeout that exceeds the longest timer',
      [{ type: 'function', name: 'f', timeout: 2 ** 31 }],
      'tools[0].timeout',
      /milliseconds/,
    ],
    ['a timeout of zero', [{ type: 'function', name: 'f', timeout: 0 }], 'tools[0].timeout', /above 0/],
    [
      'an unknown delivery',
      [{ type: 'function', name: 'f', delivery: 'toString' }],
      'tools[0].delivery',
      /immediate, when_idle, silent/,
    ],
    ['blocking that is not a boolean', [{ type: 'web_search', blocking: 'no' }], 'tools[0].blocking', /true or false/],
    [
      'a function among the data',
      [{ type: 'function', name: 'f', execute: () => 1 }],
      'tools[0].execute',
      /must be a JSON value, not a function/,
    ],
    [
      'approval of a tool that a vendor runs',
      [{ type: 'web_search', needsApproval: () => true }],
      'tools[0].needsApproval',
      /function tools/,
    ],
    [
      'vendor fields that are not objects',
      [{ type: 'function', name: 'f', vendor: { anthropic: 1 } }],
      'tools[0].vendor.anthropic',
      /must be an object/,
    ],
  ];
  for (const [title, tools, path, message] of WRONG) {
    it(`rejects ${title}`, () => {
      expect(() => normalizeTools(tools))
        .to.throw(message)
        .with.property('path', path);
    });
  }
});

function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
