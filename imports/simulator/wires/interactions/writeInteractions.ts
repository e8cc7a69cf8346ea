/** Writes an interaction: one body, or events. https://ai.google.dev/gemini-api/docs/interactions/streaming */
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { parseJson } from '../../json';
import type { ModelCall, TokenCount } from '../../model/ModelTurn';
import { randomAlphanumeric } from '../../randomIds';
import { splitCharacters, splitPhrases } from '../splitText';
import type { Rejection } from '../../validation/Rejection';
import type { SseEvent, TurnContext } from '../WireSimulator';
import { thoughtSignature } from './checkInteractions';
import { interactionsBody, stepsOf } from './interactionsBody';

const WORDS_PER_EVENT = 5;
const CHARACTERS_PER_EVENT = 24;

export function writeInteraction(context: TurnContext): JsonObject {
  const interaction = interactionOf(context);
  archive(context, interaction);
  const { background: _, ...body } = interaction;
  return interaction.background === true ? { ...body, status: 'in_progress', steps: [], usage: undefined } : body;
}

export function streamInteraction(context: TurnContext): readonly SseEvent[] {
  const interaction = interactionOf(context);
  archive(context, interaction);
  const { background: _, steps, usage, ...body } = interaction;
  const { id } = body;
  const failure = failureOf(context);
  const started = { ...body, object: 'interaction', status: 'in_progress' };
  return [
    event({ event_type: 'interaction.created', interaction: started }),
    event({ event_type: 'interaction.status_update', interaction_id: id, status: 'in_progress' }),
    ...(steps as readonly JsonObject[]).flatMap((step, index) => eventsOf(step, index)),
    failure === undefined
      ? event({ event_type: 'interaction.completed', interaction: { ...body, object: 'interaction', usage } })
      : event({ event_type: 'error', error: failure }),
    { event: 'done', data: '[DONE]' },
  ];
}

function eventsOf(step: JsonObject, index: number): readonly SseEvent[] {
  const { type } = step;
  const start = type === 'function_call' ? { ...step, arguments: {} } : { type };
  return [
    event({ event_type: 'step.start', index, step: start }),
    ...deltasOf(step).map((delta) => event({ event_type: 'step.delta', index, delta })),
    event({ event_type: 'step.stop', index }),
  ];
}

function deltasOf(step: JsonObject): readonly JsonObject[] {
  switch (step.type) {
    case 'thought':
      return [
        ...((step.summary ?? []) as readonly { readonly text: string }[]).flatMap(({ text }) =>
          splitPhrases(text, WORDS_PER_EVENT).map((piece) => ({
            type: 'thought_summary',
            content: { type: 'text', text: piece },
          })),
        ),
        { type: 'thought_signature', signature: step.signature },
      ];
    case 'function_call':
      return splitCharacters(JSON.stringify(step.arguments), CHARACTERS_PER_EVENT).map((piece) => ({
        type: 'arguments_delta',
        arguments: piece,
      }));
    default:
      return ((step.content ?? []) as readonly { readonly text: string }[]).flatMap(({ text }) =>
        splitPhrases(text, WORDS_PER_EVENT).map((piece) => ({ type: 'text', text: piece })),
      );
  }
}

/** The thought, the text, the calls. */
function interactionOf(context: TurnContext): JsonObject {
  const { vendor, model, turn, conversation, createdAt } = context;
  const body = interactionsBody(context.body);
  const text = turn.text ?? '';
  const summary = turn.reasoning !== undefined && turn.redacted !== true && conversation.wantsReasoning;
  const steps: readonly JsonObject[] = [
    ...(turn.reasoning === undefined
      ? []
      : [
          {
            type: 'thought',
            signature: thoughtSignature(vendor),
            ...(summary ? { summary: [{ type: 'text', text: turn.reasoning }] } : {}),
          },
        ]),
    ...(text === '' ? [] : [{ type: 'model_output', content: [{ type: 'text', text }] }]),
    ...turn.calls.map(toStep),
  ];
  const failure = failureOf(context);
  const time = new Date(createdAt * 1_000).toISOString();
  const { previous_interaction_id: previous } = body;
  return omitUndefined({
    id: `v1_${randomAlphanumeric(40)}`,
    ...(body.agent === undefined ? { model } : { agent: body.agent }),
    created: time,
    updated: time,
    previous_interaction_id: previous,
    status: statusOf(context),
    // What was blocked is not returned.
    steps: failure === undefined ? steps : [],
    usage: usageOf(context.usage),
    errors: failure && [failure],
    background: body.background === true ? true : undefined,
  });
}

function toStep(call: ModelCall): JsonObject {
  return {
    type: 'function_call',
    id: call.id ?? `call_${randomAlphanumeric(12).toLowerCase()}`,
    name: call.name,
    arguments: argumentsOf(call),
  };
}

/** The wire carries parsed arguments, so it cannot carry arguments that aren't JSON. */
function argumentsOf({ arguments: text }: ModelCall): unknown {
  try {
    return parseJson(text);
  } catch {
    return {};
  }
}

/** Returns the error of a turn that failed or was blocked. https://ai.google.dev/gemini-api/docs/api-errors */
export function failureOf({ turn }: TurnContext): { readonly code: string; readonly message: string } | undefined {
  if (turn.failure !== undefined) return turn.failure;
  const isBlocked = turn.refusal !== undefined || turn.ending === 'content_filter';
  return isBlocked ? { code: 'safety', message: turn.refusal ?? 'The response was blocked.' } : undefined;
}

/** https://ai.google.dev/gemini-api/docs/api-errors */
export function interactionError({ status, code, message }: Rejection): JsonObject {
  return { error: { code: code ?? (status === 404 ? 'not_found' : 'invalid_request'), message } };
}

function statusOf(context: TurnContext): string {
  const { turn } = context;
  if (failureOf(context) !== undefined) return 'failed';
  if (turn.ending !== 'complete') return 'incomplete';
  return turn.calls.length > 0 ? 'requires_action' : 'completed';
}

function usageOf(count: TokenCount): JsonObject {
  return {
    total_input_tokens: count.input,
    total_output_tokens: count.output,
    total_thought_tokens: count.reasoning,
    total_cached_tokens: count.cached,
    total_tool_use_tokens: 0,
    total_tokens: count.input + count.output + count.reasoning,
  };
}

function archive({ archive: responses, vendor, body: raw }: TurnContext, interaction: JsonObject): void {
  const body = interactionsBody(raw);
  if (body.store === false || interaction.status === 'failed') return;
  const before = responses.get(vendor, body.previous_interaction_id ?? '')?.items ?? [];
  // The casts are safe: steps are JSON objects.
  const input = stepsOf(body) as readonly unknown[] as readonly JsonObject[];
  const steps = interaction.steps as readonly JsonObject[];
  responses.add(vendor, { response: interaction, input, items: [...before, ...input, ...steps] });
}

function event(data: JsonObject & { readonly event_type: string }): SseEvent {
  return { event: data.event_type, data: JSON.stringify(data) };
}
