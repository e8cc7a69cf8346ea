/** The habits in which hosts of the Chat Completions wire differ, each as in recorded traffic. */
import type { JsonObject, VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { hex, letters, uuid } from '../../ids';
import type { TokenCount } from '../../model/ModelTurn';

export interface ChatHost {
  readonly responseId: () => string;
  readonly callId: () => string;
  /** The field of a message that shows reasoning; OpenAI's hosts show none. */
  readonly reasoningField?: 'reasoning' | 'reasoning_content';
  /** `content` of a message that only calls tools. */
  readonly contentBesideCalls: 'null' | 'empty' | 'absent';
  /** `refusal` and `annotations` stand in every message. */
  readonly namesRefusal: boolean;
  /** All arguments of a call come in one delta. */
  readonly wholeArguments: boolean;
  /** The role stands in every delta, not in the first alone. */
  readonly roleInEveryDelta: boolean;
  /** `choices` carry `logprobs`, and `finish_reason: null` until the end. */
  readonly nullsUntilEnd: boolean;
  /** Azure's content filter speaks first and in every choice. */
  readonly contentFilter: boolean;
  /** Groq reports usage under `x_groq` in the last choice, without being asked. */
  readonly groqUsage: boolean;
  /**
   * After an error chunk come zero usage and `[DONE]` (openai-chat-in-stream-error-b); Groq's stream just ends
   * (groq-in-stream-error-a).
   */
  readonly doneAfterError: boolean;
  readonly systemFingerprint: string | null;
  readonly usage: (count: TokenCount) => JsonObject;
}

const REFERENCE: ChatHost = {
  responseId: () => `chatcmpl-${letters(29)}`,
  callId: () => `call_${letters(24)}`,
  contentBesideCalls: 'null',
  namesRefusal: true,
  wholeArguments: false,
  roleInEveryDelta: false,
  nullsUntilEnd: true,
  contentFilter: false,
  groqUsage: false,
  doneAfterError: true,
  systemFingerprint: 'fp_simulated',
  usage: openaiUsage,
};

const COMPATIBLE: ChatHost = {
  ...REFERENCE,
  responseId: () => `chatcmpl-${hex(12)}`,
  callId: () => `call_${letters(8).toLowerCase()}`,
  reasoningField: 'reasoning',
  contentBesideCalls: 'empty',
  namesRefusal: false,
  wholeArguments: true,
  usage: plainUsage,
};

/**
 * Recordings: openai-chat-*, azure-chat-*, xai-chat-*, groq-*, llama-*. Wires that a vendor doesn't speak have no
 * row.
 */
export const CHAT_HOSTS: Partial<Record<VendorName, ChatHost>> = {
  openai: REFERENCE,
  azure_openai: { ...REFERENCE, contentFilter: true },
  grok: {
    ...REFERENCE,
    responseId: uuid,
    callId: () => `call_${parseInt(hex(7), 16).toString().padStart(8, '0').slice(0, 8)}`,
    reasoningField: 'reasoning_content',
    contentBesideCalls: 'empty',
    wholeArguments: true,
    roleInEveryDelta: true,
    nullsUntilEnd: false,
    usage: xaiUsage,
  },
  groq: {
    ...REFERENCE,
    responseId: () => `chatcmpl-${uuid()}`,
    callId: () => letters(9).toLowerCase(),
    reasoningField: 'reasoning',
    contentBesideCalls: 'absent',
    namesRefusal: false,
    wholeArguments: true,
    groqUsage: true,
    doneAfterError: false,
    usage: groqUsage,
  },
  llama: COMPATIBLE,
  openai_compatible: COMPATIBLE,
};

export function chatHost(vendor: VendorName): ChatHost {
  return CHAT_HOSTS[vendor] ?? COMPATIBLE;
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

/** Reasoning is left out of `completion_tokens` but not of the total (xai-chat-stream-reasoning-a). */
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
