/** Writes a generateContent response: one body, or events of the same shape without names. */
import { readJson } from '../../../business/ai/domain/util/json';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { createErrorBody } from '../../rendering/createErrorBody';
import { randomAlphanumeric } from '../../randomIds';
import type { ModelCall, ModelTurn, TokenCount } from '../../model/ModelTurn';
import { splitPhrases } from '../splitText';
import type { TurnContext, SseEvent } from '../WireSimulator';
import { geminiVersion } from './geminiBody';
import { createThoughtSignature } from './thoughtSignature';

const WORDS_PER_EVENT = 5;

export function writeGemini(context: TurnContext): JsonObject {
  const { turn } = context;
  const parts = [...thoughtParts(turn), ...textParts(context, [turn.text ?? '']), ...callParts(context)];
  return { candidates: [candidate(parts, turn)], usageMetadata: usage(context.usage), ...envelope(context) };
}

export function streamGemini(context: TurnContext): readonly SseEvent[] {
  const { turn, usage: count } = context;
  const base = envelope(context);
  const parts = [...thoughtParts(turn), ...textParts(context, splitPhrases(turn.text ?? '', WORDS_PER_EVENT))].map(
    (part) => [part],
  );
  const calls = callParts(context);
  const groups = calls.length > 0 ? [...parts, calls] : parts;
  const chunk = (group: readonly JsonObject[]): JsonObject => ({
    candidates: [{ ...(group.length === 0 ? {} : { content: { parts: group, role: 'model' } }), index: 0 }],
    usageMetadata: { promptTokenCount: count.input, totalTokenCount: count.input },
    ...base,
  });
  if (turn.failure !== undefined)
    return [
      ...groups.map(chunk),
      createErrorBody(context.vendor, { status: 500, message: turn.failure.message, code: turn.failure.code }),
    ].map(event);
  const last = { candidates: [candidate(groups.at(-1) ?? [], turn)], usageMetadata: usage(count), ...base };
  return [...groups.slice(0, -1).map(chunk), last].map(event);
}

function candidate(parts: readonly JsonObject[], turn: ModelTurn): JsonObject {
  // A candidate that was stopped for safety has no content (gemini-safety-b).
  const content = parts.length === 0 ? {} : { content: { parts, role: 'model' } };
  return omitUndefined({ ...content, finishReason: finishReason(turn), index: 0, finishMessage: turn.refusal });
}

function finishReason(turn: ModelTurn): string {
  if (turn.refusal !== undefined) return 'PROHIBITED_CONTENT';
  return { complete: 'STOP', max_output_tokens: 'MAX_TOKENS', content_filter: 'SAFETY' }[turn.ending];
}

function thoughtParts(turn: ModelTurn): JsonObject[] {
  return turn.reasoning === undefined || turn.redacted === true ? [] : [{ text: turn.reasoning, thought: true }];
}

/** After thoughts, the first part of the text is signed (gemini-thought-text-stream-a). */
function textParts({ vendor, turn }: TurnContext, texts: readonly string[]): JsonObject[] {
  return texts
    .filter((text) => text !== '')
    .map((text, index) => ({
      text,
      ...(turn.reasoning !== undefined && index === 0 ? { thoughtSignature: createThoughtSignature(vendor, {}) } : {}),
    }));
}

/**
 * Only the first of parallel calls is signed (gemini-parallel-a), and only models from 3.1 on assign ids
 * (gemini-tool-call-id-a).
 */
function callParts({ vendor, model, turn }: TurnContext): JsonObject[] {
  const version = geminiVersion(model);
  return turn.calls.map((call, index) => {
    const functionCall = { name: call.name, args: argumentsOf(call), ...idOf(call, version) };
    const signed = index === 0 && (version >= 2.5 || turn.reasoning !== undefined);
    return { functionCall, ...(signed ? { thoughtSignature: createThoughtSignature(vendor, { functionCall }) } : {}) };
  });
}

function idOf(call: ModelCall, version: number): { readonly id?: string } {
  if (call.id !== undefined) return { id: call.id };
  return version > 3 ? { id: `call_${randomAlphanumeric(6).toLowerCase()}` } : {};
}

/** The wire carries parsed arguments, so it cannot carry arguments that aren't JSON. */
function argumentsOf(call: ModelCall): JsonObject {
  const value = readJson(call.arguments);
  // A parsed object is a JSON object.
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
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

function envelope({ model }: TurnContext): JsonObject {
  return { modelVersion: model, responseId: randomAlphanumeric(23) };
}

function event(chunk: JsonObject): SseEvent {
  return { data: JSON.stringify(chunk) };
}
