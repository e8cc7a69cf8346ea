/**
 * Responses of the Messages API that the recordings do not cover:
 * https://platform.claude.com/docs/en/api/beta/messages/create
 */
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { ShapeOptions, VendorShape } from './VendorShape';

const USAGE = {
  input_tokens: 10,
  output_tokens: 20,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 7,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 },
  output_tokens_details: { thinking_tokens: 4 },
  server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
  service_tier: 'standard',
  inference_geo: 'us',
  speed: 'standard',
  iterations: null,
  fallback_credit: null,
};

function shape(
  name: string,
  text: string,
  content: readonly JsonObject[],
  { fields = {}, status = 'completed', textsNotReturned = [] }: ShapeOptions = {},
): VendorShape {
  return {
    name,
    text,
    status,
    vendor: 'anthropic',
    wire: 'anthropic_messages',
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content,
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: USAGE,
      ...fields,
    },
    textsNotReturned,
  };
}

const text = (value: string, more: JsonObject = {}): JsonObject => ({ type: 'text', text: value, ...more });
const direct = { caller: { type: 'direct' } };

export const ANTHROPIC_SHAPES: readonly VendorShape[] = [
  shape('web search with its results and citations', 'Owls hunt at night. That is all.', [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'owls' }, ...direct },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      ...direct,
      content: [
        {
          type: 'web_search_result',
          url: 'https://owl.example',
          title: 'Owls',
          encrypted_content: 'ENC_OWL',
          page_age: null,
        },
      ],
    },
    text('Owls hunt at night.', {
      citations: [
        {
          type: 'web_search_result_location',
          cited_text: 'hunt',
          encrypted_index: 'IDX_OWL',
          title: null,
          url: 'https://owl.example',
        },
      ],
    }),
    text(' That is all.'),
  ]),
  shape('a search that failed', 'I could not search.', [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'owls' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
    },
    text('I could not search.'),
  ]),
  shape('a fetched page', 'It says so.', [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_fetch', input: { url: 'https://owl.example' } },
    {
      type: 'web_fetch_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: {
        type: 'web_fetch_result',
        url: 'https://owl.example',
        retrieved_at: null,
        content: {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'OWL_PAGE' },
          title: 'Owls',
          citations: { enabled: true },
        },
      },
    },
    text('It says so.', {
      citations: [
        {
          type: 'char_location',
          cited_text: 'OWL',
          document_index: 0,
          document_title: 'Owls',
          file_id: null,
          start_char_index: 0,
          end_char_index: 3,
        },
      ],
    }),
  ]),
  shape(
    'code, shell and editor in a container',
    'Done.',
    [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution', input: { command: 'ls' } },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: {
          type: 'bash_code_execution_result',
          stdout: 'FILES_OUT',
          stderr: '',
          return_code: 0,
          content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
        },
      },
      {
        type: 'server_tool_use',
        id: 'srvtoolu_2',
        name: 'text_editor_code_execution',
        input: { command: 'view', path: '/a' },
      },
      {
        type: 'text_editor_code_execution_tool_result',
        tool_use_id: 'srvtoolu_2',
        content: {
          type: 'text_editor_code_execution_view_result',
          content: 'VIEWED',
          file_type: 'text',
          num_lines: 1,
          start_line: 1,
          total_lines: 1,
        },
      },
      { type: 'server_tool_use', id: 'srvtoolu_3', name: 'code_execution', input: { code: '1+1' } },
      {
        type: 'code_execution_tool_result',
        tool_use_id: 'srvtoolu_3',
        content: {
          type: 'encrypted_code_execution_result',
          encrypted_stdout: 'SEALED_OUT',
          stderr: '',
          return_code: 0,
          content: [],
        },
      },
      { type: 'container_upload', file_id: 'file_2' },
      text('Done.'),
    ],
    {
      fields: {
        container: {
          id: 'container_1',
          expires_at: '2026-01-01T00:00:00Z',
          skills: [{ type: 'anthropic', skill_id: 'pptx', version: 'latest' }],
        },
      },
    },
  ),
  shape('tools of an MCP server', 'There.', [
    {
      type: 'mcp_tool_listing',
      mcp_server_name: 'maps',
      tools: [{ name: 'find', description: 'Finds', input_schema: { type: 'object' } }],
    },
    { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'find', server_name: 'maps', input: { place: 'here' } },
    {
      type: 'mcp_tool_result',
      tool_use_id: 'mcptoolu_1',
      is_error: false,
      content: [{ type: 'text', text: 'FOUND_IT', citations: null }],
    },
    text('There.'),
  ]),
  shape(
    'a tool search, and a call from code execution',
    '',
    [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'tool_search_tool_bm25', input: { query: 'weather' } },
      {
        type: 'tool_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: {
          type: 'tool_search_tool_search_result',
          tool_references: [{ type: 'tool_reference', tool_name: 'get_weather' }],
        },
      },
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'get_weather',
        input: { city: 'Wien' },
        caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_9' },
      },
    ],
    { fields: { stop_reason: 'tool_use' } },
  ),
  shape('an advisor, a fallback and an unknown block', 'Advised.', [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'advisor', input: {} },
    {
      type: 'advisor_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'advisor_redacted_result', encrypted_content: 'SEALED_ADVICE', stop_reason: 'end_turn' },
    },
    {
      type: 'fallback',
      from: { model: 'claude-a' },
      to: { model: 'claude-b' },
      trigger: { type: 'refusal', category: null },
    },
    { type: 'block_of_tomorrow', says: 'TOMORROW', list: [1, { deep: null }] },
    text('Advised.'),
  ]),
  shape('thinking, signed and redacted', 'Then speak.', [
    { type: 'thinking', thinking: 'First think.', signature: 'SIG_ONE' },
    { type: 'redacted_thinking', data: 'SEALED_THOUGHT' },
    { type: 'thinking', thinking: '', signature: 'SIG_HIDDEN' },
    text('Then speak.'),
  ]),
  shape(
    'a compaction',
    'Going on.',
    [{ type: 'compaction', content: 'SUMMARY_SO_FAR', encrypted_content: 'SEALED_SUMMARY' }, text('Going on.')],
    {
      fields: {
        context_management: {
          applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: 100 }],
        },
      },
    },
  ),
  shape('citations of every type', 'One.Two.Three.Four.Five.', [
    text('One.', {
      citations: [
        {
          type: 'page_location',
          cited_text: 'p',
          document_index: 1,
          document_title: null,
          file_id: 'file_3',
          start_page_number: 1,
          end_page_number: 2,
        },
      ],
    }),
    text('Two.', {
      citations: [
        {
          type: 'content_block_location',
          cited_text: 'b',
          document_index: 1,
          document_title: 'T',
          file_id: null,
          start_block_index: 0,
          end_block_index: 1,
        },
      ],
    }),
    text('Three.', {
      citations: [
        {
          type: 'search_result_location',
          cited_text: 's',
          search_result_index: 0,
          source: 'https://s.example',
          title: 'S',
          start_block_index: 0,
          end_block_index: 1,
        },
      ],
    }),
    text('Four.', { citations: [{ type: 'location_of_tomorrow', cited_text: 't', where: 'THERE' }] }),
    text('Five.', { citations: null }),
  ]),
  shape(
    'a paused turn',
    '',
    [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'long' } }],
    { fields: { stop_reason: 'pause_turn' } },
  ),
  shape('a full context window', 'I was say', [text('I was say')], {
    fields: { stop_reason: 'model_context_window_exceeded' },
    status: 'incomplete',
  }),
  shape('a refusal with its details', 'I', [text('I')], {
    fields: {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.', fallback_credit_token: null },
    },
    status: 'incomplete',
  }),
  shape('a stop sequence', 'one two', [text('one two')], {
    fields: { stop_reason: 'stop_sequence', stop_sequence: 'three' },
  }),
  shape('an unknown stop reason', 'Well.', [text('Well.')], { fields: { stop_reason: 'reason_of_tomorrow' } }),
];
