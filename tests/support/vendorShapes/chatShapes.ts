/** Responses of vendors on the chat wire that the recordings do not cover. */
import type { JsonObject, VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { ShapeOptions, VendorShape } from './VendorShape';

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 20,
  total_tokens: 30,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 8,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

interface ChatShapeOptions extends ShapeOptions {
  readonly choice?: JsonObject;
}

function shape(
  name: string,
  vendor: VendorName,
  text: string,
  message: JsonObject,
  { fields = {}, choice = {}, status = 'completed', textsNotReturned = [] }: ChatShapeOptions = {},
): VendorShape {
  return {
    name,
    text,
    status,
    textsNotReturned,
    vendor,
    wire: 'chat_completions',
    body: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'asked-model',
      system_fingerprint: 'fp_1',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice }],
      usage: USAGE,
      ...fields,
    },
  };
}

const call = (id: string, name: string, args: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  ...more,
  function: { name, arguments: args },
});
const filters = {
  hate: { filtered: false, severity: 'safe' },
  protected_material_code: { detected: false, filtered: false },
};

export const CHAT_SHAPES: readonly VendorShape[] = [
  shape(
    'citations, a service tier and log probabilities',
    'openai',
    'Owls hunt.',
    {
      content: 'Owls hunt.',
      refusal: null,
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://owl.example', title: 'Owls', start_index: 0, end_index: 4 },
        },
      ],
    },
    {
      fields: { service_tier: 'default', moderation: null },
      choice: {
        logprobs: { content: [{ token: 'Owls', logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null },
      },
      textsNotReturned: ['url_citation', 'https://owl.example'],
    },
  ),
  shape(
    'a refusal',
    'openai',
    '',
    { content: null, refusal: 'I will not.', annotations: [] },
    { status: 'incomplete' },
  ),
  shape(
    'speech',
    'openai',
    '',
    { content: null, audio: { id: 'audio_1', data: 'c291bmQ=', expires_at: 1, transcript: 'Hello.' } },
    { textsNotReturned: ['c291bmQ=', 'Hello.'] },
  ),
  shape(
    'a custom tool call next to a function call',
    'openai',
    '',
    {
      content: null,
      tool_calls: [
        call('call_1', 'find', '{"place":"here"}'),
        { id: 'call_2', type: 'custom', custom: { name: 'grammar', input: 'FREE TEXT' } },
      ],
    },
    {
      choice: { finish_reason: 'tool_calls' },
    },
  ),
  shape(
    'content filter results of prompt and response',
    'azure_openai',
    'Yes.',
    { content: 'Yes.' },
    {
      fields: { prompt_filter_results: [{ prompt_index: 0, content_filter_results: filters }] },
      choice: { content_filter_results: filters, logprobs: null },
    },
  ),
  shape(
    'a response cut off by the content filter',
    'azure_openai',
    'I was',
    { content: 'I was' },
    {
      choice: {
        finish_reason: 'content_filter',
        content_filter_results: { ...filters, hate: { filtered: true, severity: 'high' } },
      },
      status: 'incomplete',
    },
  ),
  shape(
    'reasoning, executed tools and the queue',
    'groq',
    'Two.',
    {
      content: 'Two.',
      reasoning: 'I compute.',
      executed_tools: [
        { index: 0, type: 'python', arguments: '{"code":"1+1"}', output: 'CODE_OUT', search_results: null },
      ],
    },
    {
      fields: {
        x_groq: { id: 'req_1', seed: 1 },
        service_tier: 'on_demand',
        usage: { ...USAGE, queue_time: 0.1, prompt_time: 0.1, completion_time: 0.1, total_time: 0.2 },
        usage_breakdown: null,
      },
      textsNotReturned: ['python', '{"code":"1+1"}', 'CODE_OUT'],
    },
  ),
  shape(
    'reasoning and citations of a live search',
    'grok',
    'Owls.',
    { content: 'Owls.', reasoning_content: 'I search.', refusal: null },
    {
      fields: { citations: ['https://owl.example'], usage: { ...USAGE, num_sources_used: 3, cost_in_usd_ticks: 5 } },
    },
  ),
  shape(
    'reasoning_details',
    'openai_compatible',
    'Two.',
    {
      content: 'Two.',
      reasoning: 'I think.',
      reasoning_details: [
        { type: 'reasoning.encrypted', data: 'SEALED_ONE', id: 'r1', format: 'anthropic-claude-v1', index: 0 },
      ],
    },
    {
      fields: { provider: 'Anthropic' },
      choice: { native_finish_reason: 'end_turn', logprobs: null },
    },
  ),
  shape(
    'a call with a thought signature',
    'openai_compatible',
    '',
    {
      content: '',
      tool_calls: [call('call_1', 'find', '{}', { extra_content: { google: { thought_signature: 'U0lH' } } })],
    },
    { choice: { finish_reason: 'tool_calls' } },
  ),
  shape(
    'reasoning and cache usage of DeepSeek',
    'openai_compatible',
    'Two.',
    { content: 'Two.', reasoning_content: 'I think.' },
    {
      fields: {
        usage: { ...USAGE, prompt_tokens_details: undefined, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 6 },
      },
    },
  ),
  shape(
    'a response with the fields of vLLM',
    'openai_compatible',
    'Yes',
    { content: 'Yes', reasoning_content: null, annotations: null, audio: null, function_call: null, refusal: null },
    {
      fields: { prompt_logprobs: null, kv_transfer_params: null, service_tier: null },
      choice: { stop_reason: 128_009, logprobs: null, token_ids: null },
    },
  ),
  shape(
    'an unknown finish reason',
    'openai_compatible',
    'Yes.',
    { content: 'Yes.' },
    { choice: { finish_reason: 'eos' } },
  ),
  shape(
    'a full context window',
    'openai_compatible',
    'Yes',
    { content: 'Yes' },
    { choice: { finish_reason: 'model_length' }, status: 'incomplete' },
  ),
  shape(
    'a response aborted by the vendor',
    'openai_compatible',
    'Yes',
    { content: 'Yes' },
    { choice: { finish_reason: 'error', native_finish_reason: 'error' }, status: 'failed' },
  ),
  shape(
    'a response for which the vendor lacked resources',
    'openai_compatible',
    'Yes',
    { content: 'Yes' },
    { choice: { finish_reason: 'insufficient_system_resource' }, status: 'failed' },
  ),
  shape('images generated by the model', 'openai_compatible', 'Here.', {
    content: 'Here.',
    images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aW1hZ2U=' }, index: 0 }],
  }),
  shape(
    'usage in the choice, as sent by Moonshot',
    'openai_compatible',
    'Yes.',
    { content: 'Yes.' },
    { fields: { usage: undefined }, choice: { usage: USAGE } },
  ),
  shape('thinking in parts, as sent by Mistral', 'openai_compatible', 'Two.', {
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'I think.' }] },
      { type: 'text', text: 'Two.' },
    ],
  }),
];
