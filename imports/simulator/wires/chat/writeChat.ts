/** An answer in the Chat Completions wire: one body, or chunks that end with `[DONE]`. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { errorBody } from '../../answers/errorBody';
import { letters } from '../../ids';
import type { ModelTurn } from '../../model/ModelTurn';
import { pieces, words } from '../pieces';
import type { Answer, SseEvent } from '../WireSimulator';
import { chatBody } from './chatBody';
import { chatHost } from './chatHosts';
import type { ChatHost } from './chatHosts';

export function writeChat(answer: Answer): JsonObject {
  const host = chatHost(answer.vendor);
  const { turn } = answer;
  const choice = {
    index: 0,
    message: messageOf(turn, host),
    logprobs: null,
    finish_reason: finishReason(turn),
    ...filterResults(host, true),
  };
  return {
    ...envelope(answer, host, 'chat.completion'),
    choices: [choice],
    usage: host.usage(answer.usage),
    ...(host.contentFilter ? { prompt_filter_results: PROMPT_FILTER } : {}),
    ...(host.groqUsage ? { x_groq: { id: `req_${letters(26).toLowerCase()}` } } : {}),
  };
}

export function streamChat(answer: Answer): readonly SseEvent[] {
  const host = chatHost(answer.vendor);
  const { turn } = answer;
  const base = envelope(answer, host, 'chat.completion.chunk');
  const chunk = (delta: JsonObject | undefined, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
    ...base,
    choices: [
      {
        index: 0,
        ...(delta === undefined
          ? {}
          : { delta: host.roleInEveryDelta && finish === null ? { role: 'assistant', ...delta } : delta }),
        ...(host.nullsUntilEnd ? { logprobs: null } : {}),
        ...(host.nullsUntilEnd || finish !== null ? { finish_reason: finish } : {}),
        ...filterResults(host, delta?.content !== undefined),
      },
    ],
    ...more,
  });
  const deltas = deltasOf(turn, host).map((delta) => chunk(delta));
  const chunks = [...opening(chunk, host), ...deltas];
  if (turn.failure !== undefined) return [...chunks.map(event), ...failing(answer, turn.failure, host, base)];
  const usage = host.usage(answer.usage);
  chunks.push(
    chunk(
      {},
      finishReason(turn),
      host.groqUsage ? { x_groq: { id: `req_${letters(26).toLowerCase()}`, usage }, usage } : {},
    ),
  );
  if (chatBody(answer.body).stream_options?.include_usage === true && !host.groqUsage)
    chunks.push({ ...base, choices: [], usage });
  return [...chunks.map(event), { data: '[DONE]' }];
}

/**
 * Azure's filter speaks before the model, in a chunk without choices, and its next chunk has no delta
 * (azure-chat-stream-text-a).
 */
function opening(
  chunk: (delta: JsonObject | undefined, finish?: null, more?: JsonObject) => JsonObject,
  host: ChatHost,
): JsonObject[] {
  if (host.contentFilter)
    return [
      { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: PROMPT_FILTER },
      chunk(undefined),
    ];
  if (host.roleInEveryDelta) return [];
  return [
    chunk(
      { role: 'assistant', content: host.reasoningField === undefined ? '' : null },
      null,
      host.groqUsage ? { x_groq: { id: `req_${letters(26).toLowerCase()}` } } : {},
    ),
  ];
}

function deltasOf(turn: ModelTurn, host: ChatHost): JsonObject[] {
  const reasoning =
    host.reasoningField === undefined
      ? []
      : words(turn.reasoning ?? '').map((word): JsonObject => ({ [host.reasoningField ?? 'reasoning']: word }));
  const text = words(turn.text ?? '').map((content): JsonObject => ({ content }));
  const refusal = words(turn.refusal ?? '').map((word): JsonObject =>
    host.namesRefusal ? { refusal: word } : { content: word },
  );
  const calls = turn.calls.flatMap((call, index) => {
    const id = call.id ?? host.callId();
    if (host.wholeArguments)
      return [
        { tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: call.arguments } }] },
      ];
    const head = { tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }] };
    return [
      head,
      ...pieces(call.arguments, 7).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  });
  return [...reasoning, ...text, ...refusal, ...calls];
}

function messageOf(turn: ModelTurn, host: ChatHost): JsonObject {
  const silent = turn.text === undefined && (turn.calls.length > 0 || turn.refusal !== undefined);
  const beside = { null: { content: null }, empty: { content: '' }, absent: {} }[host.contentBesideCalls];
  const refused = host.namesRefusal || turn.refusal === undefined ? {} : { content: turn.refusal };
  return {
    role: 'assistant',
    ...(silent ? beside : { content: turn.text ?? '' }),
    ...refused,
    ...(host.reasoningField === undefined || turn.reasoning === undefined
      ? {}
      : { [host.reasoningField]: turn.reasoning }),
    ...(turn.calls.length === 0
      ? {}
      : {
          tool_calls: turn.calls.map((call) => ({
            id: call.id ?? host.callId(),
            type: 'function',
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
    ...(host.namesRefusal ? { refusal: turn.refusal ?? null, annotations: [] } : {}),
  };
}

/** A refusal finishes with `stop` (openai-chat-refusal-a). */
function finishReason(turn: ModelTurn): string {
  if (turn.ending === 'max_output_tokens') return 'length';
  if (turn.ending === 'content_filter') return 'content_filter';
  return turn.calls.length > 0 ? 'tool_calls' : 'stop';
}

function envelope(answer: Answer, host: ChatHost, object: string): JsonObject {
  return {
    id: host.responseId(),
    object,
    created: answer.createdAt,
    model: answer.model,
    system_fingerprint: host.systemFingerprint,
  };
}

/** An error as a chunk of its own. */
function failing(
  answer: Answer,
  failure: NonNullable<ModelTurn['failure']>,
  host: ChatHost,
  base: JsonObject,
): SseEvent[] {
  const error = event(
    errorBody(answer.vendor, { status: 500, message: failure.message, code: failure.code, type: 'server_error' }),
  );
  if (!host.doneAfterError) return [error];
  const nothing = { input: 0, cached: 0, output: 0, reasoning: 0 };
  return [error, event({ ...base, choices: [], usage: host.usage(nothing) }), { data: '[DONE]' }];
}

function event(chunk: JsonObject): SseEvent {
  return { data: JSON.stringify(chunk) };
}

const SAFE = { filtered: false, severity: 'safe' };
const CATEGORIES = { hate: SAFE, self_harm: SAFE, sexual: SAFE, violence: SAFE };
const PROMPT_FILTER = [
  { prompt_index: 0, content_filter_results: { ...CATEGORIES, jailbreak: { filtered: false, detected: false } } },
];

function filterResults(host: ChatHost, spoken: boolean): JsonObject {
  return host.contentFilter ? { content_filter_results: spoken ? CATEGORIES : {} } : {};
}
