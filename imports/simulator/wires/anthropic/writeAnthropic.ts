/** Writes a Messages response: one body, or events from `message_start` to `message_stop`. */
import { readJson } from '../../../business/ai/domain/util/json';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { createErrorBody } from '../../rendering/createErrorBody';
import { randomAlphanumeric } from '../../randomIds';
import type { ModelTurn, TokenCount } from '../../model/ModelTurn';
import { createSignedToken } from '../../signatures';
import { splitCharacters, splitWords } from '../splitText';
import type { TurnContext, SseEvent } from '../WireSimulator';
import { anthropicBody } from './anthropicBody';
import { currentTurn, createThinkingSignature } from './thinkingSignature';

type WrittenBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

export function writeAnthropic(context: TurnContext): JsonObject {
  return {
    ...envelope(context),
    content: blocksOf(context),
    ...stop(context.turn),
    usage: { ...inputUsage(context.usage), output_tokens: outputTokens(context.usage), service_tier: 'standard' },
  };
}

export function streamAnthropic(context: TurnContext): readonly SseEvent[] {
  const start = {
    ...envelope(context),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...inputUsage(context.usage), output_tokens: 1 },
  };
  const blocks = blocksOf(context).flatMap((block, index) => blockEvents(block, index, context.turn));
  const opening = [
    event({ type: 'message_start', message: start }),
    ...blocks.slice(0, 1),
    event({ type: 'ping' }),
    ...blocks.slice(1),
  ];
  if (context.turn.failure !== undefined) {
    const { message, code } = context.turn.failure;
    // The error event is the error body without its request id (anthropic-in-stream-error-a).
    const { error, type } = createErrorBody(context.vendor, { status: 500, message, type: code });
    return [...opening, event({ type: String(type), error })];
  }
  return [
    ...opening,
    event({
      type: 'message_delta',
      delta: stop(context.turn),
      usage: { ...inputUsage(context.usage), output_tokens: outputTokens(context.usage) },
    }),
    event({ type: 'message_stop' }),
  ];
}

function blocksOf({ vendor, body, turn }: TurnContext): WrittenBlock[] {
  const blocks: WrittenBlock[] = [];
  if (turn.reasoning !== undefined && turn.redacted === true)
    blocks.push({ type: 'redacted_thinking', data: createSignedToken(vendor, { thinking: turn.reasoning }) });
  else if (turn.reasoning !== undefined) {
    const signature = createThinkingSignature(vendor, turn.reasoning, currentTurn(anthropicBody(body).messages));
    blocks.push({ type: 'thinking', thinking: turn.reasoning, signature });
  }
  const text = turn.text ?? turn.refusal ?? '';
  if (text !== '') blocks.push({ type: 'text', text });
  for (const call of turn.calls)
    blocks.push({
      type: 'tool_use',
      id: call.id ?? `toolu_01${randomAlphanumeric(22)}`,
      name: call.name,
      input: inputOf(call.arguments),
    });
  return blocks;
}

/** The wire carries parsed arguments, so it cannot carry arguments that aren't JSON. */
function inputOf(text: string): unknown {
  const value = readJson(text);
  return value === undefined ? {} : value;
}

function blockEvents(block: WrittenBlock, index: number, turn: ModelTurn): SseEvent[] {
  const start = (content_block: JsonObject): SseEvent => event({ type: 'content_block_start', index, content_block });
  const delta = (change: JsonObject): SseEvent => event({ type: 'content_block_delta', index, delta: change });
  const end = event({ type: 'content_block_stop', index });
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...splitWords(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        end,
      ];
    case 'redacted_thinking':
      return [start({ ...block }), end];
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...splitWords(block.text).map((text) => delta({ type: 'text_delta', text })),
        end,
      ];
    case 'tool_use': {
      // A script may contain invalid JSON, which only the stream can carry.
      const written =
        turn.calls.find((call) => call.name === block.name && sameInput(call.arguments, block.input))?.arguments ??
        JSON.stringify(block.input);
      const partial = written === '{}' ? [] : splitCharacters(written, 9);
      return [
        start({ ...block, input: {} }),
        delta({ type: 'input_json_delta', partial_json: '' }),
        ...partial.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        end,
      ];
    }
  }
}

function sameInput(written: string, input: unknown): boolean {
  return JSON.stringify(inputOf(written)) === JSON.stringify(input);
}

function envelope(context: TurnContext): JsonObject {
  return { id: `msg_01${randomAlphanumeric(22)}`, type: 'message', role: 'assistant', model: context.model };
}

function stop(turn: ModelTurn): JsonObject {
  return { stop_reason: stopReason(turn), stop_sequence: null };
}

function stopReason(turn: ModelTurn): string {
  if (turn.refusal !== undefined || turn.ending === 'content_filter') return 'refusal';
  if (turn.ending === 'max_output_tokens') return 'max_tokens';
  return turn.calls.length > 0 ? 'tool_use' : 'end_turn';
}

/** `input_tokens` excludes what is read from the cache and written to it. */
function inputUsage({ input, cached, written = 0, writtenForAnHour = 0 }: TokenCount): JsonObject {
  return {
    input_tokens: input - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    ...(written === 0
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: written - writtenForAnHour,
            ephemeral_1h_input_tokens: writtenForAnHour,
          },
        }),
  };
}

function outputTokens(count: TokenCount): number {
  return count.output + count.reasoning;
}

function event(data: JsonObject & { readonly type: string }): SseEvent {
  return { event: data.type, data: JSON.stringify(data) };
}
