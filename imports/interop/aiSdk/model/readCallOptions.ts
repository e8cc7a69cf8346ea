/** Converts the options of one call of the AI SDK. */
import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import type { GenerateOptions, ResponseFormat } from '../../../business/ai/domain/types/LLMTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { readProviderOptions } from './readProviderOptions';
import { readPrompt } from './readPrompt';
import { readToolChoice, readTools } from './readTools';
import { warnAboutHeaders } from './warnAboutHeaders';

export interface CallRequest {
  readonly options: Omit<GenerateOptions, 'model'>;
  /** The user named in `providerOptions`. */
  readonly userId?: string;
  /** What is known to be lost before the request is sent. */
  readonly warnings: readonly SharedV4Warning[];
  readonly namesOfBuiltIns: ReadonlyMap<string, string>;
}

/**
 * @param providerId the key under which references to stored files name the model's provider
 * @throws UnsupportedFunctionalityError for a part or a tool that has no counterpart
 */
export function readCallOptions(call: LanguageModelV4CallOptions, providerId: string): CallRequest {
  const warnings: SharedV4Warning[] = [];
  const { tools, namesOfBuiltIns } = readTools(call.tools, warnings);
  const choice = readToolChoice(call.toolChoice, call.tools, tools);
  const provider = readProviderOptions(call.providerOptions, providerId, warnings);
  warnAboutHeaders(call.headers, warnings);
  const effort = call.reasoning === 'provider-default' ? undefined : call.reasoning;
  const reasoning = { ...(effort === undefined ? {} : { effort }), ...provider.options.reasoning };
  return {
    options: {
      ...provider.options,
      input: readPrompt(call.prompt, { providerId, warnings }),
      ...(tools.length === 0 ? {} : { tools }),
      ...(choice === undefined ? {} : { tool_choice: choice }),
      ...defined('max_output_tokens', call.maxOutputTokens),
      ...defined('temperature', call.temperature),
      ...defined('top_p', call.topP),
      ...defined('top_k', call.topK),
      ...defined('seed', call.seed),
      ...defined('presence_penalty', call.presencePenalty),
      ...defined('frequency_penalty', call.frequencyPenalty),
      ...defined('stop', call.stopSequences),
      ...defined('response_format', responseFormat(call.responseFormat)),
      ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
      ...defined('signal', call.abortSignal),
      ...(call.includeRawChunks === true ? { relay: true } : {}),
    },
    ...(provider.userId === undefined ? {} : { userId: provider.userId }),
    warnings,
    namesOfBuiltIns,
  };
}

function responseFormat(format: LanguageModelV4CallOptions['responseFormat']): ResponseFormat | undefined {
  if (format?.type !== 'json') return undefined;
  const { schema, name, description } = format;
  if (schema === undefined) return { type: 'json_object' };
  return {
    type: 'json_schema',
    ...defined('name', name),
    ...defined('description', description),
    schema: schema as JsonObject,
  };
}

function defined<K extends string, V>(key: K, value: V | undefined): { readonly [N in K]?: V } {
  // Boundary: TypeScript widens a computed key.
  return value === undefined ? {} : ({ [key]: value } as { readonly [N in K]?: V });
}
