/** Converts the options of one call of the AI SDK. */
import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { GenerateOptions, ResponseFormat } from '../../../business/ai/domain/types/LLMTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { readProviderOptions } from './readProviderOptions';
import { readPrompt } from './readPrompt';
import { readToolChoice, readTools } from './readTools';
import { warnAboutHeaders } from './warnAboutHeaders';

export interface CallRequest {
  readonly options: Omit<GenerateOptions, 'model'>;
  /** The user named in `providerOptions`. */
  readonly userId?: string | undefined;
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
  const reasoning = omitUndefined({ effort, ...provider.options.reasoning });
  return {
    options: {
      ...provider.options,
      input: readPrompt(call.prompt, { providerId, warnings }),
      ...omitUndefined({
        tools: tools.length === 0 ? undefined : tools,
        tool_choice: choice,
        max_output_tokens: call.maxOutputTokens,
        temperature: call.temperature,
        top_p: call.topP,
        top_k: call.topK,
        seed: call.seed,
        presence_penalty: call.presencePenalty,
        frequency_penalty: call.frequencyPenalty,
        stop: call.stopSequences,
        response_format: responseFormat(call.responseFormat),
        reasoning: Object.keys(reasoning).length === 0 ? undefined : reasoning,
        signal: call.abortSignal,
        relay: call.includeRawChunks || undefined,
      }),
    },
    userId: provider.userId,
    warnings,
    namesOfBuiltIns,
  };
}

function responseFormat(format: LanguageModelV4CallOptions['responseFormat']): ResponseFormat | undefined {
  if (format?.type !== 'json') return undefined;
  const { schema, name, description } = format;
  if (schema === undefined) return { type: 'json_object' };
  return omitUndefined({ type: 'json_schema', name, description, schema: schema as JsonObject });
}
