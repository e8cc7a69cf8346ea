/**
 * Responses of the Responses API that the recordings do not cover:
 * https://platform.openai.com/docs/api-reference/responses/object
 */
import type { JsonObject, VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { ShapeOptions, VendorShape } from './VendorShape';

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 30,
};

function shape(
  name: string,
  text: string,
  output: readonly JsonObject[],
  { fields = {}, status = 'completed', textsNotReturned = [] }: ShapeOptions = {},
  vendor: VendorName = 'openai',
): VendorShape {
  return {
    name,
    text,
    status,
    textsNotReturned,
    vendor,
    wire: 'responses',
    body: {
      id: 'resp_1',
      object: 'response',
      created_at: 1_760_000_000,
      status: 'completed',
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      model: 'gpt-5',
      output,
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: 'low', summary: null },
      service_tier: 'default',
      store: false,
      temperature: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      truncation: 'disabled',
      usage: USAGE,
      user: null,
      ...fields,
    },
  };
}

const message = (text: string, more: JsonObject = {}, part: JsonObject = {}): JsonObject => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [], ...part }],
  ...more,
});

export const RESPONSES_SHAPES: readonly VendorShape[] = [
  shape(
    'web search and file search, with citations',
    'Owls hunt.',
    [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'I search.' }],
        encrypted_content: 'SEALED_ONE',
        status: null,
      },
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: {
          type: 'search',
          query: 'owls',
          queries: ['owls'],
          sources: [{ type: 'url', url: 'https://owl.example' }],
        },
      },
      { type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'open_page', url: null } },
      {
        type: 'web_search_call',
        id: 'ws_3',
        status: 'failed',
        action: { type: 'find_in_page', url: 'https://owl.example', pattern: 'hunt' },
      },
      {
        type: 'file_search_call',
        id: 'fs_1',
        status: 'completed',
        queries: ['owl'],
        results: [{ file_id: 'file_1', filename: 'owl.pdf', score: 0.9, text: 'OWL_TEXT', attributes: {} }],
      },
      message(
        'Owls hunt.',
        {},
        {
          annotations: [
            { type: 'url_citation', start_index: 0, end_index: 4, url: 'https://owl.example', title: 'Owls' },
            { type: 'file_citation', index: 4, file_id: 'file_1', filename: 'owl.pdf' },
            {
              type: 'container_file_citation',
              container_id: 'cntr_1',
              file_id: 'cfile_1',
              filename: 'o.png',
              start_index: 0,
              end_index: 4,
            },
            { type: 'file_path', file_id: 'file_2', index: 1 },
          ],
        },
      ),
    ],
    { textsNotReturned: ['rs_1', 'msg_1'] },
  ),
  shape('code, images and an MCP tool', 'There.', [
    {
      type: 'code_interpreter_call',
      id: 'ci_1',
      status: 'completed',
      code: 'print(1)',
      container_id: 'cntr_1',
      outputs: [
        { type: 'logs', logs: 'LOGS_OUT' },
        { type: 'image', url: 'https://i.example' },
      ],
    },
    {
      type: 'image_generation_call',
      id: 'ig_1',
      status: 'completed',
      result: 'aW1hZ2U=',
      revised_prompt: 'an owl',
      background: 'opaque',
      output_format: 'png',
      quality: 'low',
      size: '1024x1024',
    },
    {
      type: 'mcp_list_tools',
      id: 'mcpl_1',
      server_label: 'maps',
      tools: [{ name: 'find', input_schema: { type: 'object' }, annotations: null, description: null }],
      error: null,
    },
    {
      type: 'mcp_call',
      id: 'mcp_1',
      server_label: 'maps',
      name: 'find',
      arguments: '{"place":"here"}',
      output: 'FOUND_IT',
      error: null,
      status: 'completed',
      approval_request_id: null,
    },
    message('There.'),
  ]),
  shape('calls that the client executes', 'Please.', [
    {
      type: 'computer_call',
      id: 'cu_1',
      call_id: 'call_1',
      status: 'completed',
      action: { type: 'click', x: 1, y: 2, button: 'left' },
      pending_safety_checks: [{ id: 'cu_sc_1', code: 'malicious', message: 'Careful.' }],
    },
    {
      type: 'local_shell_call',
      id: 'lsh_1',
      call_id: 'call_2',
      status: 'completed',
      action: { type: 'exec', command: ['ls'], env: {}, timeout_ms: null, user: null, working_directory: null },
    },
    {
      type: 'shell_call',
      id: 'sh_1',
      call_id: 'call_3',
      status: 'completed',
      action: { commands: ['ls'], timeout_ms: 100, max_output_length: null },
      environment: null,
    },
    {
      type: 'apply_patch_call',
      id: 'ap_1',
      call_id: 'call_4',
      status: 'completed',
      operation: { type: 'update_file', path: 'a.ts', diff: 'DIFF_TEXT' },
    },
    {
      type: 'custom_tool_call',
      id: 'ctc_1',
      call_id: 'call_5',
      name: 'grammar',
      input: 'FREE TEXT',
      status: 'completed',
    },
    { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'maps', name: 'find', arguments: '{}' },
    message('Please.'),
  ]),
  shape('shell calls of the server, and a tool search', 'So it is.', [
    {
      type: 'shell_call_output',
      id: 'sho_1',
      call_id: 'call_3',
      max_output_length: null,
      status: 'completed',
      output: [{ stdout: 'SHELL_OUT', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    },
    { type: 'apply_patch_call_output', id: 'apo_1', call_id: 'call_4', status: 'completed', output: 'PATCHED' },
    {
      type: 'tool_search_call',
      id: 'tsc_1',
      call_id: null,
      execution: 'server',
      status: 'completed',
      arguments: { query: 'weather' },
    },
    {
      type: 'tool_search_output',
      id: 'tso_1',
      call_id: null,
      execution: 'server',
      status: 'completed',
      tools: [{ type: 'function', name: 'get_weather', parameters: null, strict: null }],
    },
    { type: 'program', id: 'prog_1', call_id: 'call_9', code: 'CODE_OF_PROGRAM', fingerprint: 'FINGERPRINT' },
    { type: 'program_output', id: 'progo_1', call_id: 'call_9', result: 'RESULT_OF_PROGRAM', status: 'completed' },
    { type: 'item_of_tomorrow', id: 'it_1', says: 'TOMORROW', content: [{ any: null }] },
    message('So it is.'),
  ]),
  shape(
    'phases, encrypted reasoning and calls with further fields',
    'I look it up.Found.',
    [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'RAW_THOUGHT' }],
        encrypted_content: 'SEALED_ONE',
        status: 'completed',
      },
      message('I look it up.', { id: 'msg_0', phase: 'commentary' }),
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'find',
        arguments: '{"place":"here"}',
        status: 'completed',
        namespace: 'maps',
        caller: { type: 'direct' },
      },
      message('Found.', { phase: 'final_answer' }),
    ],
    { textsNotReturned: ['rs_1', 'msg_0', 'fc_1', 'msg_1'] },
  ),
  shape('a compaction', 'Going on.', [
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'SEALED_SUMMARY', created_by: 'server' },
    message('Going on.'),
  ]),
  shape(
    'a refusal',
    '',
    [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'refusal', refusal: 'I will not.' }],
      },
    ],
    { status: 'incomplete' },
  ),
  shape('a response cut off by the content filter', 'I was', [message('I was', { status: 'incomplete' })], {
    status: 'incomplete',
    fields: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
  }),
  shape('a response cut off by the token limit', 'I was', [message('I was', { status: 'incomplete' })], {
    status: 'incomplete',
    fields: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  }),
  shape('a response cut off by an unknown limit', 'I was', [message('I was')], {
    status: 'incomplete',
    fields: { status: 'incomplete', incomplete_details: { reason: 'max_messages' } },
  }),
  shape(
    'a response with log probabilities and content filters',
    'Yes',
    [message('Yes', {}, { logprobs: [{ token: 'Yes', logprob: -0.1, bytes: [89], top_logprobs: [] }] })],
    {
      fields: {
        content_filters: [
          {
            blocked: false,
            source_type: 'completion',
            content_filter_results: { hate: { filtered: false, severity: 'safe' } },
          },
        ],
        moderation: null,
      },
    },
    'azure_openai',
  ),
  shape(
    'the usage of a search at xAI',
    'Owls.',
    [
      { type: 'x_search_call', id: 'xs_1', status: 'completed', action: { type: 'search', query: 'owls' } },
      message(
        'Owls.',
        {},
        { annotations: [{ type: 'url_citation', url: 'https://x.example', title: '1', start_index: 0, end_index: 4 }] },
      ),
    ],
    { fields: { usage: { ...USAGE, num_sources_used: 3, num_server_side_tools_used: 1, cost_in_usd_ticks: 100 } } },
    'grok',
  ),
];
