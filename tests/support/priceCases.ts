/**
 * Responses as vendors send them, and what each costs in US dollars, computed by hand from the vendor's page on the day
 * that the case states. `sum` is the calculation, with prices per million tokens.
 */
import type { JsonObject, VendorName, WireName } from '../../imports/business/ai/domain/types/VendorTypes';

export interface PriceCase {
  readonly title: string;
  /** The page with the prices, and the day of its text. */
  readonly page: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly model: string;
  readonly body: JsonObject;
  readonly sum: string;
  readonly cost?: number;
  readonly unpriced?: string;
  /** The endpoint, if it is not the vendor's default one. */
  readonly baseURL?: string;
  /** What was stored in a cache for the call, in tokens times hours. */
  readonly storedTokenHours?: number;
  /** A batch answered the call. */
  readonly isBatched?: true;
}

type Told = Pick<PriceCase, 'title' | 'model' | 'sum'> & Partial<Pick<PriceCase, 'cost' | 'unpriced' | 'page'>>;

const CLAUDE_PAGE = 'https://platform.claude.com/docs/en/about-claude/pricing, 2026-09-22';

/** @param content blocks before the text */
function claude(told: Told, usage: JsonObject, content: readonly JsonObject[] = []): PriceCase {
  return {
    page: CLAUDE_PAGE,
    vendor: 'anthropic',
    wire: 'anthropic_messages',
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: told.model,
      content: [...content, { type: 'text', text: 'Done.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { service_tier: 'standard', ...usage },
    },
    ...told,
  };
}

const serverTool = (name: string, id: string, caller?: string): JsonObject => ({
  type: 'server_tool_use',
  id,
  name,
  input: {},
  ...(caller === undefined ? {} : { caller: { type: caller, tool_id: 'srvtoolu_0' } }),
});

const CODE_EXECUTION = 'its container is charged by the hour beyond a free allowance, and no response states its time';

const ANTHROPIC: readonly PriceCase[] = [
  claude(
    { title: 'input and output', model: 'claude-sonnet-5', sum: '12,000 × 2 + 800 × 10', cost: 0.032 },
    { input_tokens: 12_000, output_tokens: 800 },
  ),
  claude(
    {
      title: 'a cache that is read, and written for five minutes and for an hour',
      page: 'https://platform.claude.com/docs/en/models/sonnet-5-5/overview, 2026-10-16',
      model: 'claude-sonnet-5-5',
      sum: '500 × 2 + 100,000 × 0.1 + 2,000 × 2.5 + 1,000 × 4 + 1,000 × 10',
      cost: 0.03,
    },
    {
      input_tokens: 500,
      cache_read_input_tokens: 100_000,
      cache_creation_input_tokens: 3_000,
      cache_creation: { ephemeral_5m_input_tokens: 2_000, ephemeral_1h_input_tokens: 1_000 },
      output_tokens: 1_000,
    },
  ),
  claude(
    { title: 'ten web searches', model: 'claude-sonnet-5', sum: '20,000 × 2 + 1,000 × 10, and 10 × $0.01', cost: 0.15 },
    {
      input_tokens: 20_000,
      output_tokens: 1_000,
      server_tool_use: { web_search_requests: 10, web_fetch_requests: 0 },
    },
  ),
  claude(
    { title: 'one web search', model: 'claude-haiku-4-5-20251001', sum: '3,000 × 1 + 200 × 5, and $0.01', cost: 0.014 },
    { input_tokens: 3_000, output_tokens: 200, server_tool_use: { web_search_requests: 1 } },
  ),
  claude(
    {
      title: 'fetched pages, which cost their tokens',
      model: 'claude-opus-5',
      sum: '25,039 × 5 + 931 × 25',
      cost: 0.14847,
    },
    { input_tokens: 25_039, output_tokens: 931, server_tool_use: { web_search_requests: 0, web_fetch_requests: 3 } },
  ),
  claude(
    { title: 'fast mode', model: 'claude-opus-5-5', sum: '10,000 × 8 + 2,000 × 40', cost: 0.16 },
    { input_tokens: 10_000, output_tokens: 2_000, speed: 'fast' },
  ),
  claude(
    {
      title: 'fast mode with a cache',
      model: 'claude-opus-5',
      sum: '50,000 × 0.5 × 2 + 4,000 × 6.25 × 2 + 1,000 × 50',
      cost: 0.15,
    },
    {
      input_tokens: 0,
      cache_read_input_tokens: 50_000,
      cache_creation_input_tokens: 4_000,
      output_tokens: 1_000,
      speed: 'fast',
    },
  ),
  claude(
    {
      title: 'generation in the United States',
      model: 'claude-sonnet-4-6',
      sum: '1.1 × (100,000 × 3 + 10,000 × 15)',
      cost: 0.495,
    },
    { input_tokens: 100_000, output_tokens: 10_000, inference_geo: 'us' },
  ),
  claude(
    {
      title: 'fast mode in the United States',
      model: 'claude-opus-4-8',
      sum: '1.1 × (10,000 × 10 + 1,000 × 50)',
      cost: 0.165,
    },
    { input_tokens: 10_000, output_tokens: 1_000, inference_geo: 'us', speed: 'fast' },
  ),
  claude(
    {
      title: 'searches in the United States, whose fee is the same',
      model: 'claude-opus-5',
      sum: '1.1 × (40,000 × 5 + 1,000 × 25), and 2 × $0.01',
      cost: 0.2675,
    },
    {
      input_tokens: 40_000,
      output_tokens: 1_000,
      inference_geo: 'us',
      server_tool_use: { web_search_requests: 2 },
    },
  ),
  claude(
    { title: 'a model without regions', model: 'claude-haiku-4-5', sum: '1,000 × 1 + 1,000 × 5', cost: 0.006 },
    { input_tokens: 1_000, output_tokens: 1_000, inference_geo: 'not_available', speed: 'standard' },
  ),
  claude(
    {
      title: 'fast mode of a model without a price for it',
      model: 'claude-sonnet-5',
      sum: 'the page lists Opus 5.5, 5 and 4.8 only',
      unpriced: 'no price for speed "fast" of model "claude-sonnet-5"',
    },
    { input_tokens: 1_000, output_tokens: 1_000, speed: 'fast' },
  ),
  claude(
    {
      title: 'the priority tier, whose price is a contract’s',
      page: 'https://platform.claude.com/docs/en/api/service-tiers, 2026-09-22',
      model: 'claude-opus-5',
      sum: 'no list price',
      unpriced: 'no price for service tier "priority" of model "claude-opus-5"',
    },
    { input_tokens: 1_000, output_tokens: 1_000, service_tier: 'priority' },
  ),
  claude(
    {
      title: 'code in a container',
      model: 'claude-sonnet-5',
      sum: '5,000 × 2 + 500 × 10; $0.05 per hour of the container',
      cost: 0.015,
      unpriced: `no price for the tool "code_execution" of model "claude-sonnet-5": ${CODE_EXECUTION}`,
    },
    { input_tokens: 5_000, output_tokens: 500, server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 } },
    [serverTool('bash_code_execution', 'srvtoolu_1'), serverTool('text_editor_code_execution', 'srvtoolu_2')],
  ),
  claude(
    {
      title: 'code that filters what searches find, which is free',
      model: 'claude-sonnet-5',
      sum: '30,000 × 2 + 1,000 × 10, and 2 × $0.01',
      cost: 0.09,
    },
    { input_tokens: 30_000, output_tokens: 1_000, server_tool_use: { web_search_requests: 2 } },
    [
      serverTool('code_execution', 'srvtoolu_0'),
      serverTool('web_search', 'srvtoolu_1', 'code_execution_20260120'),
      serverTool('web_search', 'srvtoolu_2', 'code_execution_20260120'),
    ],
  ),
  claude(
    {
      title: 'cache reads at a fortieth of the input price',
      model: 'claude-fable-5-1',
      sum: '1,000 × 10 + 1,000,000 × 0.25 + 1,000 × 50',
      cost: 0.31,
    },
    { input_tokens: 1_000, cache_read_input_tokens: 1_000_000, output_tokens: 1_000 },
  ),
  claude(
    {
      title: 'a long prompt',
      page: 'https://platform.claude.com/docs/en/models/haiku-5-5/overview, 2026-10-16',
      model: 'claude-haiku-5-5',
      sum: '150,000 × 0.5 + 1,000 × 2.5',
      cost: 0.0775,
    },
    { input_tokens: 150_000, output_tokens: 1_000 },
  ),
  claude(
    {
      title: 'a prompt just not long',
      page: 'https://platform.claude.com/docs/en/models/haiku-5-5/overview, 2026-10-16',
      model: 'claude-haiku-5-5',
      sum: '100,000 × 0.1 + 1,000 × 0.5',
      cost: 0.0105,
    },
    { input_tokens: 100_000, output_tokens: 1_000 },
  ),
  {
    ...claude(
      {
        title: 'a request of a batch, whose search costs as ever',
        model: 'claude-opus-5',
        sum: '10,000 × 2.5 + 1,000 × 12.5, and $0.01',
        cost: 0.0475,
      },
      {
        input_tokens: 10_000,
        output_tokens: 1_000,
        service_tier: 'batch',
        server_tool_use: { web_search_requests: 1 },
      },
    ),
    isBatched: true,
  },
];

const OPENAI_PAGE = 'https://developers.openai.com/api/docs/pricing, 2026-08-04';
const SEARCH_PAGE = 'https://developers.openai.com/api/docs/pricing, 2026-09-29';

/** @param fields of the response, `output` among them */
function openai(told: Told, usage: JsonObject, fields: JsonObject = {}): PriceCase {
  const { output = [], ...others } = fields;
  return {
    page: OPENAI_PAGE,
    vendor: 'openai',
    wire: 'responses',
    body: {
      id: 'resp_1',
      object: 'response',
      created_at: 1_790_000_000,
      status: 'completed',
      model: told.model,
      output: [
        ...(output as readonly JsonObject[]),
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
        },
      ],
      service_tier: 'default',
      tools: [],
      usage,
      ...others,
    },
    ...told,
  };
}

const tokens = (input: number, output: number, details: JsonObject = {}): JsonObject => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, ...details },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
});

const webSearch = (action: 'search' | 'open_page' | 'find_in_page', id = 'ws_1'): JsonObject => ({
  type: 'web_search_call',
  id,
  status: 'completed',
  action: { type: action },
});
const searches = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, index) => webSearch('search', `ws_${index}`));

const CONTAINER = 'its container is charged by the minute, which no response states';
const imageGen = (input: readonly [text: number, image: number], output: JsonObject): JsonObject => ({
  input_tokens: input[0] + input[1],
  input_tokens_details: { text_tokens: input[0], image_tokens: input[1] },
  total_tokens: 1_000_000,
  ...output,
});
const IMAGE_CALL = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' };

const OPENAI: readonly PriceCase[] = [
  openai(
    {
      title: 'input, cache reads, cache writes and output',
      model: 'gpt-5.6-sol',
      sum: '6,000 × 5 + 10,000 × 0.5 + 4,000 × 6.25 + 1,000 × 30',
      cost: 0.09,
    },
    tokens(20_000, 1_000, { cached_tokens: 10_000, cache_write_tokens: 4_000 }),
  ),
  openai(
    {
      title: 'a long prompt',
      page: 'https://developers.openai.com/api/docs/models/gpt-6-luna, 2026-09-22',
      model: 'gpt-6-luna',
      sum: '300,000 × 0.2 + 1,000 × 0.75',
      cost: 0.06075,
    },
    tokens(300_000, 1_000),
  ),
  openai(
    {
      title: 'ten web searches',
      page: SEARCH_PAGE,
      model: 'gpt-5.5',
      sum: '50,000 × 5 + 1,000 × 30, and 10 × $0.01',
      cost: 0.38,
    },
    tokens(50_000, 1_000),
    { output: searches(10), tools: [{ type: 'web_search' }] },
  ),
  openai(
    {
      title: 'the searches that OpenAI itself counts',
      page: SEARCH_PAGE,
      model: 'gpt-6-sol',
      sum: '10,000 × 2 + 500 × 10, and 2 × $0.01',
      cost: 0.045,
    },
    tokens(10_000, 500),
    {
      output: [...searches(4), webSearch('open_page')],
      tools: [{ type: 'web_search' }],
      tool_usage: { image_gen: { total_tokens: 0 }, web_search: { num_requests: 2 } },
    },
  ),
  openai(
    {
      title: 'a search, and pages that were opened and searched, which are free',
      page: SEARCH_PAGE,
      model: 'gpt-5.4',
      sum: '10,000 × 2.5 + 200 × 15, and $0.01',
      cost: 0.038,
    },
    tokens(10_000, 200),
    {
      output: [webSearch('search'), webSearch('open_page', 'ws_2'), webSearch('find_in_page', 'ws_3')],
      tools: [{ type: 'web_search' }],
    },
  ),
  openai(
    {
      title: 'the older web search, with a model that does not reason',
      model: 'gpt-4o-2024-08-06',
      sum: '328 × 2.5 + 360 × 10, and $0.025',
      cost: 0.02942,
    },
    tokens(328, 360),
    { output: searches(1), tools: [{ type: 'web_search_preview' }] },
  ),
  openai(
    {
      title: 'the older web search, with a model that reasons',
      model: 'o4-mini',
      sum: '1,000 × 1.1 + 1,000 × 4.4, and $0.01',
      cost: 0.0155,
    },
    tokens(1_000, 1_000),
    { output: searches(1), tools: [{ type: 'web_search_preview_2025_03_11' }] },
  ),
  openai(
    {
      title: 'a web search whose content is charged as a block',
      page: SEARCH_PAGE,
      model: 'gpt-4.1-mini',
      sum: '1,000 × 0.4 + 100 × 1.6, and $0.01; 8,000 input tokens that the usage may lack',
      cost: 0.01056,
      unpriced:
        'no price for the tool "web_search" of model "gpt-4.1-mini": what it finds is charged as 8,000 input tokens per ' +
        'search, which the usage may leave out',
    },
    tokens(1_000, 100),
    { output: searches(1), tools: [{ type: 'web_search' }] },
  ),
  openai(
    {
      title: 'searches of files',
      model: 'gpt-5-mini-2025-08-07',
      sum: '8,000 × 0.25 + 500 × 2, and 4 × $0.0025',
      cost: 0.013,
    },
    tokens(8_000, 500),
    {
      output: Array.from({ length: 4 }, (_, index) => ({
        type: 'file_search_call',
        id: `fs_${index}`,
        status: 'completed',
        queries: ['terms'],
      })),
    },
  ),
  openai(
    {
      title: 'code in a container',
      model: 'gpt-5.4-mini',
      sum: '4,000 × 0.75 + 400 × 4.5; $0.03 per container and 20 minutes',
      cost: 0.0048,
      unpriced: `no price for the tool "code_interpreter" of model "gpt-5.4-mini": ${CONTAINER}`,
    },
    tokens(4_000, 400),
    {
      output: [{ type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: '1+1', container_id: 'cntr_1' }],
    },
  ),
  openai(
    {
      title: 'a shell in a container',
      model: 'gpt-6-sol',
      page: 'https://developers.openai.com/api/docs/guides/tools-shell, 2026-09-22',
      sum: '1,000 × 2 + 100 × 10; $0.03 per container and 20 minutes',
      cost: 0.003,
      unpriced: `no price for the tool "shell" of model "gpt-6-sol": ${CONTAINER}`,
    },
    tokens(1_000, 100),
    {
      output: [
        {
          type: 'shell_call',
          id: 'sh_1',
          call_id: 'call_1',
          status: 'completed',
          action: { commands: ['ls'] },
          environment: { type: 'container_reference', container_id: 'cntr_1' },
        },
      ],
    },
  ),
  openai(
    {
      title: 'an image, at the price of the default image model',
      page: `${OPENAI_PAGE}; https://developers.openai.com/api/docs/models/gpt-image-2, 2026-09-08`,
      model: 'gpt-5.5',
      sum: '2,000 × 5 + 100 × 30; 100 × 5 + 200 × 8 + 1,056 × 30',
      cost: 0.04678,
    },
    tokens(2_000, 100),
    {
      output: [IMAGE_CALL],
      tools: [{ type: 'image_generation' }],
      tool_usage: { image_gen: imageGen([100, 200], { output_tokens: 1_056 }), web_search: { num_requests: 0 } },
    },
  ),
  openai(
    {
      title: 'an image of the image model that the tool names, with text',
      page: `${OPENAI_PAGE}; https://developers.openai.com/api/docs/models/gpt-image-1.5, 2026-09-08`,
      model: 'gpt-5.4',
      sum: '1,000 × 2.5 + 50 × 15; 50 × 5 + 1,000 × 32 + 100 × 10',
      cost: 0.0365,
    },
    tokens(1_000, 50),
    {
      output: [IMAGE_CALL],
      tools: [{ type: 'image_generation', model: 'gpt-image-1.5' }],
      tool_usage: {
        image_gen: imageGen([50, 0], {
          output_tokens: 1_100,
          output_tokens_details: { image_tokens: 1_000, text_tokens: 100 },
        }),
      },
    },
  ),
  openai(
    {
      title: 'an image whose tokens are not reported',
      model: 'gpt-5.2',
      sum: '1,000 × 1.75 + 100 × 14',
      cost: 0.00315,
      unpriced:
        'no price for the tool "image_generation" of model "gpt-5.2": the response lacks the tokens of its model',
    },
    tokens(1_000, 100),
    { output: [IMAGE_CALL], tools: [{ type: 'image_generation' }] },
  ),
  openai(
    {
      title: 'an image of a model without a list price',
      model: 'gpt-5.5',
      sum: '1,000 × 5 + 100 × 30',
      cost: 0.008,
      unpriced: 'no price for model "gpt-image-2.5-flare"',
    },
    tokens(1_000, 100),
    {
      output: [IMAGE_CALL],
      tools: [{ type: 'image_generation', model: 'gpt-image-2.5-flare' }],
      tool_usage: { image_gen: imageGen([10, 0], { output_tokens: 500 }) },
    },
  ),
  openai(
    {
      title: 'the flex tier',
      page: 'https://developers.openai.com/api/docs/guides/flex-processing, 2026-09-22',
      model: 'gpt-6-sol',
      sum: '10,000 × 1 + 1,000 × 5',
      cost: 0.015,
    },
    tokens(10_000, 1_000),
    { service_tier: 'flex' },
  ),
  openai(
    {
      title: 'fast mode, which responses call priority, with a cache',
      model: 'gpt-5.6-terra',
      sum: '10,000 × 4 + 10,000 × 0.4 + 1,000 × 24',
      cost: 0.068,
    },
    tokens(20_000, 1_000, { cached_tokens: 10_000 }),
    { service_tier: 'priority' },
  ),
  openai(
    { title: 'the priority tier of GPT-4o', model: 'gpt-4o', sum: '10,000 × 4.25 + 1,000 × 17', cost: 0.0595 },
    tokens(10_000, 1_000),
    { service_tier: 'priority' },
  ),
  openai(
    { title: 'the priority tier of o4-mini', model: 'o4-mini', sum: '10,000 × 2 + 1,000 × 8', cost: 0.028 },
    tokens(10_000, 1_000),
    { service_tier: 'priority' },
  ),
  openai(
    {
      title: 'a tier without a list price',
      model: 'gpt-5.6-sol',
      sum: 'access is controlled',
      unpriced: 'no price for service tier "ultrafast" of model "gpt-5.6-sol"',
    },
    tokens(1_000, 1_000),
    { service_tier: 'ultrafast' },
  ),
  {
    ...openai(
      {
        title: 'a request of a batch, with a cache',
        model: 'gpt-5.5',
        sum: '10,000 × 2.5 + 2,000 × 0.25 + 1,000 × 15',
        cost: 0.0405,
      },
      tokens(12_000, 1_000, { cached_tokens: 2_000 }),
    ),
    isBatched: true,
  },
  {
    ...openai(
      { title: 'a regional endpoint', model: 'gpt-5.6-sol', sum: '1.1 × (10,000 × 5 + 1,000 × 30)', cost: 0.088 },
      tokens(10_000, 1_000),
    ),
    baseURL: 'https://eu.api.openai.com/v1',
  },
  {
    ...openai(
      {
        title: 'a regional endpoint with an older model',
        model: 'gpt-4.1',
        sum: '10,000 × 2 + 1,000 × 8',
        cost: 0.028,
      },
      tokens(10_000, 1_000),
    ),
    baseURL: 'https://us.api.openai.com/v1',
  },
  openai(
    {
      title: 'cache writes for twelve hours, of which the page has no price',
      page: 'https://developers.openai.com/api/docs/pricing, 2026-09-22',
      model: 'gpt-6-sol',
      sum: '6,000 × 2 + 4,000 × 2.5 at least + 100 × 10',
      cost: 0.023,
      unpriced: 'no price for cache writes of 12 hours of model "gpt-6-sol"',
    },
    tokens(10_000, 100, {
      cache_write_tokens: 4_000,
      cache_write_tokens_details: { ttl_30m_tokens: 0, ttl_12h_tokens: 4_000 },
    }),
  ),
];

/** @param usage as Chat Completions have it */
function chat(told: Told & Pick<PriceCase, 'page' | 'vendor'>, usage: JsonObject, message: JsonObject = {}): PriceCase {
  return {
    wire: 'chat_completions',
    body: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: told.model,
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Done.', ...message },
          logprobs: null,
        },
      ],
      usage,
    },
    ...told,
  };
}

const CHAT: readonly PriceCase[] = [
  chat(
    {
      title: 'Chat Completions with a cache',
      page: OPENAI_PAGE,
      vendor: 'openai',
      model: 'gpt-4.1-nano-2025-04-14',
      sum: '1,500 × 0.1 + 500 × 0.025 + 100 × 0.4',
      cost: 0.0002025,
    },
    {
      prompt_tokens: 2_000,
      completion_tokens: 100,
      total_tokens: 2_100,
      prompt_tokens_details: { cached_tokens: 500, audio_tokens: 0 },
    },
  ),
  chat(
    {
      title: 'spoken input and output of a model without a price in the table',
      page: OPENAI_PAGE,
      vendor: 'openai',
      model: 'gpt-4o-audio-preview',
      sum: 'unknown',
      unpriced: 'no price for model "gpt-4o-audio-preview"',
    },
    {
      prompt_tokens: 200,
      completion_tokens: 100,
      total_tokens: 300,
      prompt_tokens_details: { audio_tokens: 150 },
      completion_tokens_details: { audio_tokens: 80 },
    },
  ),
  chat(
    {
      title: 'a model of OpenAI’s on Azure, where prices depend on the contract and region',
      page: 'https://azure.microsoft.com/en-us/pricing/details/azure-openai/, 2026-10-07',
      vendor: 'azure_openai',
      model: 'gpt-4o',
      sum: 'unknown',
      unpriced: 'no price for model "gpt-4o"',
    },
    { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 },
  ),
  chat(
    {
      title: 'a tool that Groq ran',
      page: 'https://console.groq.com/docs/models, 2026-07-02',
      vendor: 'groq',
      model: 'openai/gpt-oss-120b',
      sum: '2,000 × 0.15 + 100 × 0.6',
      cost: 0.00036,
      unpriced: 'no price for the tool "browser_search" of model "openai/gpt-oss-120b"',
    },
    { prompt_tokens: 2_000, completion_tokens: 100, total_tokens: 2_100 },
    { executed_tools: [{ index: 0, type: 'browser.search', arguments: '{}' }] },
  ),
  chat(
    {
      title: 'what a host of other vendors’ models charges',
      page: 'https://openrouter.ai/docs/use-cases/usage-accounting, 2026-09-22',
      vendor: 'openai_compatible',
      model: 'anthropic/claude-opus-5',
      sum: 'reported',
      cost: 0.0123,
    },
    { prompt_tokens: 2_000, completion_tokens: 100, total_tokens: 2_100, cost: 0.0123 },
  ),
];

const GEMINI_PAGE = 'https://ai.google.dev/gemini-api/docs/pricing, 2026-08-04';
const GROUNDING_PAGE = 'https://ai.google.dev/gemini-api/docs/pricing, 2026-10-06';

/** @param candidate its fields beside the text */
function gemini(told: Told, usageMetadata: JsonObject, candidate: JsonObject = {}): PriceCase {
  return {
    page: GEMINI_PAGE,
    vendor: 'google',
    wire: 'gemini',
    body: {
      responseId: 'r1',
      modelVersion: told.model,
      candidates: [
        { index: 0, finishReason: 'STOP', content: { role: 'model', parts: [{ text: 'Done.' }] }, ...candidate },
      ],
      usageMetadata,
    },
    ...told,
  };
}

const queries = (...webSearchQueries: readonly string[]): JsonObject => ({ groundingMetadata: { webSearchQueries } });
const MAPS: JsonObject = {
  groundingMetadata: { groundingChunks: [{ maps: { uri: 'https://maps.google.com/?cid=1', title: 'Café' } }] },
};

const GOOGLE: readonly PriceCase[] = [
  gemini(
    {
      title: 'spoken input, with thoughts',
      model: 'gemini-2.5-flash',
      sum: '6,000 × 0.3 + 4,000 × 1 + (500 + 500) × 2.5',
      cost: 0.0083,
    },
    {
      promptTokenCount: 10_000,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 6_000 },
        { modality: 'AUDIO', tokenCount: 4_000 },
      ],
      candidatesTokenCount: 500,
      thoughtsTokenCount: 500,
    },
  ),
  gemini(
    {
      title: 'spoken input that is cached',
      model: 'gemini-2.5-flash',
      sum: '4,000 × 0.3 + 4,000 × 0.03 + 2,000 × 0.1 + 100 × 2.5',
      cost: 0.00177,
    },
    {
      promptTokenCount: 10_000,
      cachedContentTokenCount: 6_000,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 8_000 },
        { modality: 'AUDIO', tokenCount: 2_000 },
      ],
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 4_000 },
        { modality: 'AUDIO', tokenCount: 2_000 },
      ],
      candidatesTokenCount: 100,
    },
  ),
  gemini(
    {
      title: 'three queries of Google Search, whose results are no input',
      page: GROUNDING_PAGE,
      model: 'gemini-3.5-flash',
      sum: '1,000 × 1.5 + 500 × 9, and 3 × $0.014',
      cost: 0.048,
    },
    { promptTokenCount: 1_000, toolUsePromptTokenCount: 4_610, candidatesTokenCount: 500 },
    queries('capital of Peru', 'population of Lima', 'Lima mayor', ' '),
  ),
  gemini(
    {
      title: 'Google Search with Gemini 2.5, which costs by prompt',
      model: 'gemini-2.5-flash',
      sum: '32 × 0.3 + (25 + 37) × 2.5, and $0.035',
      cost: 0.0351646,
    },
    { promptTokenCount: 32, toolUsePromptTokenCount: 4_610, candidatesTokenCount: 25, thoughtsTokenCount: 37 },
    queries('capital of Peru', 'population of Lima', 'Lima mayor'),
  ),
  gemini(
    {
      title: 'Google Maps with Gemini 2.5',
      model: 'gemini-2.5-pro',
      sum: '1,000 × 1.25 + 100 × 10, and $0.025',
      cost: 0.02725,
    },
    { promptTokenCount: 1_000, candidatesTokenCount: 100 },
    MAPS,
  ),
  gemini(
    {
      title: 'Google Maps with Gemini 3',
      page: GROUNDING_PAGE,
      model: 'gemini-3.5-flash',
      sum: '1,000 × 1.5 + 100 × 9; $0.014 per search',
      cost: 0.0024,
      unpriced:
        'no price for the tool "google_maps" of model "gemini-3.5-flash": each of its searches is charged, and no response ' +
        'states their number',
    },
    { promptTokenCount: 1_000, candidatesTokenCount: 100 },
    MAPS,
  ),
  gemini(
    {
      title: 'pages that were read, which are input',
      page: 'https://ai.google.dev/gemini-api/docs/url-context, 2026-08-04',
      model: 'gemini-3.1-pro-preview',
      sum: '(1,000 + 8,000) × 2 + 500 × 12',
      cost: 0.024,
    },
    { promptTokenCount: 1_000, toolUsePromptTokenCount: 8_000, candidatesTokenCount: 500 },
    { urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://example.com' }] } },
  ),
  gemini(
    {
      title: 'the flex tier, which does not halve cache reads',
      model: 'gemini-2.5-pro',
      sum: '10,000 × 0.625 + 10,000 × 0.125 + 1,000 × 5',
      cost: 0.0125,
    },
    { promptTokenCount: 20_000, cachedContentTokenCount: 10_000, candidatesTokenCount: 1_000, serviceTier: 'flex' },
  ),
  gemini(
    { title: 'the priority tier', model: 'gemini-2.5-flash', sum: '10,000 × 0.54 + 1,000 × 4.5', cost: 0.0099 },
    { promptTokenCount: 10_000, candidatesTokenCount: 1_000, serviceTier: 'priority' },
  ),
  gemini(
    {
      title: 'the priority tier of a model for which only a range is stated',
      page: 'https://ai.google.dev/gemini-api/docs/priority-inference, 2026-08-04',
      model: 'gemini-3.5-flash',
      sum: '75 to 100 % more',
      unpriced: 'no price for service tier "priority" of model "gemini-3.5-flash"',
    },
    { promptTokenCount: 10_000, candidatesTokenCount: 1_000, serviceTier: 'priority' },
  ),
  gemini(
    {
      title: 'throughput that was paid for in advance',
      page: 'https://cloud.google.com/vertex-ai/generative-ai/docs/provisioned-throughput, 2026-08-04',
      model: 'gemini-2.5-flash',
      sum: 'a subscription',
      unpriced: 'no price for service tier "PROVISIONED_THROUGHPUT" of model "gemini-2.5-flash"',
    },
    { promptTokenCount: 10_000, candidatesTokenCount: 1_000, trafficType: 'PROVISIONED_THROUGHPUT' },
  ),
  gemini(
    {
      title: 'a generated image, with thoughts',
      page: 'https://ai.google.dev/gemini-api/docs/pricing, 2026-08-21',
      model: 'gemini-3.1-flash-image',
      sum: '100 × 0.5 + 1,120 × 60 + 200 × 3',
      cost: 0.06785,
    },
    {
      promptTokenCount: 100,
      candidatesTokenCount: 1_120,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_120 }],
      thoughtsTokenCount: 200,
    },
  ),
  gemini(
    { title: 'a long prompt', model: 'gemini-2.5-pro', sum: '300,000 × 2.5 + 1,000 × 15', cost: 0.765 },
    { promptTokenCount: 300_000, candidatesTokenCount: 1_000 },
  ),
  {
    ...gemini(
      {
        title: 'a request of a batch with spoken input, which does not halve cache reads',
        model: 'gemini-2.5-flash',
        sum: '4,000 × 0.15 + 2,000 × 0.5 + 4,000 × 0.03 + 100 × 1.25',
        cost: 0.001845,
      },
      {
        promptTokenCount: 10_000,
        cachedContentTokenCount: 4_000,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 8_000 },
          { modality: 'AUDIO', tokenCount: 2_000 },
        ],
        candidatesTokenCount: 100,
      },
    ),
    isBatched: true,
  },
  {
    ...gemini(
      {
        title: 'a prompt that is stored for five minutes',
        model: 'gemini-2.5-flash',
        sum: '1,000 × 0.3 + 60,000 × 0.03 + 100 × 2.5; 60,000 × 1 × 1⁄12 hour',
        cost: 0.00735,
      },
      { promptTokenCount: 61_000, cachedContentTokenCount: 60_000, candidatesTokenCount: 100 },
    ),
    storedTokenHours: 5_000,
  },
  {
    ...gemini(
      {
        title: 'a prompt that is stored at a price that is not listed',
        model: 'gemini-3.6-flash',
        page: 'https://ai.google.dev/gemini-api/docs/pricing, 2026-07-21',
        sum: '1,000 × 1.5 + 60,000 × 0.15 + 100 × 7.5',
        cost: 0.01125,
        unpriced: 'no price for stored caches of model "gemini-3.6-flash"',
      },
      { promptTokenCount: 61_000, cachedContentTokenCount: 60_000, candidatesTokenCount: 100 },
    ),
    storedTokenHours: 5_000,
  },
  {
    title: 'searches of an interaction, whose results are no input',
    page: 'https://ai.google.dev/gemini-api/docs/pricing, 2026-10-07',
    vendor: 'google',
    wire: 'interactions',
    model: 'gemini-3.8-flash',
    body: {
      id: 'v1_1',
      object: 'interaction',
      model: 'gemini-3.8-flash',
      status: 'completed',
      created: '2026-10-07T10:00:00Z',
      steps: [{ type: 'model_output', content: [{ type: 'text', text: 'Done.' }] }],
      usage: {
        total_input_tokens: 1_000,
        total_tool_use_tokens: 2_000,
        total_output_tokens: 100,
        grounding_tool_count: [{ type: 'google_search', count: 2 }],
      },
    },
    sum: '1,000 × 0.75 + 100 × 3.75, and 2 × $0.014',
    cost: 0.029125,
  },
];

const XAI_PAGE = 'https://docs.x.ai/developers/pricing, 2026-09-29';
const SEARCHES_OF_X = {
  num_server_side_tools_used: 3,
  server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 1, code_interpreter_calls: 0, mcp_calls: 0 },
};

const XAI: readonly PriceCase[] = [
  {
    ...openai(
      {
        title: 'what xAI itself charges, its tools included',
        page: 'https://docs.x.ai/developers/cost-tracking, 2026-09-29',
        model: 'grok-4.7',
        sum: '161,508,500 ÷ 10,000,000,000',
        cost: 0.01615085,
      },
      { ...tokens(10_000, 1_000), ...SEARCHES_OF_X, cost_in_usd_ticks: 161_508_500 },
      { output: searches(2) },
    ),
    vendor: 'grok',
  },
  {
    ...openai(
      {
        title: 'searches of the web and of X, if xAI does not say what they cost',
        page: XAI_PAGE,
        model: 'grok-4.7',
        sum: '10,000 × 2 + 1,000 × 6, and 3 × $0.005',
        cost: 0.041,
      },
      { ...tokens(10_000, 1_000), ...SEARCHES_OF_X },
      { output: searches(4) },
    ),
    vendor: 'grok',
  },
];

export const PRICE_CASES: readonly PriceCase[] = [...ANTHROPIC, ...OPENAI, ...CHAT, ...GOOGLE, ...XAI];
