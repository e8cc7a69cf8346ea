/**
 * Compaction on request: the response is one signed summary, which later requests have as their first block.
 * https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand
 */
import type { JsonObject, VendorName, WireName } from '../../../business/ai/domain/types/VendorTypes';
import { asString, isObject } from '../../json';
import type { Conversation } from '../../model/Conversation';
import { countInputTokens } from '../../model/countTokens';
import { estimateTokens } from '../../model/ModelTurn';
import { randomAlphanumeric } from '../../randomIds';
import { createRequestIdHeaders } from '../../rendering/createRequestIdHeaders';
import { renderJson } from '../../rendering/RenderedResponse';
import type { RenderedResponse } from '../../rendering/RenderedResponse';
import { createSignature } from '../../signatures';
import { reject } from '../../validation/Rejection';
import type { Rejection } from '../../validation/Rejection';
import type { WireRequest } from '../WireSimulator';
import { blocksOf } from './anthropicBody';
import type { AnthropicBody } from './anthropicBody';

const BETA = 'compact-2026-09-04';

export function isAnthropicCompaction(wire: WireName, { compaction }: JsonObject): boolean {
  return wire === 'anthropic_messages' && isObject(compaction);
}

/** The usage of a compaction is one of its iterations, and no part of the sums. */
export function renderAnthropicCompaction(
  { vendor, model }: WireRequest,
  conversation: Conversation,
  content: string,
): RenderedResponse {
  const noCache = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const input_tokens = countInputTokens(conversation);
  const body = {
    id: `msg_01${randomAlphanumeric(22)}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      {
        type: 'compaction',
        content,
        encrypted_content: null,
        signature: createSignature(vendor, { summary: content }),
      },
    ],
    stop_reason: 'compaction',
    stop_sequence: null,
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      ...noCache,
      iterations: [
        { type: 'compaction', input_tokens, output_tokens: estimateTokens(content), ...noCache, cache_creation: null },
      ],
    },
  };
  return renderJson(200, body, createRequestIdHeaders(vendor));
}

/** A signed summary is the very first block, and its requests name the beta, as those that ask for one do. */
export function checkCompactions(
  body: AnthropicBody,
  headers: Readonly<Record<string, string>>,
): Rejection | undefined {
  const signed = signedBlocks(body);
  const isUsed = signed.length > 0 || isObject(body.compaction);
  if (isUsed && !(headers['anthropic-beta'] ?? '').split(',').includes(BETA))
    return reject(
      isObject(body.compaction)
        ? 'compaction: Extra inputs are not permitted'
        : 'messages.0.content.0.signature: Extra inputs are not permitted',
    );
  if (isObject(body.compaction) && isObject(body.context_management))
    return reject('compaction: cannot be combined with `context_management`');
  const misplaced = signed.find(({ message, block }) => message > 0 || block > 0);
  return misplaced === undefined
    ? undefined
    : reject(
        `messages.${misplaced.message}.content.${misplaced.block}: a \`compaction\` block must be the first of \`messages\``,
      );
}

/** Separate, because traffic that was recorded at the real vendor is exempt. */
export function checkCompactionSignatures(vendor: VendorName, body: AnthropicBody): Rejection | undefined {
  const forged = signedBlocks(body).find(
    ({ content, signature }) => signature !== createSignature(vendor, { summary: asString(content) }),
  );
  return forged === undefined
    ? undefined
    : reject(`messages.${forged.message}.content.${forged.block}: Invalid \`signature\` in \`compaction\` block`);
}

interface SignedBlock {
  readonly content: string | null | undefined;
  readonly signature: string;
  readonly message: number;
  readonly block: number;
}

function signedBlocks({ messages }: AnthropicBody): readonly SignedBlock[] {
  return messages.flatMap((each, message) =>
    blocksOf(each).flatMap((block, at) =>
      block.type === 'compaction' && typeof block.signature === 'string'
        ? [{ content: block.content, signature: block.signature, message, block: at }]
        : [],
    ),
  );
}
