/** Converts the options of one call of the AI SDK. */
import type { LanguageModelV4CallOptions, SharedV4Warning } from '@ai-sdk/provider';
import type { GenerateOptions, ResponseFormat } from '../../../business/ai/domain/types/LLMTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { readProviderOptions } from './readProviderOptions';
import { readPrompt } from './readPrompt';
import { readToolChoice, readTools } from './readTools';

export interface CallRequest {
  readonly options: GenerateOptions;
  /** Overrides the user of the provider. */
  readonly userId?: string;
  /** What is known to be lost before the request is sent. */
  readonly warnings: readonly SharedV4Warning[];
  readonly namesOfBuiltIns: ReadonlyMap<string, string>;
}

/** @throws UnsupportedFunctionalityError for a part or a tool that has no counterpart */
export function readCallOptions(call: LanguageModelV4CallOptions, model: string): CallRequest {
  const warnings: SharedV4Warning[] = [];
  const { tools, namesOfBuiltIns } = readTools(call.tools, warnings);
  const choice = readToolChoice(call.toolChoice, call.tools, tools);
  const provider = readProviderOptions(call.providerOptions, warnings);
  const slash = model.indexOf('/');
  const providerIds = [slash === -1 ? model : model.slice(0, slash)];
  warnAboutHeaders(call.headers, warnings);
  const effort = call.reasoning === 'provider-default' ? undefined : call.reasoning;
  const reasoning = { ...(effort === undefined ? {} : { effort }), ...provider.options.reasoning };
  const vendor = provider.options.vendor;
  return {
    options: {
      ...provider.options,
      model,
      input: readPrompt(call.prompt, { providerIds, warnings }),
      ...(tools.length === 0 ? {} : { tools }),
      ...(choice === undefined ? {} : { tool_choice: choice }),
      ...defined('max_output_tokens', call.maxOutputTokens),
      ...defined('temperature', call.temperature),
      ...defined('top_p', call.topP),
      ...defined('stop', call.stopSequences),
      ...defined('response_format', responseFormat(call.responseFormat)),
      ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
      ...defined('vendor', vendor),
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

/** The AI SDK adds its own `user-agent` to every call. */
function warnAboutHeaders(headers: LanguageModelV4CallOptions['headers'], warnings: SharedV4Warning[]): void {
  const names = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === undefined || name.toLowerCase() === 'user-agent' ? [] : [name],
  );
  if (names.length > 0)
    warnings.push({
      type: 'unsupported',
      feature: 'headers',
      details: `Headers cannot be added to a call: ${names.join(', ')}. Vendors' beta features are options in "vendor".`,
    });
}

function defined<K extends string, V>(key: K, value: V | undefined): { readonly [N in K]?: V } {
  // Boundary: TypeScript widens a computed key.
  return value === undefined ? {} : ({ [key]: value } as { readonly [N in K]?: V });
}
