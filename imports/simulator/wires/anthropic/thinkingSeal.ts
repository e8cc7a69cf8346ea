/**
 * The signature on a thinking block. It seals the thinking itself and, while the turn goes on, what the turn held
 * before it: within a tool loop nothing may be edited,
 * https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks.
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { sealOf } from '../../seals';
import { mergedMessages, resultText } from './anthropicBody';
import type { Block, Message } from './anthropicBody';

export function signatureFor(vendor: VendorName, thinking: string, before: readonly Block[]): string {
  return Buffer.from(
    `${sealOf(vendor, { thinking })}.${sealOf(vendor, { thinking, before: before.map(essence) })}`,
  ).toString('base64');
}

export type SealVerdict = 'intact' | 'forged' | 'edited before';

/** `before` is given for blocks of the turn that still goes on. */
export function verifySignature(
  vendor: VendorName,
  signature: string,
  thinking: string,
  before: readonly Block[] | undefined,
): SealVerdict {
  const [own, context] = Buffer.from(signature, 'base64').toString().split('.');
  if (own !== sealOf(vendor, { thinking })) return 'forged';
  if (before === undefined) return 'intact';
  return context === sealOf(vendor, { thinking, before: before.map(essence) }) ? 'intact' : 'edited before';
}

/** The blocks since the user last spoke: what an answer to `messages` is sealed to. */
export function currentTurn(messages: readonly Message[]): readonly Block[] {
  const merged = mergedMessages(messages);
  return merged.slice(turnStart(messages)).flatMap((message) => message.blocks);
}

/** Index among the merged messages of the last user message that isn't an answer to calls. */
export function turnStart(messages: readonly Message[]): number {
  return Math.max(
    0,
    mergedMessages(messages).findLastIndex(
      (message) => message.role === 'user' && !message.blocks.some((block) => block.type === 'tool_result'),
    ),
  );
}

/** What a block says, without marks like cache controls that may come and go. */
function essence(block: Block): unknown {
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
