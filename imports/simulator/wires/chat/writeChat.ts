/** Writes a Chat Completions response: one body, or chunks that end with `[DONE]`. */
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { createErrorBody } from '../../rendering/createErrorBody';
import { randomAlphanumeric } from '../../randomIds';
import type { ModelTurn } from '../../model/ModelTurn';
import { splitCharacters, splitWords } from '../splitText';
import type { TurnContext, SseEvent } from '../WireSimulator';
import { chatBody } from './chatBody';
import { chatProfile } from './chatProfiles';
import type { ChatProfile } from './chatProfiles';

export function writeChat(context: TurnContext): JsonObject {
  const profile = chatProfile(context.vendor);
  const { turn } = context;
  const choice = {
    index: 0,
    message: messageOf(turn, profile),
    logprobs: null,
    finish_reason: finishReason(turn),
    ...filterResults(profile, true),
  };
  return {
    ...envelope(context, profile, 'chat.completion'),
    choices: [choice],
    usage: profile.usage(context.usage),
    ...(profile.contentFilter ? { prompt_filter_results: PROMPT_FILTER } : {}),
    ...(profile.groqUsage ? { x_groq: { id: `req_${randomAlphanumeric(26).toLowerCase()}` } } : {}),
  };
}

export function streamChat(context: TurnContext): readonly SseEvent[] {
  const profile = chatProfile(context.vendor);
  const { turn } = context;
  const base = envelope(context, profile, 'chat.completion.chunk');
  const chunk = (delta: JsonObject | undefined, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
    ...base,
    choices: [
      {
        index: 0,
        ...omitUndefined({
          delta: delta && profile.roleInEveryDelta && finish === null ? { role: 'assistant', ...delta } : delta,
        }),
        ...(profile.nullsUntilEnd ? { logprobs: null } : {}),
        ...(profile.nullsUntilEnd || finish !== null ? { finish_reason: finish } : {}),
        ...filterResults(profile, delta?.content !== undefined),
      },
    ],
    ...more,
  });
  const deltas = deltasOf(turn, profile).map((delta) => chunk(delta));
  const chunks = [...opening(chunk, profile), ...deltas];
  if (turn.failure !== undefined) return [...chunks.map(event), ...failureEvents(context, turn.failure, profile, base)];
  const usage = profile.usage(context.usage);
  chunks.push(
    chunk(
      {},
      finishReason(turn),
      profile.groqUsage ? { x_groq: { id: `req_${randomAlphanumeric(26).toLowerCase()}`, usage }, usage } : {},
    ),
  );
  if (chatBody(context.body).stream_options?.include_usage === true) chunks.push({ ...base, choices: [], usage });
  return [...chunks.map(event), { data: '[DONE]' }];
}

/**
 * Azure sends its prompt filter results first, in a chunk without choices, and the next chunk has no delta
 * (azure-chat-stream-text-a).
 */
function opening(
  chunk: (delta: JsonObject | undefined, finish?: null, more?: JsonObject) => JsonObject,
  profile: ChatProfile,
): JsonObject[] {
  if (profile.contentFilter)
    return [
      { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: PROMPT_FILTER },
      chunk(undefined),
    ];
  if (profile.roleInEveryDelta) return [];
  return [
    chunk(
      { role: 'assistant', content: profile.reasoningField === undefined ? '' : null },
      null,
      profile.groqUsage ? { x_groq: { id: `req_${randomAlphanumeric(26).toLowerCase()}` } } : {},
    ),
  ];
}

function deltasOf(turn: ModelTurn, profile: ChatProfile): JsonObject[] {
  const reasoning =
    profile.reasoningField === undefined
      ? []
      : splitWords(turn.reasoning ?? '').map((word): JsonObject => ({ [profile.reasoningField ?? 'reasoning']: word }));
  const text = splitWords(turn.text ?? '').map((content): JsonObject => ({ content }));
  const refusal = splitWords(turn.refusal ?? '').map((word): JsonObject =>
    profile.hasRefusalField ? { refusal: word } : { content: word },
  );
  const calls = turn.calls.flatMap((call, index) => {
    const id = call.id ?? profile.callId();
    if (profile.sendsArgumentsAtOnce)
      return [
        { tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: call.arguments } }] },
      ];
    const head = { tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }] };
    return [
      head,
      ...splitCharacters(call.arguments, 7).map((delta) => ({
        tool_calls: [{ index, function: { arguments: delta } }],
      })),
    ];
  });
  return [...reasoning, ...text, ...refusal, ...calls];
}

function messageOf(turn: ModelTurn, profile: ChatProfile): JsonObject {
  const hasNoText = turn.text === undefined && (turn.calls.length > 0 || turn.refusal !== undefined);
  const contentWithCalls = { null: { content: null }, empty: { content: '' }, absent: {} }[profile.contentWithCalls];
  const refusalAsContent = profile.hasRefusalField || turn.refusal === undefined ? {} : { content: turn.refusal };
  return {
    role: 'assistant',
    ...(hasNoText ? contentWithCalls : { content: turn.text ?? '' }),
    ...refusalAsContent,
    ...(profile.reasoningField === undefined || turn.reasoning === undefined
      ? {}
      : { [profile.reasoningField]: turn.reasoning }),
    ...(turn.calls.length === 0
      ? {}
      : {
          tool_calls: turn.calls.map((call) => ({
            id: call.id ?? profile.callId(),
            type: 'function',
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
    ...(profile.hasRefusalField ? { refusal: turn.refusal ?? null, annotations: [] } : {}),
  };
}

/** A refusal ends with `stop` (openai-chat-refusal-a). */
function finishReason(turn: ModelTurn): string {
  if (turn.ending === 'max_output_tokens') return 'length';
  if (turn.ending === 'content_filter') return 'content_filter';
  return turn.calls.length > 0 ? 'tool_calls' : 'stop';
}

function envelope(context: TurnContext, profile: ChatProfile, object: string): JsonObject {
  return {
    id: profile.responseId(),
    object,
    created: context.createdAt,
    model: context.model,
    system_fingerprint: profile.systemFingerprint,
  };
}

/** An error is a separate chunk. */
function failureEvents(
  context: TurnContext,
  failure: NonNullable<ModelTurn['failure']>,
  profile: ChatProfile,
  base: JsonObject,
): SseEvent[] {
  const error = event(
    createErrorBody(context.vendor, {
      status: 500,
      message: failure.message,
      code: failure.code,
      type: 'server_error',
    }),
  );
  if (!profile.doneAfterError) return [error];
  const noTokens = { input: 0, cached: 0, output: 0, reasoning: 0 };
  return [error, event({ ...base, choices: [], usage: profile.usage(noTokens) }), { data: '[DONE]' }];
}

function event(chunk: JsonObject): SseEvent {
  return { data: JSON.stringify(chunk) };
}

const SAFE = { filtered: false, severity: 'safe' };
const CATEGORIES = { hate: SAFE, self_harm: SAFE, sexual: SAFE, violence: SAFE };
const PROMPT_FILTER = [
  { prompt_index: 0, content_filter_results: { ...CATEGORIES, jailbreak: { filtered: false, detected: false } } },
];

function filterResults(profile: ChatProfile, hasContent: boolean): JsonObject {
  return profile.contentFilter ? { content_filter_results: hasContent ? CATEGORIES : {} } : {};
}
