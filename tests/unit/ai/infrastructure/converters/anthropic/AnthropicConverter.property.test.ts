/**
 * Blocks of the Anthropic wire are sent back unchanged, with any fields, of any type, in any order, after any store.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeOptions } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import {
  fromAnthropic,
  toAnthropic,
} from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/AnthropicConverter';
import { writeAnthropic } from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/gateway/AnthropicGateway';
import { createAnthropicDecoder } from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/stream/AnthropicDecoder';
import { anthropicContext, anthropicResponseContext, sse } from '../../../../../support/anthropicRecordings';
import type { LLMResponse, OutputItem } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { IS_SOAK } from '../../../../../support/soak';

const RUNS = { numRuns: IS_SOAK ? 300 : 100 };
const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);

const anyText = fc.oneof(
  fc.constantFrom('', ' ', '\n\n', 'Hi', 'Grüße 🌍'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const key = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 }).filter((name) => !RESERVED.has(name));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
    anyText,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
}));
const object = fc.dictionary(key, value, { maxKeys: 4 });
/** Fields that do not exist on this wire. */
const unknownFields = fc.dictionary(
  key.map((name) => `x_${name}`),
  value,
  { maxKeys: 2 },
);
const id = fc.stringMatching(/^[a-zA-Z0-9_-]{1,40}$/);

const textBlock = fc.record(
  {
    type: fc.constant('text'),
    text: anyText,
    citations: fc.array(object, { maxLength: 2 }),
    cache_control: fc.constant({ type: 'ephemeral' }),
  },
  { requiredKeys: ['type', 'text'] },
);
const thinkingBlock = fc.record(
  { type: fc.constant('thinking'), thinking: anyText, signature: anyText },
  { requiredKeys: ['type', 'thinking'] },
);
const redactedBlock = fc.record({ type: fc.constant('redacted_thinking'), data: anyText });
const callBlock = fc.record(
  {
    type: fc.constant('tool_use'),
    id,
    name: fc.constantFrom('look', 'weather'),
    input: fc.oneof(object, object, value),
    caller: fc.constant({ type: 'direct' }),
  },
  { requiredKeys: ['type', 'id', 'name', 'input'] },
);
const serverBlock = fc.record({
  type: fc.constantFrom(
    'server_tool_use',
    'web_search_tool_result',
    'mcp_tool_use',
    'container_upload',
    'compaction',
    'song',
  ),
  id,
  input: value,
  content: value,
});
const malformedBlock = fc.record({
  type: fc.constantFrom('text', 'thinking', 'redacted_thinking', 'tool_use'),
  odd: value,
});

const block = fc
  .tuple(
    fc.oneof(textBlock, textBlock, thinkingBlock, redactedBlock, callBlock, serverBlock, malformedBlock),
    unknownFields,
  )
  .map(([known, unknown]): JsonObject => ({ ...known, ...unknown }));
/** Every call has a unique id. */
const content = fc
  .array(block, { maxLength: 8 })
  .map((blocks) =>
    blocks.map((one, index) =>
      one.type === 'tool_use' && 'id' in one ? { ...one, id: `${String(one.id)}_${index}` } : one,
    ),
  );

const message = fc
  .tuple(
    content,
    fc.constantFrom('end_turn', 'tool_use', 'pause_turn', 'max_tokens', 'refusal', 'tired'),
    unknownFields,
    object,
  )
  .map(([blocks, stop_reason, fields, usage]): JsonObject & { content: JsonObject[] } => ({
    ...fields,
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: blocks,
    stop_reason,
    usage,
  }));

/** Serializes and parses, as wires and stores do. */
function roundTripJson<T>(given: T): T {
  return JSON.parse(JSON.stringify(given)) as T;
}

function sentBack(output: readonly OutputItem[]): readonly JsonObject[] {
  const results = output.flatMap((item): OutputItem[] =>
    item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id, output: 'done' }] : [],
  );
  const question: OutputItem = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] };
  const options = normalizeOptions({ model: 'claude-sonnet-4-5', input: [question, ...output, ...results] });
  const { messages } = toAnthropic(options, anthropicContext(), false).body;
  return (
    (messages as readonly { role: string; content: readonly JsonObject[] }[]).find(({ role }) => role === 'assistant')
      ?.content ?? []
  );
}

/** The message as a stream with one delta of each type per block. */
function streamOf({
  content: blocks,
  stop_reason,
  usage,
  ...start
}: JsonObject & { content: readonly JsonObject[] }): LLMResponse {
  const events: JsonObject[] = [
    { type: 'message_start', message: { ...start, content: [], stop_reason: null, usage: {} } },
  ];
  blocks.forEach((one, index) => {
    const [start, deltas] = pieces(one);
    events.push(
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    );
  });
  events.push({ type: 'message_delta', delta: { stop_reason }, usage }, { type: 'message_stop' });
  const decoder = createAnthropicDecoder(anthropicResponseContext());
  const out: ResponseStreamEvent[] = [];
  for (const event of sse(...events)) decoder.push(event, out);
  const last = out.at(-1);
  if (last?.type !== 'response.completed') throw new Error('the stream did not complete');
  return last.response;
}

function pieces(one: JsonObject): [JsonObject, JsonObject[]] {
  if (one.type === 'text' && typeof one.text === 'string') {
    const { citations, ...rest } = one;
    const cited = Array.isArray(citations) && citations.length > 0 ? citations : undefined;
    const start = { ...rest, text: '', ...(citations !== undefined && cited === undefined ? { citations } : {}) };
    return [
      start,
      [
        { type: 'text_delta', text: one.text.slice(0, 3) },
        ...(cited ?? []).map((citation: unknown) => ({ type: 'citations_delta', citation })),
        { type: 'text_delta', text: one.text.slice(3) },
      ],
    ];
  }
  if (one.type === 'thinking' && typeof one.thinking === 'string') {
    const signed = typeof one.signature === 'string' ? [{ type: 'signature_delta', signature: one.signature }] : [];
    return [
      { ...one, thinking: '', ...(signed.length > 0 ? { signature: '' } : {}) },
      [{ type: 'thinking_delta', thinking: one.thinking }, ...signed],
    ];
  }
  if (one.type === 'tool_use' && 'input' in one) {
    const input = JSON.stringify(one.input);
    return [
      { ...one, input: {} },
      [
        { type: 'input_json_delta', partial_json: input.slice(0, 4) },
        { type: 'input_json_delta', partial_json: input.slice(4) },
      ],
    ];
  }
  return [one, []];
}

describe('the Anthropic wire with arbitrary blocks', () => {
  it('sends any blocks back unchanged, except thinking without a signature', () => {
    fc.assert(
      fc.property(content, (blocks) => {
        const body = roundTripJson({
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-x',
          content: blocks,
          stop_reason: 'tool_use',
          usage: {},
        });
        const response = roundTripJson(fromAnthropic(body, anthropicResponseContext()));
        const returned = blocks.filter(
          ({ type, thinking, signature }) =>
            type !== 'thinking' || typeof thinking !== 'string' || (signature ?? '') !== '',
        );
        expect(roundTripJson(sentBack(response.output))).to.deep.equal(roundTripJson(returned));
      }),
      RUNS,
    );
  });

  it('writes any message as it was received', () => {
    fc.assert(
      fc.property(message, (given) => {
        const body = roundTripJson(given);
        expect(
          roundTripJson(writeAnthropic(roundTripJson(fromAnthropic(body, anthropicResponseContext())))),
        ).to.deep.equal(body);
      }),
      RUNS,
    );
  });

  it('reads any message alike with and without streaming', () => {
    fc.assert(
      fc.property(message, (given) => {
        const { usage: _, ...body } = roundTripJson(given);
        // In a stream, a text block starts with an empty text even if the field is missing.
        const blocks = body.content.filter((one) => one.type !== 'text' || 'text' in one);
        const complete = { ...body, content: blocks, usage: { input_tokens: 1, output_tokens: 2 } };
        expect(streamOf(complete)).to.deep.equal(fromAnthropic(complete, anthropicResponseContext()));
      }),
      RUNS,
    );
  });
});
