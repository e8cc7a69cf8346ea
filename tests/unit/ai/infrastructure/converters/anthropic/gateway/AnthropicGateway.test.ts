/**
 * The server side of the Messages API: requests of its clients are forwarded unchanged to Anthropic and understood
 * by other wires.
 */
import { expect } from 'chai';
import { normalizeOptions } from '../../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { LLMInvalidRequestError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { toAnthropic } from '../../../../../../../imports/business/ai/infrastructure/converters/anthropic/AnthropicConverter';
import {
  readAnthropicRequest,
  writeAnthropic,
} from '../../../../../../../imports/business/ai/infrastructure/converters/anthropic/gateway/AnthropicGateway';
import { anthropicContext } from '../../../../../../support/anthropicRecordings';
import { assertAnthropicBody } from '../../../../../../support/publishedSchemas';
import { response, textItem, usage } from '../../../../../../../imports/testing/responses';
import { meaningOfAnthropic } from '../../../../../../support/sameMeaning/anthropic';
import type { InputItem } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import type { WireRequest } from '../../../../../../../imports/business/ai/infrastructure/converters/Wire';

const text = (value: string): JsonObject => ({ type: 'text', text: value });

function request(messages: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { model: 'claude-sonnet-4-6', max_tokens: 100, messages, ...more };
}

/** From a client's request to the request that is sent to the vendor. */
function roundTrip(body: JsonObject): WireRequest {
  const { stream, ...options } = readAnthropicRequest(body);
  const sent = toAnthropic(normalizeOptions(options), anthropicContext(), stream === true);
  assertAnthropicBody(sent.body);
  return sent;
}

function expectUnchanged(body: JsonObject): void {
  const sent = roundTrip(body);
  expect(meaningOfAnthropic(sent.body)).to.deep.equal(meaningOfAnthropic(body));
  expect(sent.losses).to.deep.equal([]);
}

describe('readAnthropicRequest', () => {
  it('preserves every field that options cannot express', () => {
    expectUnchanged(
      request([{ role: 'user', content: 'Hi' }], {
        system: [text('Be brief.'), { ...text('Long.'), cache_control: { type: 'ephemeral', ttl: '1h' } }],
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: {
          effort: 'low',
          format: {
            type: 'json_schema',
            schema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
          },
        },
        service_tier: 'standard_only',
        container: { id: 'c1' },
        context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
        cache_control: { type: 'ephemeral' },
        metadata: { user_id: 'u1' },
        stop_sequences: ['END'],
        temperature: 0.5,
        stream: true,
      }),
    );
  });

  it('preserves user blocks of every type', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    expectUnchanged(
      request([
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }, ...mark },
            {
              type: 'image',
              source: { type: 'url', url: 'https://example.org/a.png' },
              transformations: { oversized_image: 'error' },
            },
            { type: 'image', source: { type: 'file', file_id: 'file_1' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
              title: 'a.pdf',
              citations: { enabled: true },
              context: 'C',
            },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Words' }, ...mark },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '' } },
            { type: 'document', source: { type: 'content', content: [text('Chunk')] }, title: 'T' },
            { type: 'document', source: { type: 'url', url: 'https://example.org/a.pdf' } },
            { type: 'search_result', source: 'https://example.org', title: 'S', content: [text('Found')] },
            { type: 'container_upload', file_id: 'file_2' },
            { ...text('Well?'), ...mark },
          ],
        },
      ]),
    );
  });

  it('preserves results of every type, with and without content', () => {
    const call = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'look', input: { q: id } });
    expectUnchanged(
      request([
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: ['a', 'b', 'c', 'd', 'e', 'f'].map(call) },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'A', is_error: true },
            { type: 'tool_result', tool_use_id: 'b' },
            { type: 'tool_result', tool_use_id: 'c', content: '' },
            {
              type: 'tool_result',
              tool_use_id: 'd',
              content: [text('D'), { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }],
            },
            {
              type: 'tool_result',
              tool_use_id: 'e',
              content: [{ type: 'tool_reference', tool_name: 'x' }],
              cache_control: { type: 'ephemeral' },
            },
            {
              type: 'tool_result',
              tool_use_id: 'f',
              content: [{ type: 'search_result', source: 's', title: 'T', content: [text('x')] }],
              is_error: false,
            },
            text('And?'),
          ],
        },
      ]),
    );
  });

  it('preserves assistant blocks of every type', () => {
    expectUnchanged(
      request([
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'sig' },
            { type: 'redacted_thinking', data: 'sealed' },
            {
              ...text('So: '),
              citations: [
                {
                  type: 'char_location',
                  cited_text: 'c',
                  document_index: 0,
                  document_title: null,
                  start_char_index: 0,
                  end_char_index: 1,
                },
              ],
            },
            text('that.'),
            { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
            { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
            text('Done.'),
          ],
        },
        { role: 'user', content: 'Thanks' },
      ]),
    );
  });

  it('preserves tools and tool choices', () => {
    const tools = [
      {
        name: 'look',
        description: 'Looks.',
        input_schema: { type: 'object', properties: { q: { type: 'string', maxLength: 3 } } },
        strict: true,
        cache_control: { type: 'ephemeral' },
      },
      { type: 'custom', name: 'see', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3, user_location: null },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 100 },
      { type: 'memory_20250818', name: 'memory' },
      { type: 'code_execution_20250825', name: 'code_execution' },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    ];
    for (const tool_choice of [
      { type: 'auto' },
      { type: 'any', disable_parallel_tool_use: true },
      { type: 'none' },
      { type: 'tool', name: 'look' },
      { type: 'tool', name: 'bash' },
    ]) {
      expectUnchanged(request([{ role: 'user', content: 'Hi' }], { tools, tool_choice }));
    }
    expectUnchanged(
      request([{ role: 'user', content: 'Hi' }], {
        model: 'claude-opus-5',
        tools: [
          { type: 'computer_toolset_20260801', configs: { zoom: { enabled: false } } },
          { type: 'browser_toolset_20260801' },
        ],
      }),
    );
  });

  it('preserves MCP servers and their calls', () => {
    const sent = roundTrip(
      request(
        [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: [
              { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'search', server_name: 'wiki', input: {} },
              { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: [text('x')] },
              text('Done.'),
            ],
          },
          { role: 'user', content: 'Thanks' },
        ],
        {
          mcp_servers: [{ type: 'url', name: 'wiki', url: 'https://example.org/mcp' }],
          tools: [{ type: 'mcp_toolset', mcp_server_name: 'wiki' }],
        },
      ),
    );
    expect(sent.body.mcp_servers).to.deep.equal([{ type: 'url', name: 'wiki', url: 'https://example.org/mcp' }]);
    expect(sent.headers).to.deep.equal({ 'anthropic-beta': 'mcp-client-2025-11-20' });
    expect((sent.body.messages as readonly JsonObject[])[1]?.content).to.have.lengthOf(3);
  });

  it('preserves system messages inside a conversation, with their fields', () => {
    expectUnchanged(
      request(
        [
          { role: 'user', content: 'Hi' },
          { role: 'system', content: 'Hurry.', clear_at: 'next_user_message' },
          { role: 'assistant', content: 'Yes?' },
          { role: 'user', content: 'Go on' },
        ],
        { model: 'claude-opus-4-8' },
      ),
    );
  });

  it('preserves a request for no output', () => {
    expectUnchanged(request([{ role: 'user', content: 'Hi' }], { max_tokens: 0 }));
  });

  it('reads everything that other wires can use as options', () => {
    const schema = { type: 'object', properties: {} };
    const read = readAnthropicRequest(
      request(
        [
          {
            role: 'user',
            content: [
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' }, title: 'a.txt' },
              { type: 'search_result', source: 's', title: 'T', content: [text('Found')] },
            ],
          },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: { q: 1 } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'no', is_error: true }] },
        ],
        {
          output_config: { effort: 'high', format: { type: 'json_schema', schema } },
          metadata: { user_id: 'u1' },
          tools: [
            { name: 'look', input_schema: schema },
            { type: 'web_search_20250305', name: 'web_search' },
          ],
          tool_choice: { type: 'tool', name: 'web_search', disable_parallel_tool_use: true },
        },
      ),
    );
    expect(read).to.deep.include({
      reasoning: { effort: 'high' },
      response_format: { type: 'json_schema', schema, strict: true },
      user: 'u1',
      max_output_tokens: 100,
      tool_choice: { type: 'web_search' },
      parallel_tool_calls: false,
    });
    const [message, call, result] = read.input;
    expect(message).to.have.nested.property(
      'content[0].file_data',
      `data:text/plain;base64,${Buffer.from('Grüße').toString('base64')}`,
    );
    expect(message).to.have.nested.property('content[0].filename', 'a.txt');
    expect(message).to.have.nested.property('content[1].text', 'T\ns\nFound');
    expect(call).to.deep.include({ type: 'function_call', call_id: 'a', name: 'look', arguments: '{"q":1}' });
    expect(result).to.deep.include({ type: 'function_call_output', call_id: 'a', output: 'no', state: 'failed' });
    expect(readAnthropicRequest(request([], { thinking: { type: 'disabled' } })).reasoning).to.deep.equal({
      effort: 'none',
    });
    expect(
      readAnthropicRequest(request([], { thinking: { type: 'enabled', budget_tokens: 10_000 } })).reasoning,
    ).to.deep.equal({ effort: 'high' });
  });

  it('reads top_k and a summary of the thinking for other vendors, and preserves them', () => {
    const body = request([{ role: 'user', content: 'Hi' }], {
      model: 'claude-opus-4-7',
      top_k: 40,
      thinking: { type: 'adaptive', display: 'summarized' },
    });
    expect(readAnthropicRequest(body)).to.deep.include({ top_k: 40, reasoning: { summary: 'auto' } });
    expectUnchanged(body);
    expect(roundTrip(body).warnings).to.deep.equal([]);
    const effort = { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } };
    expect(readAnthropicRequest(request([], effort)).reasoning).to.deep.equal({ effort: 'low', summary: 'auto' });
    const off = { thinking: { type: 'between_tools' }, output_config: { effort: 'low' } };
    expect(readAnthropicRequest(request([], off)).reasoning).to.deep.equal({ effort: 'none' });
    expect(readAnthropicRequest(request([], { top_k: 0.5 }))).to.not.have.property('top_k');
  });

  it('does not forward unsigned thinking', () => {
    const sent = roundTrip(
      request([
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: '' }, text('Yes')] },
        { role: 'user', content: 'Go on' },
      ]),
    );
    expect((sent.body.messages as readonly JsonObject[])[1]?.content).to.deep.equal([text('Yes')]);
    expect(sent.losses.map(({ what }) => what)).to.deep.equal(['reasoning']);
  });

  for (const [path, body] of [
    ['body', 'Hi'],
    ['model', { max_tokens: 1, messages: [] }],
    ['messages', { model: 'm', messages: 'Hi' }],
    ['messages[0]', request([null as unknown as JsonObject])],
    ['messages[0].role', request([{ role: 'tool', content: 'x' }])],
    ['messages[0].content', request([{ role: 'user', content: 7 }])],
    ['messages[0].content[0].tool_use_id', request([{ role: 'user', content: [{ type: 'tool_result' }] }])],
    [
      'messages[0].content[0].content',
      request([{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 7 }] }]),
    ],
    ['system', request([], { system: 7 })],
    ['tools', request([], { tools: {} })],
    ['tools[0]', request([], { tools: ['x'] })],
    ['tools[0].name', request([], { tools: [{ input_schema: {} }] })],
    ['tools[0].input_schema', request([], { tools: [{ name: 'x' }] })],
  ] as const) {
    it(`rejects an invalid ${path}`, () => {
      expect(() => readAnthropicRequest(body))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', path);
    });
  }
});

describe('writeAnthropic', () => {
  const foreign: readonly InputItem[] = [
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content: 'sealed',
      origin: { wire: 'responses' },
    },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    textItem('I look.'),
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"q":1}', status: 'completed' },
  ];

  it('writes a response of another wire', () => {
    const counts = { ...usage(30, 5), input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 } };
    expect(writeAnthropic(response({ id: 'resp_1', model: 'gpt-x', output: foreign, usage: counts }))).to.deep.equal({
      id: 'resp_1',
      type: 'message',
      role: 'assistant',
      model: 'gpt-x',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: '' },
        text('I look.'),
        { type: 'tool_use', id: 'call_1', name: 'look', input: { q: 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 15, cache_creation_input_tokens: 5, cache_read_input_tokens: 10, output_tokens: 5 },
    });
  });

  it('writes the counts of thinking, hourly caches and server tools that other vendors report', () => {
    const counts = {
      ...usage(30, 20),
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 12, cache_write_1h_tokens: 7 },
      output_tokens_details: { reasoning_tokens: 15 },
      server_tool_use: { web_search: 2, google_maps: 1 },
    };
    // `Usage` of the SDK.
    expect(writeAnthropic(response({ usage: counts })).usage).to.deep.equal({
      input_tokens: 18,
      cache_creation_input_tokens: 12,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 7 },
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 15 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
    });
  });

  for (const [stop_reason, fields] of [
    ['end_turn', {}],
    ['max_tokens', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['refusal', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
  ] as const) {
    it(`writes ${stop_reason}`, () => {
      expect(writeAnthropic(response({ output: [textItem('x')], ...fields })).stop_reason).to.equal(stop_reason);
    });
  }
});
