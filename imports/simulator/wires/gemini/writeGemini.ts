/** An answer in the generateContent wire: one body, or the same shape again and again as events without names. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { errorBody } from '../../answers/errorBody';
import { letters } from '../../ids';
import type { ModelCall, ModelTurn, TokenCount } from '../../model/ModelTurn';
import { phrases } from '../pieces';
import type { Answer, SseEvent } from '../WireSimulator';
import { geminiVersion } from './geminiBody';
import { thoughtSignature } from './thoughtSeal';

const WORDS_PER_EVENT = 5;

export function writeGemini(answer: Answer): JsonObject {
  const { turn } = answer;
  const parts = [...thoughts(turn), ...texts(answer, [turn.text ?? '']), ...calls(answer)];
  return { candidates: [candidate(parts, turn)], usageMetadata: usage(answer.usage), ...envelope(answer) };
}

export function streamGemini(answer: Answer): readonly SseEvent[] {
  const { turn, usage: count } = answer;
  const base = envelope(answer);
  const parts = [...thoughts(turn), ...texts(answer, phrases(turn.text ?? '', WORDS_PER_EVENT))].map((part) => [part]);
  const called = calls(answer);
  const groups = called.length > 0 ? [...parts, called] : parts;
  const chunk = (group: readonly JsonObject[]): JsonObject => ({
    candidates: [{ ...(group.length === 0 ? {} : { content: { parts: group, role: 'model' } }), index: 0 }],
    usageMetadata: { promptTokenCount: count.input, totalTokenCount: count.input },
    ...base,
  });
  if (turn.failure !== undefined)
    return [
      ...groups.map(chunk),
      errorBody(answer.vendor, { status: 500, message: turn.failure.message, code: turn.failure.code }),
    ].map(event);
  const last = { candidates: [candidate(groups.at(-1) ?? [], turn)], usageMetadata: usage(count), ...base };
  return [...groups.slice(0, -1).map(chunk), last].map(event);
}

function candidate(parts: readonly JsonObject[], turn: ModelTurn): JsonObject {
  // A stop for safety says nothing, and a candidate may come without content (gemini-safety-b).
  const content = parts.length === 0 ? {} : { content: { parts, role: 'model' } };
  return {
    ...content,
    finishReason: finishReason(turn),
    index: 0,
    ...(turn.refusal === undefined ? {} : { finishMessage: turn.refusal }),
  };
}

function finishReason(turn: ModelTurn): string {
  if (turn.refusal !== undefined) return 'PROHIBITED_CONTENT';
  return { complete: 'STOP', max_output_tokens: 'MAX_TOKENS', content_filter: 'SAFETY' }[turn.ending];
}

function thoughts(turn: ModelTurn): JsonObject[] {
  return turn.reasoning === undefined || turn.redacted === true ? [] : [{ text: turn.reasoning, thought: true }];
}

/** After thoughts the text is signed, on its first part (gemini-thought-text-stream-a). */
function texts({ vendor, turn }: Answer, said: readonly string[]): JsonObject[] {
  return said
    .filter((text) => text !== '')
    .map((text, index) => ({
      text,
      ...(turn.reasoning !== undefined && index === 0 ? { thoughtSignature: thoughtSignature(vendor, {}) } : {}),
    }));
}

/**
 * Only the first of parallel calls is signed (gemini-parallel-a), and only models from 3.1 on give ids
 * (gemini-tool-call-id-a).
 */
function calls({ vendor, model, turn }: Answer): JsonObject[] {
  const version = geminiVersion(model);
  return turn.calls.map((call, index) => {
    const functionCall = { name: call.name, args: argumentsOf(call), ...idOf(call, version) };
    const signed = index === 0 && (version >= 2.5 || turn.reasoning !== undefined);
    return { functionCall, ...(signed ? { thoughtSignature: thoughtSignature(vendor, { functionCall }) } : {}) };
  });
}

function idOf(call: ModelCall, version: number): { readonly id?: string } {
  if (call.id !== undefined) return { id: call.id };
  return version > 3 ? { id: `call_${letters(6).toLowerCase()}` } : {};
}

/** The wire carries parsed arguments; what isn't a JSON object has no form on it. */
function argumentsOf(call: ModelCall): JsonObject {
  try {
    const value: unknown = JSON.parse(call.arguments);
    // A parsed object is a JSON object.
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

function usage(count: TokenCount): JsonObject {
  return {
    promptTokenCount: count.input,
    candidatesTokenCount: count.output,
    totalTokenCount: count.input + count.output + count.reasoning,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: count.input }],
    ...(count.cached > 0 ? { cachedContentTokenCount: count.cached } : {}),
    ...(count.reasoning > 0 ? { thoughtsTokenCount: count.reasoning } : {}),
  };
}

function envelope({ model }: Answer): JsonObject {
  return { modelVersion: model, responseId: letters(23) };
}

function event(chunk: JsonObject): SseEvent {
  return { data: JSON.stringify(chunk) };
}
