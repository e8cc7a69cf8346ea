/**
 * Converts requests to `generateContent` bodies of the Gemini API, which Vertex AI implements as well. Its
 * responses are converted back in `response/response.ts`. https://ai.google.dev/api/generate-content
 */
import { cachedPrefix, storedBreakpoints } from './request/cachedPrefix';
import { lostBreakpoints } from '../shared/promptCache';
import { toContents } from './request/contents';
import { toGenerationConfig } from './request/generationConfig';
import { googleModelFeatures } from './modelFeatures';
import { toGoogleTools } from './request/tools';
import { camelCaseKeys } from './googleTypes';
import type { GoogleConversation } from './request/contents';
import type { WireContext, WireRequest } from '../Wire';
import { fieldsOf, isEmpty, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { atOnce } from '../../../domain/util/slices';
import type { Slices } from '../../../domain/util/slices';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../domain/types/VendorTypes';

export { fromGoogle } from './response/response';

/**
 * The body contains neither the model nor whether to stream: both are part of the URL.
 * @throws UnsupportedFeatureError for content that the wire or the model does not support
 */
export function toGoogle(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest {
  return atOnce(googleSlices(options, context, stream));
}

/** Converts like `toGoogle`, a slice of the history at a time. */
export function* googleSlices(options: NormalizedOptions, context: WireContext, _stream: boolean): Slices<WireRequest> {
  const features = googleModelFeatures(options.model);
  const passthrough = passthroughFields(options, context);
  const warnings = unsupportedOptions(options);
  const losses: Loss[] = [];
  const breakpoints = storedBreakpoints(options, context.quirks, passthrough);
  const conversation = yield* toContents(options.input, features, context.quirks.fetchesImageUrls, breakpoints);
  losses.push(...conversation.losses);
  if (breakpoints.length === 0) losses.push(...lostBreakpoints(options));
  const { tools, toolConfig } = toGoogleTools(
    options,
    features,
    Array.isArray(passthrough.tools) ? passthrough.tools.filter(isObject) : [],
    warnings,
    losses,
  );
  const { generationConfig, instruction } = toGenerationConfig(
    options,
    context,
    features,
    fieldsOf(passthrough.generationConfig),
    warnings,
    losses,
  );
  const systemInstruction = toSystemInstruction(options.instructions, conversation, instruction);
  const body: JsonObject = omitUndefined({
    systemInstruction,
    contents: conversation.contents,
    toolConfig,
    generationConfig: isEmpty(generationConfig) ? undefined : generationConfig,
  });
  const merged = mergeDeep(body, passthrough);
  if (tools !== undefined) merged.tools = tools;
  const prefix = cachedPrefix(options, conversation.prefixLengths);
  return omitUndefined({ body: withoutUnsupported(merged, context, warnings), cachedPrefix: prefix, warnings, losses });
}

/** Each instruction is a separate part, which Gemini reads as a paragraph. */
function toSystemInstruction(
  instructions: string | undefined,
  conversation: GoogleConversation,
  added: string | undefined,
): JsonObject | undefined {
  const parts = [
    ...(instructions === undefined || instructions === '' ? [] : [{ text: instructions }]),
    ...conversation.systemParts,
    ...(added === undefined ? [] : [{ text: added }]),
  ];
  return parts.length === 0 ? undefined : { ...conversation.systemFields, parts };
}

/** Returns a warning for each option that the Gemini API does not have. */
function unsupportedOptions(options: NormalizedOptions): string[] {
  const warnings: string[] = [];
  if (options.metadata !== undefined && !isEmpty(options.metadata))
    warnings.push('metadata was omitted: the Gemini API does not support it.');
  if (options.user !== undefined) warnings.push('user was omitted: the Gemini API does not support it.');
  if (options.previous_response_id !== undefined)
    warnings.push(
      'previous_response_id was ignored: the Gemini API stores no responses. Send the entire history instead.',
    );
  return warnings;
}

/** The caller's fields for this wire, overridden by those for this vendor, in lowerCamelCase. */
function passthroughFields(options: NormalizedOptions, context: WireContext): JsonObject {
  const byScheme = options.vendor?.google;
  const byVendor = options.vendor?.[context.vendor];
  if (byVendor === undefined || byVendor === byScheme) return byScheme === undefined ? {} : inCamelCase(byScheme);
  return mergeDeep(byScheme === undefined ? {} : inCamelCase(byScheme), inCamelCase(byVendor));
}

function inCamelCase(fields: JsonObject): JsonObject {
  const out = { ...camelCaseKeys(fields) };
  if (isObject(out.generationConfig)) out.generationConfig = camelCaseKeys(out.generationConfig);
  if (isObject(out.toolConfig)) {
    const toolConfig = { ...camelCaseKeys(out.toolConfig) };
    if (isObject(toolConfig.functionCallingConfig))
      toolConfig.functionCallingConfig = camelCaseKeys(toolConfig.functionCallingConfig);
    out.toolConfig = toolConfig;
  }
  return out;
}

/** Fields that are replaced entirely instead of being merged. */
const ATOMIC_FIELDS = new Set(['responseSchema', 'responseJsonSchema', 'systemInstruction']);

function mergeDeep(base: JsonObject, fields: JsonObject): JsonObject {
  const out: JsonObject = { ...base };
  for (const [key, value] of Object.entries(fields)) {
    const before = out[key];
    out[key] = isObject(before) && isObject(value) && !ATOMIC_FIELDS.has(key) ? mergeDeep(before, value) : value;
  }
  return out;
}

function withoutUnsupported(body: JsonObject, context: WireContext, warnings: string[]): JsonObject {
  const refused = context.quirks.unsupportedFields.filter((field) => field in body);
  if (refused.length === 0) return body;
  for (const field of refused) warnings.push(`${field} was omitted: the vendor does not support it.`);
  return Object.fromEntries(Object.entries(body).filter(([field]) => !refused.includes(field)));
}
