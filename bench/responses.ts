/** The simulated vendor's responses as bytes, on each wire, created once. */
import type { BenchWire } from './workloads';
import { MODELS } from './Contender';

export const FINAL_TEXT = 'It is a mild and friendly day, with a little wind from the west.';
const DELTA_TEXTS = ['It ', 'is ', 'a ', 'mild ', 'day, ', 'with ', 'some ', 'wind. '];

/** A text that occurs in a request once per tool result. */
export const RESULT_MARK: Readonly<Record<BenchWire, string>> = {
  openai: '"function_call_output"',
  anthropic: '"tool_result"',
  chat: '"role":"tool"',
};

const cache = new Map<string, Buffer>();

function cached(key: string, create: () => object): Buffer {
  let bytes = cache.get(key);
  if (bytes === undefined) cache.set(key, (bytes = Buffer.from(JSON.stringify(create()))));
  return bytes;
}

export function textOf(wire: BenchWire): Buffer {
  return cached(`${wire} text`, () => {
    if (wire === 'anthropic') return message('msg_text', [{ type: 'text', text: FINAL_TEXT }], 'end_turn');
    return wire === 'openai'
      ? response('resp_text', [outputText(FINAL_TEXT)])
      : completion({ role: 'assistant', content: FINAL_TEXT }, 'stop');
  });
}

export function callsOf(wire: BenchWire, calls: number, turn: number): Buffer {
  return cached(`${wire} ${calls} ${turn}`, () => {
    const ids = Array.from({ length: calls }, (_, index) => `${turn}_${index}`);
    const city = (id: string): object => ({ city: `City ${id}`, unit: 'celsius' });
    if (wire === 'anthropic')
      return message(
        `msg_${turn}`,
        ids.map((id) => ({ type: 'tool_use', id: `toolu_${id}`, name: 'get_weather', input: city(id) })),
        'tool_use',
      );
    return response(
      `resp_${turn}`,
      ids.map((id) => ({
        id: `fc_${id}`,
        type: 'function_call',
        status: 'completed',
        call_id: `call_${id}`,
        name: 'get_weather',
        arguments: JSON.stringify(city(id)),
      })),
    );
  });
}

function response(id: string, output: readonly object[], status = 'completed'): object {
  return {
    id,
    object: 'response',
    created_at: 1_760_000_000,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: MODELS.openai,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    metadata: {},
    usage: {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 50,
    },
  };
}

function outputText(text: string): object {
  return {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  };
}

function message(id: string, content: readonly object[], stop_reason: string | null): object {
  const usage = {
    input_tokens: 30,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 20,
    service_tier: 'standard',
  };
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: MODELS.anthropic,
    content,
    stop_reason,
    stop_sequence: null,
    usage,
  };
}

function completion(assistantMessage: object, finish_reason: string): object {
  const usage = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: MODELS.chat,
    choices: [{ index: 0, message: assistantMessage, finish_reason }],
    usage,
  };
}

export interface StreamBytes {
  readonly complete: Buffer;
  readonly frames: readonly string[];
}

const streams = new Map<string, StreamBytes>();

export function streamOf(wire: BenchWire, deltas: number): StreamBytes {
  const key = `${wire} ${deltas}`;
  let bytes = streams.get(key);
  if (bytes === undefined) {
    const frames = FRAMES[wire](
      Array.from({ length: deltas }, (_, index) => DELTA_TEXTS[index % DELTA_TEXTS.length] ?? ''),
    );
    streams.set(key, (bytes = { frames, complete: Buffer.from(frames.join('')) }));
  }
  return bytes;
}

const FRAMES: Readonly<Record<BenchWire, (texts: readonly string[]) => string[]>> = {
  openai(texts) {
    const text = texts.join('');
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const part = (partText: string): object => ({ type: 'output_text', text: partText, annotations: [], logprobs: [] });
    const events = [
      { type: 'response.created', response: response('resp_1', [], 'in_progress') },
      { type: 'response.in_progress', response: response('resp_1', [], 'in_progress') },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] },
      },
      { type: 'response.content_part.added', ...at, part: part('') },
      ...texts.map((delta) => ({
        type: 'response.output_text.delta',
        ...at,
        delta,
        logprobs: [],
        obfuscation: 'a1b2c3d4',
      })),
      { type: 'response.output_text.done', ...at, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part: part(text) },
      { type: 'response.output_item.done', output_index: 0, item: outputText(text) },
      { type: 'response.completed', response: response('resp_1', [outputText(text)]) },
    ];
    return events.map((event, sequence_number) => named({ ...event, sequence_number }));
  },
  anthropic(texts) {
    return [
      { type: 'message_start', message: message('msg_1', [], null) },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      ...texts.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: texts.length },
      },
      { type: 'message_stop' },
    ].map(named);
  },
  chat(texts) {
    const chunk = (delta: object, finish_reason: string | null): object => ({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: MODELS.chat,
      service_tier: 'default',
      system_fingerprint: null,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    });
    const chunks = [
      chunk({ role: 'assistant', content: '', refusal: null }, null),
      ...texts.map((content) => chunk({ content }, null)),
      chunk({}, 'stop'),
    ];
    return [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n'];
  },
};

function named(event: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
