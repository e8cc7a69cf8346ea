/** An answer in the Messages wire: one body, or events from `message_start` to `message_stop`. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { errorBody } from '../../answers/errorBody';
import { letters } from '../../ids';
import type { ModelTurn, TokenCount } from '../../model/ModelTurn';
import { sealUp } from '../../seals';
import { pieces, words } from '../pieces';
import type { Answer, SseEvent } from '../WireSimulator';
import { anthropicBody } from './anthropicBody';
import { currentTurn, signatureFor } from './thinkingSeal';

type WrittenBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

export function writeAnthropic(answer: Answer): JsonObject {
  return {
    ...envelope(answer),
    content: blocksOf(answer),
    ...stop(answer.turn),
    usage: { ...inputUsage(answer.usage), output_tokens: outputTokens(answer.usage), service_tier: 'standard' },
  };
}

export function streamAnthropic(answer: Answer): readonly SseEvent[] {
  const start = {
    ...envelope(answer),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...inputUsage(answer.usage), output_tokens: 1 },
  };
  const blocks = blocksOf(answer).flatMap((block, index) => blockEvents(block, index, answer.turn));
  const opening = [
    event({ type: 'message_start', message: start }),
    ...blocks.slice(0, 1),
    event({ type: 'ping' }),
    ...blocks.slice(1),
  ];
  if (answer.turn.failure !== undefined) {
    const { message, code } = answer.turn.failure;
    // The error event is the error body without its request id (anthropic-in-stream-error-a).
    const { error, type } = errorBody(answer.vendor, { status: 500, message, type: code });
    return [...opening, event({ type: String(type), error })];
  }
  return [
    ...opening,
    event({
      type: 'message_delta',
      delta: stop(answer.turn),
      usage: { ...inputUsage(answer.usage), output_tokens: outputTokens(answer.usage) },
    }),
    event({ type: 'message_stop' }),
  ];
}

function blocksOf({ vendor, body, turn }: Answer): WrittenBlock[] {
  const blocks: WrittenBlock[] = [];
  if (turn.reasoning !== undefined && turn.redacted === true)
    blocks.push({ type: 'redacted_thinking', data: sealUp(vendor, { thinking: turn.reasoning }) });
  else if (turn.reasoning !== undefined) {
    const signature = signatureFor(vendor, turn.reasoning, currentTurn(anthropicBody(body).messages));
    blocks.push({ type: 'thinking', thinking: turn.reasoning, signature });
  }
  const text = turn.text ?? turn.refusal ?? '';
  if (text !== '') blocks.push({ type: 'text', text });
  for (const call of turn.calls)
    blocks.push({
      type: 'tool_use',
      id: call.id ?? `toolu_01${letters(22)}`,
      name: call.name,
      input: inputOf(call.arguments),
    });
  return blocks;
}

/** The wire carries parsed arguments; what isn't a JSON object has no form on it. */
function inputOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}

function blockEvents(block: WrittenBlock, index: number, turn: ModelTurn): SseEvent[] {
  const start = (content_block: JsonObject): SseEvent => event({ type: 'content_block_start', index, content_block });
  const delta = (change: JsonObject): SseEvent => event({ type: 'content_block_delta', index, delta: change });
  const end = event({ type: 'content_block_stop', index });
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...words(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        end,
      ];
    case 'redacted_thinking':
      return [start({ ...block }), end];
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...words(block.text).map((text) => delta({ type: 'text_delta', text })),
        end,
      ];
    case 'tool_use': {
      // Broken arguments can be scripted: the stream carries them as text.
      const written =
        turn.calls.find((call) => call.name === block.name && sameInput(call.arguments, block.input))?.arguments ??
        JSON.stringify(block.input);
      const partial = written === '{}' ? [] : pieces(written, 9);
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

function envelope(answer: Answer): JsonObject {
  return { id: `msg_01${letters(22)}`, type: 'message', role: 'assistant', model: answer.model };
}

function stop(turn: ModelTurn): JsonObject {
  return { stop_reason: stopReason(turn), stop_sequence: null };
}

function stopReason(turn: ModelTurn): string {
  if (turn.refusal !== undefined || turn.ending === 'content_filter') return 'refusal';
  if (turn.ending === 'max_output_tokens') return 'max_tokens';
  return turn.calls.length > 0 ? 'tool_use' : 'end_turn';
}

/** `input_tokens` leaves out what came from the cache. */
function inputUsage(count: TokenCount): JsonObject {
  return {
    input_tokens: count.input - count.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: count.cached,
  };
}

function outputTokens(count: TokenCount): number {
  return count.output + count.reasoning;
}

function event(data: JsonObject & { readonly type: string }): SseEvent {
  return { event: data.type, data: JSON.stringify(data) };
}
