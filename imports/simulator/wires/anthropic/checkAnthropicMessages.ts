/**
 * Anthropic's rules for transcripts that are valid according to its schema,
 * https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use.
 */
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { readSignedToken } from '../../signatures';
import { firstRejection, reject } from '../../validation/Rejection';
import type { Rejection, Rule } from '../../validation/Rejection';
import type { WireRequest } from '../WireSimulator';
import { anthropicBody, blocksOf, mergedMessages, isThinkingEnabled } from './anthropicBody';
import type { AnthropicBody, Block, MergedMessage } from './anthropicBody';
import { checkCompactions, checkCompactionSignatures } from './anthropicCompaction';
import { checkAnthropicOptions } from './checkAnthropicOptions';
import { turnStart, verifyThinkingSignature } from './thinkingSignature';

export interface Transcript {
  readonly vendor: VendorName;
  readonly body: AnthropicBody;
  readonly merged: readonly MergedMessage[];
}

const RULES: readonly Rule<Transcript>[] = [
  rejectEmptyText,
  rejectTrailingWhitespace,
  rejectInvalidCallIds,
  rejectDuplicateCallIds,
  rejectUnansweredCalls,
  rejectOrphanedResults,
  rejectResultsAfterText,
  rejectDuplicateResults,
  rejectToolLoopWithoutThinking,
];

export function checkAnthropicMessages(request: WireRequest): Rejection | undefined {
  const body = anthropicBody(request.body);
  return (
    checkCompactions(body, request.headers) ??
    rejectToolChanges(body, request.headers['anthropic-beta']) ??
    firstRejection(RULES, { vendor: request.vendor, body, merged: mergedMessages(body.messages) }) ??
    checkAnthropicOptions(request.model, body, request.headers['anthropic-version'])
  );
}

/**
 * Signatures and redacted thinking must be issued by this vendor and unmodified. Separate from the other rules,
 * because traffic that was recorded at the real vendor is exempt.
 */
export function checkThinkingSignatures({ vendor, body: raw }: WireRequest): Rejection | undefined {
  const body = anthropicBody(raw);
  const forged = checkCompactionSignatures(vendor, body);
  if (forged !== undefined) return forged;
  const merged = mergedMessages(body.messages);
  const start = turnStart(body.messages);
  const before: Block[] = [];
  for (const [index, message] of merged.entries()) {
    for (const [at, block] of message.blocks.entries()) {
      const [messageAt, blockAt] = message.positions[at] ?? [index, at];
      const path = `messages.${messageAt}.content.${blockAt}`;
      if (block.type === 'thinking') {
        const verdict = verifyThinkingSignature(
          vendor,
          block.signature,
          block.thinking,
          index >= start ? before : undefined,
        );
        if (verdict === 'forged') return reject(`${path}: Invalid \`signature\` in \`thinking\` block`);
        if (verdict === 'context modified') {
          return reject(
            `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. ` +
              'These blocks must remain as they were in the original response.',
          );
        }
      }
      if (block.type === 'redacted_thinking' && readSignedToken(vendor, block.data) === undefined)
        return reject(`${path}: Invalid \`data\` in \`redacted_thinking\` block`);
      if (index >= start) before.push(block);
    }
  }
  return undefined;
}

const TOOL_CHANGES_BETA = 'mid-conversation-tool-changes-2026-07-01';

/**
 * Only with the beta, and in system messages. The wording is that of other unknown blocks:
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
function rejectToolChanges({ messages }: AnthropicBody, betas = ''): Rejection | undefined {
  for (const [index, message] of messages.entries()) {
    const at = blocksOf(message).findIndex(({ type }) => type === 'tool_addition' || type === 'tool_removal');
    if (at < 0 || (message.role === 'system' && betas.split(',').includes(TOOL_CHANGES_BETA))) continue;
    return reject(
      `messages.${index}.content.${at}: Input tag '${String(blocksOf(message)[at]?.type)}' found using 'type' does not ` +
        'match any of the expected tags',
    );
  }
  return undefined;
}

/** Text blocks and string messages must not be empty, except for a final assistant message. */
function rejectEmptyText({ body: { messages } }: Transcript): Rejection | undefined {
  for (const [index, message] of messages.entries()) {
    const last = index === messages.length - 1 && message.role === 'assistant';
    if (message.content.length === 0 && !last)
      return reject(
        `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
      );
    if (
      blocksOf(message).some((block) => block.type === 'text' && block.text === '') &&
      !(last && message.content === '')
    )
      return reject('messages: text content blocks must be non-empty');
    if (blocksOf(message).some((block) => block.type === 'text' && block.text.trim() === '') && !last)
      return reject('messages: text content blocks must contain non-whitespace text');
  }
  return undefined;
}

function rejectTrailingWhitespace({ merged }: Transcript): Rejection | undefined {
  const last = merged.at(-1);
  const block = last?.role === 'assistant' ? last.blocks.at(-1) : undefined;
  return block?.type === 'text' && block.text !== block.text.trimEnd()
    ? reject('messages: final assistant content cannot end with trailing whitespace')
    : undefined;
}

/** Call ids consist of letters, digits, `_` and `-`. */
function rejectInvalidCallIds({ merged }: Transcript): Rejection | undefined {
  for (const { block, path } of blocksWithPaths(merged)) {
    const [id, field] =
      block.type === 'tool_use'
        ? [block.id, 'tool_use.id']
        : block.type === 'tool_result'
          ? [block.tool_use_id, 'tool_result.tool_use_id']
          : [undefined, ''];
    if (id !== undefined && !/^[a-zA-Z0-9_-]+$/.test(id))
      return reject(`${path}.${field}: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  return undefined;
}

/** github.com/trycua/cua/issues/524 */
function rejectDuplicateCallIds({ merged }: Transcript): Rejection | undefined {
  const seen = new Set<string>();
  for (const { block, path } of blocksWithPaths(merged)) {
    if (block.type !== 'tool_use') continue;
    if (seen.has(block.id)) return reject(`${path}: \`tool_use\` ids must be unique`);
    seen.add(block.id);
  }
  return undefined;
}

/** Every call needs its result in the next message. */
function rejectUnansweredCalls({ merged }: Transcript): Rejection | undefined {
  for (const [index, message] of merged.entries()) {
    const answered = new Set(resultIds(merged[index + 1]));
    const missing = callIds(message).filter((id) => !answered.has(id));
    if (missing.length > 0) {
      const sentence = 'Each `tool_use` block must have a corresponding `tool_result` block in the next message.';
      return reject(
        `messages.${messageIndex(message)}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. ${sentence}`,
      );
    }
  }
  return undefined;
}

function rejectOrphanedResults({ merged }: Transcript): Rejection | undefined {
  for (const [index, message] of merged.entries()) {
    const before = merged[index - 1];
    const calls = new Set(before === undefined ? [] : callIds(before));
    for (const [at, block] of message.blocks.entries()) {
      if (block.type !== 'tool_result' || calls.has(block.tool_use_id)) continue;
      const sentence = 'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.';
      return reject(
        `${pathOf(message, at)}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. ${sentence}`,
      );
    }
  }
  return undefined;
}

/** "tool_result blocks must come first in the content array. Any text must come after all tool results." */
function rejectResultsAfterText({ merged }: Transcript): Rejection | undefined {
  for (const message of merged) {
    const first = message.blocks.findIndex((block) => block.type !== 'tool_result');
    const late = first < 0 ? undefined : message.blocks.slice(first).find((block) => block.type === 'tool_result');
    if (late?.type === 'tool_result') {
      const sentence = 'Each `tool_use` block must have a corresponding `tool_result` block in the next message.';
      return reject(
        `messages.${messageIndex(message)}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${late.tool_use_id}. ${sentence}`,
      );
    }
  }
  return undefined;
}

function rejectDuplicateResults({ merged }: Transcript): Rejection | undefined {
  for (const message of merged) {
    const ids = resultIds(message);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice !== undefined)
      return reject(
        `messages.${messageIndex(message)}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${twice}`,
      );
  }
  return undefined;
}

/**
 * With a thinking budget, the assistant's last message in a tool loop must start with thinking. Adaptive thinking
 * doesn't require that.
 */
function rejectToolLoopWithoutThinking({ body, merged }: Transcript): Rejection | undefined {
  if (!isThinkingEnabled(body) || body.thinking?.type === 'adaptive') return undefined;
  const index = merged.findLastIndex((message) => message.role === 'assistant');
  const message = merged[index];
  const first = message?.blocks[0];
  const inLoop = message !== undefined && index >= turnStart(body.messages) && callIds(message).length > 0;
  if (!inLoop || first === undefined || first.type === 'thinking' || first.type === 'redacted_thinking')
    return undefined;
  return reject(
    [
      `messages.${messageIndex(message)}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`.`,
      'When `thinking` is enabled, a final `assistant` message must start with a thinking block',
      '(preceeding the lastmost set of `tool_use` and `tool_result` blocks).',
    ].join(' '),
  );
}

function callIds(message: MergedMessage): readonly string[] {
  return message.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

function resultIds(message: MergedMessage | undefined): readonly string[] {
  return message?.blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])) ?? [];
}

function blocksWithPaths(
  merged: readonly MergedMessage[],
): readonly { readonly block: Block; readonly path: string }[] {
  return merged.flatMap((message) => message.blocks.map((block, at) => ({ block, path: pathOf(message, at) })));
}

function pathOf(message: MergedMessage, at: number): string {
  const [messageAt, blockAt] = message.positions[at] ?? [0, at];
  return `messages.${messageAt}.content.${blockAt}`;
}

function messageIndex(message: MergedMessage): number {
  return message.positions[0]?.[0] ?? 0;
}
