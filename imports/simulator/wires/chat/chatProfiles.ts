/** What differs between the vendors of the Chat Completions wire, as in recorded traffic. */
import type { JsonObject, VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { randomHex, randomAlphanumeric, randomUuid } from '../../randomIds';
import type { TokenCount } from '../../model/ModelTurn';

export interface ChatProfile {
  readonly responseId: () => string;
  readonly callId: () => string;
  /** The field of a message that carries reasoning; OpenAI sends none. */
  readonly reasoningField?: 'reasoning' | 'reasoning_content';
  /** The `content` of a message that only calls tools. */
  readonly contentWithCalls: 'null' | 'empty' | 'absent';
  /** Every message has `refusal` and `annotations`. */
  readonly hasRefusalField: boolean;
  /** Sends all arguments of a call in one delta. */
  readonly sendsArgumentsAtOnce: boolean;
  /** Sends the role in every delta, not only in the first. */
  readonly roleInEveryDelta: boolean;
  /** Sends `logprobs: null` with every choice, and `finish_reason: null` until the end. */
  readonly nullsUntilEnd: boolean;
  /** Sends Azure's content filter results, first and in every choice. */
  readonly contentFilter: boolean;
  /** Sends usage under `x_groq` in the last chunk even if it was not requested, as Groq does. */
  readonly groqUsage: boolean;
  /**
   * Sends zero usage and `[DONE]` after an error chunk (openai-chat-in-stream-error-b). Groq's stream just ends
   * (groq-in-stream-error-a).
   */
  readonly doneAfterError: boolean;
  readonly systemFingerprint: string | null;
  readonly usage: (count: TokenCount) => JsonObject;
}

const REFERENCE: ChatProfile = {
  responseId: () => `chatcmpl-${randomAlphanumeric(29)}`,
  callId: () => `call_${randomAlphanumeric(24)}`,
  contentWithCalls: 'null',
  hasRefusalField: true,
  sendsArgumentsAtOnce: false,
  roleInEveryDelta: false,
  nullsUntilEnd: true,
  contentFilter: false,
  groqUsage: false,
  doneAfterError: true,
  systemFingerprint: 'fp_simulated',
  usage: openaiUsage,
};

const COMPATIBLE: ChatProfile = {
  ...REFERENCE,
  responseId: () => `chatcmpl-${randomHex(12)}`,
  callId: () => `call_${randomAlphanumeric(8).toLowerCase()}`,
  reasoningField: 'reasoning',
  contentWithCalls: 'empty',
  hasRefusalField: false,
  sendsArgumentsAtOnce: true,
  usage: plainUsage,
};

/**
 * From the recordings openai-chat-*, azure-chat-*, xai-chat-*, groq-* and llama-*. Vendors that don't support the wire
 * have no row.
 */
export const CHAT_PROFILES: Partial<Record<VendorName, ChatProfile>> = {
  openai: REFERENCE,
  azure_openai: { ...REFERENCE, contentFilter: true },
  grok: {
    ...REFERENCE,
    responseId: randomUuid,
    callId: () => `call_${parseInt(randomHex(7), 16).toString().padStart(8, '0').slice(0, 8)}`,
    reasoningField: 'reasoning_content',
    contentWithCalls: 'empty',
    sendsArgumentsAtOnce: true,
    roleInEveryDelta: true,
    nullsUntilEnd: false,
    usage: xaiUsage,
  },
  groq: {
    ...REFERENCE,
    responseId: () => `chatcmpl-${randomUuid()}`,
    callId: () => randomAlphanumeric(9).toLowerCase(),
    reasoningField: 'reasoning',
    contentWithCalls: 'absent',
    hasRefusalField: false,
    sendsArgumentsAtOnce: true,
    groqUsage: true,
    doneAfterError: false,
    usage: groqUsage,
  },
  llama: COMPATIBLE,
  openai_compatible: COMPATIBLE,
};

export function chatProfile(vendor: VendorName): ChatProfile {
  return CHAT_PROFILES[vendor] ?? COMPATIBLE;
}

function plainUsage(count: TokenCount): JsonObject {
  const completion = count.output + count.reasoning;
  return {
    prompt_tokens: count.input,
    completion_tokens: completion,
    total_tokens: count.input + completion,
    prompt_tokens_details: { cached_tokens: count.cached },
  };
}

function openaiUsage(count: TokenCount): JsonObject {
  return {
    ...plainUsage(count),
    prompt_tokens_details: { cached_tokens: count.cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: count.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** `completion_tokens` excludes reasoning, `total_tokens` includes it (xai-chat-stream-reasoning-a). */
function xaiUsage(count: TokenCount): JsonObject {
  return {
    prompt_tokens: count.input,
    completion_tokens: count.output,
    total_tokens: count.input + count.output + count.reasoning,
    prompt_tokens_details: { text_tokens: count.input, audio_tokens: 0, image_tokens: 0, cached_tokens: count.cached },
    completion_tokens_details: {
      reasoning_tokens: count.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    num_sources_used: 0,
  };
}

function groqUsage(count: TokenCount): JsonObject {
  const completion = count.output + count.reasoning;
  return {
    queue_time: 0.001,
    prompt_tokens: count.input,
    prompt_time: 0.001,
    completion_tokens: completion,
    completion_time: 0.001,
    total_tokens: count.input + completion,
    total_time: 0.002,
    ...(count.cached > 0 ? { prompt_tokens_details: { cached_tokens: count.cached } } : {}),
    ...(count.reasoning > 0 ? { completion_tokens_details: { reasoning_tokens: count.reasoning } } : {}),
  };
}
