/** Converts an interaction, complete or assembled from a stream. https://ai.google.dev/api/interactions-api */
import { outputTextOf } from '../../../../domain/entities/Response';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { isList, isObject, isObjectList } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { LLMResponse, ResponseVendor } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';
import type { ResponseContext } from '../../Wire';
import type { InteractionStep } from '../interactionsTypes';
import { usageOf, withFreeSearchResults } from '../usage';
import { toOutputItems } from './items';
import { outcomeOf } from './outcome';
import type { Outcome } from './outcome';

/**
 * @param argumentTexts the arguments of calls as a stream had them
 * @throws LLMStreamError for a body in another format, LLMError for a failed interaction (available as `response`), or
 *   for an error that was sent with status 200
 */
export function fromInteractions(
  body: unknown,
  context: ResponseContext,
  argumentTexts?: ReadonlyMap<InteractionStep, string>,
): LLMResponse {
  const interaction = parseInteraction(body, context);
  const warnings = [...context.warnings];
  const outcome = outcomeOf(interaction.status, warnings);
  const origin = originOf(interaction, context);
  const steps = stepsOf(interaction, context);
  const output = steps.flatMap((step, index) =>
    toOutputItems(
      step,
      { origin, argumentTexts },
      outcome.status === 'incomplete' && index === steps.length - 1 ? 'incomplete' : 'completed',
    ),
  );
  const { previous_interaction_id: previousId } = interaction;
  const error = errorIn(interaction, steps, outcome);
  const response: LLMResponse = omitUndefined({
    id: idOf(interaction, context),
    object: 'response',
    created_at: secondsOf(interaction.created) ?? context.receivedAt,
    status: outcome.status,
    incomplete_details: outcome.reason && { reason: outcome.reason },
    model: modelOf(interaction, context),
    output,
    output_text: outputTextOf(output),
    usage: withFreeSearchResults(usageOf(interaction.usage, warnings), steps, interaction.usage),
    error,
    previous_response_id: typeof previousId === 'string' ? previousId : undefined,
    vendor: vendorOf(interaction, context, warnings),
  });
  if (error === undefined) return response;
  throw vendorError({ ...errorDetails(context), body: error, response });
}

/** @throws LLMError for an error body, LLMStreamError for any other body that is not an interaction */
export function parseInteraction(body: unknown, context: ResponseContext): JsonObject {
  if (isObject(body) && isObject(body.error)) throw vendorError({ ...errorDetails(context), body });
  if (isObject(body) && (typeof body.status === 'string' || isList(body.steps))) return body;
  throw new LLMStreamError('The response is not an interaction of the Gemini API.', errorDetails(context));
}

export function originOf(interaction: JsonObject, context: ResponseContext): Origin {
  return { wire: 'interactions', vendor: context.vendor, model: modelOf(interaction, context) };
}

export function modelOf({ model, agent }: JsonObject, context: ResponseContext): string {
  const name = model ?? agent;
  return typeof name === 'string' && name !== '' ? name : context.model;
}

/** An interaction that is not stored may have no id. */
export function idOf({ id }: JsonObject, context: ResponseContext): string {
  if (typeof id === 'string' && id !== '') return id;
  return context.requestId ?? `interaction_${context.receivedAt}`;
}

export function errorDetails(context: ResponseContext): { vendor: string; requestId?: string } {
  return omitUndefined({ vendor: context.vendor, requestId: context.requestId });
}

function stepsOf({ steps }: JsonObject, context: ResponseContext): readonly InteractionStep[] {
  if (steps === undefined || steps === null) return [];
  if (isObjectList(steps)) return steps;
  throw new LLMStreamError('The steps of the interaction are not a list of objects.', errorDetails(context));
}

/** Returns the error of a failed interaction, which is in the interaction or in the step that failed. */
function errorIn(
  { errors }: JsonObject,
  steps: readonly InteractionStep[],
  { status }: Outcome,
): { readonly code: string; readonly message: string } | undefined {
  if (status !== 'failed') return undefined;
  const named = [...(isList(errors) ? errors : []), ...steps.map(({ error }) => error)].find(isObject);
  const { code, message } = named ?? {};
  return {
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : 'failed',
    message: typeof message === 'string' && message !== '' ? message : 'The interaction failed.',
  };
}

function secondsOf(time: unknown): number | undefined {
  const milliseconds = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1_000);
}

/** Keeps the interaction without its steps. */
function vendorOf(interaction: JsonObject, context: ResponseContext, warnings: readonly string[]): ResponseVendor {
  const { usage, steps: _, status, ...fields } = interaction;
  return omitUndefined({
    name: context.vendor,
    wire: 'interactions',
    finish_reason: typeof status === 'string' ? status : null,
    request_id: context.requestId,
    warnings,
    losses: context.losses,
    usage: isObject(usage) ? usage : undefined,
    fields,
  });
}
