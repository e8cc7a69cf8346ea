/**
 * The signature on a thinking block. It covers the thinking itself and, within the current turn, everything before it:
 * nothing may be modified within a tool loop,
 * https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks.
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { createSignature } from '../../signatures';
import { mergedMessages, resultText } from './anthropicBody';
import type { Block, Message } from './anthropicBody';

export function createThinkingSignature(vendor: VendorName, thinking: string, before: readonly Block[]): string {
  return Buffer.from(
    `${createSignature(vendor, { thinking })}.${createSignature(vendor, { thinking, before: before.map(signedContent) })}`,
  ).toString('base64');
}

export type SignatureVerdict = 'intact' | 'forged' | 'context modified';

/** @param before the preceding blocks of the current turn; undefined for blocks of earlier turns */
export function verifyThinkingSignature(
  vendor: VendorName,
  signature: string,
  thinking: string,
  before: readonly Block[] | undefined,
): SignatureVerdict {
  const [own, context] = Buffer.from(signature, 'base64').toString().split('.');
  if (own !== createSignature(vendor, { thinking })) return 'forged';
  if (before === undefined) return 'intact';
  return context === createSignature(vendor, { thinking, before: before.map(signedContent) })
    ? 'intact'
    : 'context modified';
}

/** The blocks since the last user message, which the signatures in a response to `messages` cover. */
export function currentTurn(messages: readonly Message[]): readonly Block[] {
  const merged = mergedMessages(messages);
  return merged.slice(turnStart(messages)).flatMap((message) => message.blocks);
}

/** The index, among the merged messages, of the last user message without tool results. */
export function turnStart(messages: readonly Message[]): number {
  return Math.max(
    0,
    mergedMessages(messages).findLastIndex(
      (message) => message.role === 'user' && !message.blocks.some((block) => block.type === 'tool_result'),
    ),
  );
}

/** The content of a block, without metadata such as cache controls, which may change. */
function signedContent(block: Block): unknown {
  switch (block.type) {
    case 'text':
      return ['text', block.text];
    case 'thinking':
      return ['thinking', block.thinking];
    case 'redacted_thinking':
      return ['redacted', block.data];
    case 'tool_use':
      return ['call', block.id, block.name, block.input];
    case 'tool_result':
      return ['result', block.tool_use_id, resultText(block.content), block.is_error === true];
    default:
      return [block.type];
  }
}
