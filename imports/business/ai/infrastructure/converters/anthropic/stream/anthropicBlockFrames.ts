/**
 * Splits content blocks for streaming, into the block of `content_block_start` and the deltas that follow.
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import { isObject } from '../../../../domain/util/json';
import type { Content, FunctionCallItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { toContentBlocks } from '../request/contentBlocks';
import { argumentsOrEmpty } from '../../stream/callItems';

export type DeltaKind = 'text' | 'thinking';

/** Blocks that are streamed in deltas. */
export const BLOCK_DELTAS = {
  text: { start: { type: 'text', text: '' }, name: 'text_delta', field: 'text' },
  thinking: { start: { type: 'thinking', thinking: '', signature: '' }, name: 'thinking_delta', field: 'thinking' },
} as const satisfies Record<DeltaKind, { readonly start: JsonObject; readonly name: string; readonly field: string }>;

/** A block's start and its deltas. */
export type BlockFrames = readonly [start: JsonObject, deltas: readonly JsonObject[]];

/** Splits a finished block. A stream never sends an input or a thinking signature in the start event. */
export function finishedBlock(block: JsonObject): BlockFrames {
  const { thinking, signature, input } = block;
  if (block.type === 'thinking' && typeof thinking === 'string') {
    const signatureDelta = typeof signature === 'string' ? [{ type: 'signature_delta', signature }] : [];
    return [
      { ...block, ...BLOCK_DELTAS.thinking.start },
      [...(thinking === '' ? [] : [{ type: 'thinking_delta', thinking }]), ...signatureDelta],
    ];
  }
  if (input === undefined) return [block, []];
  return [{ ...block, input: {} }, [inputDelta(JSON.stringify(input))]];
}

/** Splits a tool call, with its input exactly as the model wrote it. */
export function callBlock(call: FunctionCallItem): BlockFrames {
  const { input, ...block } = toContentBlocks(call).blocks[0] ?? {};
  return [{ ...block, input: {} }, [inputDelta(inputText(call, input))]];
}

/**
 * Arguments that are not a JSON object were wrapped in one. Arguments truncated by the token limit are streamed as they
 * are, so that the stream ends where the model did.
 */
function inputText(call: FunctionCallItem, input: unknown): string {
  if (!isObject(input)) return JSON.stringify(input);
  const isWrapped = input.arguments === call.arguments;
  return isWrapped && call.status !== 'incomplete' ? JSON.stringify(input) : argumentsOrEmpty(call);
}

function inputDelta(partial_json: string): JsonObject {
  return { type: 'input_json_delta', partial_json };
}

/** The original citations of this wire. It cannot express those of other wires. */
export function citationsOf(part: Content): readonly unknown[] {
  const citations = part.vendor?.anthropic?.citations;
  return Array.isArray(citations) ? citations : [];
}
