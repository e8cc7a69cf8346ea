/** Converts the tools of the AI SDK's calls, and the choice among them. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { BUILT_IN_TOOL_TYPES } from '../../../business/ai/domain/entities/Tool';
import type { BuiltInTool, BuiltInToolType, FunctionTool, Tool } from '../../../business/ai/domain/entities/Tool';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { ToolChoice } from '../../../business/ai/domain/types/LLMTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { unsupportedFunctionality } from './aiSdkErrors';
import { toSnakeCase } from './snakeCase';
import { vendorPartOf } from './vendorOptions';

export interface ReadTools {
  readonly tools: readonly Tool[];
  /** The application's names for the tools that a vendor runs, by their type. */
  readonly namesOfBuiltIns: ReadonlyMap<string, string>;
}

/** @throws UnsupportedFunctionalityError for a provider-defined tool that Bolide doesn't have */
export function readTools(given: LanguageModelV4CallOptions['tools'], warnings: SharedV4Warning[]): ReadTools {
  const namesOfBuiltIns = new Map<string, string>();
  const tools = (given ?? []).map((tool) => {
    if (tool.type === 'function') return functionTool(tool, warnings);
    const builtIn = readProviderTool(tool);
    namesOfBuiltIns.set(builtIn.type, tool.name);
    return builtIn;
  });
  return { tools, namesOfBuiltIns };
}

function functionTool(tool: LanguageModelV4FunctionTool, warnings: SharedV4Warning[]): FunctionTool {
  const { name, description, inputSchema, inputExamples, strict, providerOptions } = tool;
  if (inputExamples !== undefined && inputExamples.length > 0)
    warnings.push({ type: 'unsupported', feature: `inputExamples of the tool "${name}"` });
  return omitUndefined({
    type: 'function',
    name,
    description,
    parameters: inputSchema as JsonObject,
    strict,
    ...vendorPartOf(providerOptions),
  });
}

/** Provider-defined tools of the AI SDK's own packages. Ids may end with a version, as in `web_search_20250305`. */
const BUILT_IN_TOOLS: readonly (readonly [pattern: RegExp, type: BuiltInToolType])[] = [
  [/^openai\.web_search(_preview)?$/, 'web_search'],
  [/^openai\.file_search$/, 'file_search'],
  [/^openai\.code_interpreter$/, 'code_interpreter'],
  [/^openai\.image_generation$/, 'image_generation'],
  [/^openai\.mcp$/, 'mcp'],
  [/^anthropic\.web_search_\d+$/, 'web_search'],
  [/^anthropic\.web_fetch_\d+$/, 'web_fetch'],
  [/^anthropic\.code_execution_\d+$/, 'code_interpreter'],
  [/^google\.google_search$/, 'web_search'],
  [/^google\.url_context$/, 'url_context'],
  [/^google\.code_execution$/, 'code_interpreter'],
  [/^xai\.web_search$/, 'web_search'],
  [/^xai\.code_execution$/, 'code_interpreter'],
  [/^xai\.mcp$/, 'mcp'],
  [/^groq\.browser_search$/, 'web_search'],
];

/**
 * `bolide.<type>` names a built-in tool of ours. Arguments are its fields, in camelCase or as the wire names them.
 * @throws UnsupportedFunctionalityError for a tool that Bolide doesn't have
 */
export function readProviderTool({ id, args }: LanguageModelV4ProviderTool): BuiltInTool {
  const type =
    BUILT_IN_TOOL_TYPES.find((each) => id === `bolide.${each}`) ??
    BUILT_IN_TOOLS.find(([pattern]) => pattern.test(id))?.[1];
  if (type === undefined) {
    const ours = BUILT_IN_TOOL_TYPES.map((each) => `bolide.${each}`).join(', ');
    throw unsupportedFunctionality(
      `provider-defined tool "${id}"`,
      `There is no provider-defined tool "${id}". Expected one of: ${ours}, or their equivalents of another provider.`,
    );
  }
  return { ...toSnakeCase(args), type };
}

export function readToolChoice(
  choice: LanguageModelV4ToolChoice | undefined,
  given: LanguageModelV4CallOptions['tools'],
  tools: readonly Tool[],
): ToolChoice | undefined {
  if (choice === undefined || tools.length === 0) return undefined;
  if (choice.type !== 'tool') return choice.type;
  const { toolName } = choice;
  const tool = tools[(given ?? []).findIndex(({ name }) => name === toolName)];
  return tool === undefined || tool.type === 'function' ? { type: 'function', name: toolName } : { type: tool.type };
}
