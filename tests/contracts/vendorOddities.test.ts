import { expect } from 'chai';
import { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { toolCalls } from '../../imports/business/ai/domain/entities/Response';
import type { JsonObject, VendorName, ServedWire } from '../../imports/business/ai/domain/types/VendorTypes';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { startCannedResponseServer } from '../support/cannedResponseServer';
import type { CannedResponseServer } from '../support/cannedResponseServer';

const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const DONE = '[DONE]';

function chunk(delta: JsonObject, finish_reason: string | null = null, more: JsonObject = {}): JsonObject {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  };
}

function calling(...tool_calls: readonly JsonObject[]): JsonObject {
  return chunk({ tool_calls });
}

function sse(...payloads: readonly unknown[]): string {
  return payloads
    .map((payload) => `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`)
    .join('');
}

interface Expected {
  readonly text?: string;
  /** Names and arguments. */
  readonly calls?: readonly (readonly [string, string])[];
  readonly total?: number;
  readonly status?: string;
}

const A_AND_B = [
  ['a', '{"x":1}'],
  ['b', '{"y":2}'],
] as const;
const NO_ARGUMENTS = [
  ['a', '{}'],
  ['b', '{}'],
] as const;
const end = chunk({}, 'tool_calls');

/** Streams of vendors that deviate from the chat wire. */
const CHAT_RESPONSES: Readonly<Record<string, readonly [body: string, expected: Expected]>> = {
  'sends an empty finish reason after the real one': [
    sse(
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
      chunk({ content: '' }, ''),
      { ...chunk({}), choices: [], usage: USAGE },
      DONE,
    ),
    { text: 'Hi', total: 7 },
  ],
  'sends an empty finish reason in each chunk': [
    sse(chunk({ role: 'assistant', content: 'H' }, ''), chunk({ role: '', content: 'i' }, ''), chunk({}, 'stop'), DONE),
    { text: 'Hi' },
  ],
  'sends usage in the last choice': [
    sse(
      chunk({ content: 'Hi' }),
      { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: USAGE }] },
      DONE,
    ),
    { text: 'Hi', total: 7 },
  ],
  'sends usage in each chunk': [
    sse(
      chunk({ content: 'Hi' }, null, { usage: { ...USAGE, total_tokens: 5 } }),
      chunk({}, 'stop', { usage: USAGE }),
      DONE,
    ),
    { text: 'Hi', total: 7 },
  ],
  'sends the entire message in one chunk': [
    sse(
      {
        id: 'c1',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'Hi',
              tool_calls: [{ id: 't', type: 'function', function: { name: 'a', arguments: '{}' } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
      },
      DONE,
    ),
    { text: 'Hi', calls: [['a', '{}']] },
  ],
  'repeats the message so far next to each delta': [
    sse(
      { choices: [{ index: 0, delta: { content: 'H' }, message: { content: 'H' } }] },
      { choices: [{ index: 0, delta: { content: 'i' }, message: { content: 'Hi' } }] },
      { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] },
      DONE,
    ),
    { text: 'Hi' },
  ],
  'sends index 0 for all calls, without ids': [
    sse(
      calling({ index: 0, function: { name: 'a', arguments: '{"x":1}' } }),
      calling({ index: 0, function: { name: 'b', arguments: '{"y":2}' } }),
      end,
      DONE,
    ),
    { calls: A_AND_B },
  ],
  'sends index 0 for all calls, with ids': [
    sse(
      calling(
        { index: 0, id: '1', function: { name: 'a', arguments: '{"x":1}' } },
        { index: 0, id: '2', function: { name: 'b', arguments: '{"y":2}' } },
      ),
      end,
      DONE,
    ),
    { calls: A_AND_B },
  ],
  'sends calls without index and id': [
    sse(
      calling({ function: { name: 'a', arguments: '{"x":1}' } }),
      calling({ function: { name: 'b', arguments: '{"y":2}' } }),
      end,
      DONE,
    ),
    { calls: A_AND_B },
  ],
  'sends calls without index, id and arguments in one chunk': [
    sse(calling({ function: { name: 'a' } }, { function: { name: 'b' } }), end, DONE),
    { calls: NO_ARGUMENTS },
  ],
  'sends the same call twice in one chunk': [
    sse(calling({ function: { name: 'a' } }, { function: { name: 'a' } }), end, DONE),
    {
      calls: [
        ['a', '{}'],
        ['a', '{}'],
      ],
    },
  ],
  'sends arguments as objects': [
    sse(
      calling({ function: { name: 'a', arguments: { x: 1 } } }, { function: { name: 'b', arguments: { y: 2 } } }),
      end,
      DONE,
    ),
    { calls: A_AND_B },
  ],
  'repeats index and name in each fragment': [
    sse(
      calling({ index: 0, function: { name: 'a', arguments: '{"x":' } }),
      calling({ index: 0, function: { name: 'a', arguments: '1}' } }),
      calling({ index: 0, function: { name: 'a', arguments: '' } }),
      end,
      DONE,
    ),
    { calls: [['a', '{"x":1}']] },
  ],
  'repeats earlier fields as null': [
    sse(
      calling({ index: 0, id: '1', type: 'function', function: { name: 'a', arguments: '' } }),
      calling({ index: 0, id: null, type: null, function: { name: null, arguments: '{}' } }),
      end,
      DONE,
    ),
    { calls: [['a', '{}']] },
  ],
  'ends a call with finish reason stop': [
    sse(calling({ index: 0, id: '1', function: { name: 'a', arguments: '{}' } }), chunk({}, 'stop'), DONE),
    { calls: [['a', '{}']] },
  ],
  'sends chunks without choices, and choices without a delta': [
    sse(
      { id: '', choices: [] },
      chunk({ content: 'Hi' }),
      { choices: null, usage: null },
      { choices: [{ index: 0, delta: null, finish_reason: 'stop' }] },
      DONE,
    ),
    { text: 'Hi' },
  ],
  'sends comments to keep the connection alive': [
    `: OPENROUTER PROCESSING\n\n: keep-alive\n\n${sse(chunk({ content: 'Hi' }), chunk({}, 'stop'), DONE)}`,
    { text: 'Hi' },
  ],
  'writes an empty custom tool next to the function that it calls': [
    sse(
      calling({
        index: 0,
        id: '1',
        type: 'function',
        function: { name: 'a', arguments: '{}' },
        custom: { name: '', input: '' },
      }),
      end,
      DONE,
    ),
    { calls: [['a', '{}']] },
  ],
  'filters its answer and sends no message': [
    sse({ choices: [{ index: 0, finish_reason: 'content_filter', content_filter_results: {} }], usage: USAGE }, DONE),
    { total: 7, status: 'incomplete' },
  ],
  'filters its answer and sends null as the delta': [
    sse({ choices: [{ index: 0, delta: null, finish_reason: 'content_filter' }], usage: USAGE }, DONE),
    { total: 7, status: 'incomplete' },
  ],
  'exhausts its context': [
    sse(chunk({ content: 'Hi' }), chunk({}, 'model_length'), DONE),
    { text: 'Hi', status: 'incomplete' },
  ],
};

/** Streams that look complete, but have failed. */
const CHAT_FAILURES: Readonly<Record<string, readonly [body: string, code: string, message: RegExp]>> = {
  'ends with finish reason error': [sse(chunk({ content: 'Hi' }), chunk({}, 'error'), DONE), 'vendor-error', /error/],
  'is out of resources': [
    sse(chunk({ content: 'Hi' }), chunk({}, 'insufficient_system_resource'), DONE),
    'overloaded',
    /insufficient_system_resource/,
  ],
  'sends a finish reason without a message': [
    sse({ choices: [{ index: 0, text: 'Hi', finish_reason: 'stop' }] }, DONE),
    'stream-broken',
    /no message/,
  ],
  'sends an error object without a wrapper': [
    sse(chunk({ content: 'Hi' }), { object: 'error', message: 'boom', type: 'InternalServerError', code: 500 }, DONE),
    'vendor-error',
    /boom/,
  ],
  'sends an error message and a code': [
    sse({ message: 'slow down', code: 'rate_limit_exceeded' }, DONE),
    'rate-limited',
    /slow down/,
  ],
  'sends an error detail': [sse({ detail: 'boom' }, DONE), 'vendor-error', /boom/],
  'sends an error in a list': [
    sse([{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }]),
    'auth-failed',
    /not valid/,
  ],
  'sends the JSON of an error instead of a stream': [
    JSON.stringify({ error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } }, null, 2),
    'rate-limited',
    /Rate limit/,
  ],
  'sends the JSON of a truncated error': ['{"error": {"message": "Rate', 'stream-broken', /end marker/],
  'sends an HTML page': ['<html><body>Bad gateway</body></html>', 'stream-broken', /end marker/],
  'omits the end marker': [sse(chunk({ content: 'Hi' }), chunk({}, 'stop')), 'stream-broken', /end marker/],
};

const RESPONSE = {
  id: 'r1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  error: null,
  incomplete_details: null,
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
};
const MESSAGE = {
  id: 'm1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
};
const CALL = { id: 'f1', type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}', status: 'completed' };

function responses(...events: readonly JsonObject[]): string {
  return events
    .map(
      (event, sequence_number) =>
        `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    )
    .join('');
}

const DELTA = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi' };
const DONE_ITEMS = [
  { type: 'response.output_item.done', output_index: 0, item: MESSAGE },
  { type: 'response.output_item.done', output_index: 1, item: CALL },
];

function candidate(fields: JsonObject): JsonObject {
  return {
    candidates: [{ index: 0, ...fields }],
    responseId: 'r',
    modelVersion: 'm',
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
  };
}

const HI = { content: { role: 'model', parts: [{ text: 'Hi' }] } };

/** Streams of vendors that deviate from the other wires. */
const OTHER_RESPONSES: Readonly<Record<string, readonly [wire: ServedWire, body: string, expected: Expected]>> = {
  'omits a call from its last event': [
    'responses',
    responses(DELTA, ...DONE_ITEMS, { type: 'response.completed', response: { ...RESPONSE, output: [MESSAGE] } }),
    { text: 'Hi', calls: [['a', '{}']], total: 7 },
  ],
  'blocks a prompt after text has arrived': [
    'gemini',
    sse(candidate(HI), { promptFeedback: { blockReason: 'SAFETY' } }),
    { text: 'Hi', status: 'incomplete', total: 7 },
  ],
  'repeats earlier fields as null': [
    'gemini',
    sse(candidate(HI), {
      ...candidate({ finishReason: 'STOP' }),
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: null },
      modelVersion: null,
    }),
    { text: 'Hi', total: 7 },
  ],
  'sends a list instead of events': [
    'gemini',
    JSON.stringify([candidate(HI), candidate({ finishReason: 'STOP' })]),
    { text: 'Hi', total: 7 },
  ],
};

const OTHER_FAILURES: Readonly<
  Record<string, readonly [wire: ServedWire, body: string, code: string, message: RegExp]>
> = {
  'sends the JSON of an error instead of events': [
    'anthropic_messages',
    JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }),
    'rate-limited',
    /Slow/,
  ],
  'sends the JSON of another error instead of events': [
    'responses',
    JSON.stringify({ error: { message: 'Wrong key', code: 'invalid_api_key' } }),
    'auth-failed',
    /Wrong key/,
  ],
  'sends a list with an error instead of events': [
    'gemini',
    JSON.stringify([{ error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED' } }]),
    'rate-limited',
    /Quota/,
  ],
  'sends an item without a type': [
    'responses',
    responses({
      type: 'response.completed',
      response: { ...RESPONSE, output: [{ id: 'f1', call_id: 'c1', name: 'a', arguments: '{}' }] },
    }),
    'stream-broken',
    /type/,
  ],
};

const VENDOR_OF = {
  responses: 'openai',
  anthropic_messages: 'anthropic',
  gemini: 'google',
  chat_completions: 'openai_compatible',
} as const satisfies Record<ServedWire, VendorName>;

describe('a vendor that', () => {
  let server: CannedResponseServer;
  before(async () => {
    server = await startCannedResponseServer();
  });
  after(() => server.close());

  async function streamFrom(body: string, wire: ServedWire = 'chat_completions'): Promise<JsonObject> {
    const provider = createProvider({
      vendor: VENDOR_OF[wire],
      wire,
      apiKey: 'test-key',
      baseURL: server.url,
      allowPrivateHosts: true,
      defaultModel: 'm',
    });
    server.respondWith(body, 'text/event-stream');
    let streamedText = '';
    const streamedCalls: (readonly [string, string])[] = [];
    for await (const event of provider.stream('ann', { input: 'hi' })) {
      if (event.type === 'response.output_text.delta') streamedText += event.delta;
      if (event.type === 'response.tool_use.done') streamedCalls.push([event.item.name, event.item.arguments]);
      if (event.type !== 'response.completed') continue;
      const { output_text: text, status, usage } = event.response;
      return {
        text,
        streamedText: streamedText === '' ? text : streamedText,
        status,
        total: usage.total_tokens,
        calls: toolCalls(event.response).map(({ name, arguments: json }) => [name, json]),
        streamedCalls,
      };
    }
    throw new Error('The stream ended without a response.');
  }

  const responsesByTitle = [
    ...Object.entries(CHAT_RESPONSES).map(
      ([title, [body, expected]]) => [title, 'chat_completions', body, expected] as const,
    ),
    ...Object.entries(OTHER_RESPONSES).map(([title, rest]) => [title, ...rest] as const),
  ];
  for (const [title, wire, body, { text = '', calls = [], total = 0, status = 'completed' }] of responsesByTitle) {
    it(`${title} is understood (${wire})`, async () => {
      expect(await streamFrom(body, wire)).to.deep.equal({
        text,
        streamedText: text,
        status,
        total,
        calls,
        streamedCalls: calls,
      });
    });
  }

  const failures = [
    ...Object.entries(CHAT_FAILURES).map(([title, rest]) => [title, 'chat_completions', ...rest] as const),
    ...Object.entries(OTHER_FAILURES).map(([title, rest]) => [title, ...rest] as const),
  ];
  for (const [title, wire, body, code, message] of failures) {
    it(`${title} is reported as failed (${wire})`, async () => {
      const error = await streamFrom(body, wire).then(
        (response) => expect.fail(`Expected an error, got ${JSON.stringify(response)}.`),
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(LLMError).and.to.have.property('code', code);
      expect((error as LLMError).message).to.match(message);
    });
  }
});
