/**
 * Converts requests to bodies of Gemini's Interactions API. Its responses are converted back in
 * `response/response.ts`. https://ai.google.dev/api/interactions-api
 */
import { isEmpty, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { atOnce } from '../../../domain/util/slices';
import type { Slices } from '../../../domain/util/slices';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../domain/types/VendorTypes';
import { googleModelFeatures } from '../google/modelFeatures';
import { lostBreakpoints } from '../shared/promptCache';
import type { WireContext, WireRequest } from '../Wire';
import { isAgent } from './interactionsTypes';
import { toGenerationConfig, toResponseFormat } from './request/generationConfig';
import { toInput } from './request/input';
import { toToolChoice, toTools } from './request/tools';

/** @throws UnsupportedFeatureError for content that the wire or the model does not support */
export function toInteractions(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest {
  return atOnce(interactionsSlices(options, context, stream));
}

/** Converts like `toInteractions`, a slice of the history at a time. */
export function* interactionsSlices(
  options: NormalizedOptions,
  context: WireContext,
  stream: boolean,
): Slices<WireRequest> {
  const warnings: string[] = [];
  const losses: Loss[] = [];
  const { model, previous_response_id: previousId } = options;
  const isBackground = options.background === true;
  const { supportsMediaInResults: mediaInResults } = googleModelFeatures(model);
  const { fetchesImageUrls: fetchesUrls } = context.quirks;
  const input = yield* toInput(
    options.input,
    { vendor: context.vendor, fetchesUrls, mediaInResults },
    previousId !== undefined,
  );
  losses.push(...input.losses, ...lostBreakpoints(options));
  const tools = toTools(options, warnings, losses);
  const config = toGenerationConfig(options, context, toToolChoice(options, warnings), warnings);
  const { format, instruction } = toResponseFormat(options, context, warnings, losses);
  const instructions = [options.instructions, ...input.instructions, instruction].filter((text) => text !== undefined);
  const system = instructions.filter((text) => text !== '').join('\n\n');
  const body: JsonObject = omitUndefined({
    ...(isAgent(model) ? { agent: model } : { model }),
    system_instruction: system === '' ? undefined : system,
    tools: tools.length === 0 ? undefined : tools,
    response_format: format,
    previous_interaction_id: previousId,
    // What is generated in the background is read later.
    store: isBackground || (options.store ?? previousId !== undefined),
    background: isBackground ? true : undefined,
    stream: stream ? true : undefined,
    input: input.steps,
  });
  if (isAgent(model)) {
    const omitted = Object.keys(config);
    if (omitted.length > 0) warnings.push(`Omitted what agents do not have: ${omitted.join(', ')}.`);
  } else if (!isEmpty(config)) body.generation_config = config;
  addOwnFields(body, options, context.vendor, warnings);
  return { body: withoutUnsupported(body, context, warnings), warnings, losses };
}

/** The caller's fields for this wire. Those of the vendor's name are in the form of its other wire. */
function addOwnFields(body: JsonObject, { vendor }: NormalizedOptions, name: string, warnings: string[]): void {
  const fields = vendor?.google_interactions;
  if (name === 'google' && vendor?.google !== undefined && fields === undefined)
    warnings.push(
      'vendor.google was omitted: it holds fields of generateContent. Use vendor.google_interactions for this wire.',
    );
  if (fields === undefined) return;
  const { generation_config: config, ...others } = fields;
  Object.assign(body, others);
  if (isObject(config))
    body.generation_config = { ...(isObject(body.generation_config) ? body.generation_config : {}), ...config };
  // A request names a model or an agent.
  if (others.agent !== undefined) {
    delete body.model;
    delete body.generation_config;
  }
}

function withoutUnsupported(body: JsonObject, { quirks, vendor }: WireContext, warnings: string[]): JsonObject {
  const refused = quirks.unsupportedFields.filter((field) => field in body);
  if (refused.length === 0) return body;
  for (const field of refused) warnings.push(`"${field}" was omitted: ${vendor} does not support it.`);
  return Object.fromEntries(Object.entries(body).filter(([field]) => !refused.includes(field)));
}
