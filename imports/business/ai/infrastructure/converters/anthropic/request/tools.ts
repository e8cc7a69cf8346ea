/**
 * Converts tools and the tool choice to those of the Messages API.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference
 */
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isFunctionTool } from '../../../../domain/entities/Tool';
import { ToolNames } from '../../../../domain/entities/ToolNames';
import { fieldsOf, isObject } from '../../../../domain/util/json';
import { keepListJson } from '../../../../domain/util/keptJson';
import { warnAboutCallers } from '../../shared/programmaticTools';
import { toServerTool } from './serverTools';
import { toOutputSchema } from './outputSchema';
import type { FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { NormalizedOptions, ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { AnthropicModelFeatures } from '../modelFeatures';
import type { WireContext } from '../../Wire';

export interface AnthropicTools {
  readonly tools: readonly JsonObject[];
  readonly tool_choice?: JsonObject;
  /** MCP servers that `tools` refers to. */
  readonly mcp_servers: readonly JsonObject[];
  /** In which the code of `tools` runs. */
  readonly container?: string | JsonObject;
  readonly warnings: readonly string[];
}

/** @throws UnsupportedFeatureError for a built-in tool that the vendor or the model does not have */
export function toAnthropicTools(
  options: NormalizedOptions,
  context: WireContext,
  features: AnthropicModelFeatures,
): AnthropicTools {
  const offered = options.tools ?? [];
  if (offered.length === 0) return { tools: [], mcp_servers: [], warnings: [] };
  if (!context.capabilities.supportsTools)
    throw new UnsupportedFeatureError(`The model "${options.model}" does not support tools.`, { path: 'tools' });
  const warnings: string[] = [];
  const mcp_servers: JsonObject[] = [];
  let container: string | JsonObject | undefined;
  const chosen = toolsToOffer(offered, options.tool_choice, warnings);
  const indexes = new Map(offered.map((tool, index) => [tool, index]));
  const converted = chosen.map((tool) => {
    if (isFunctionTool(tool)) return toFunctionTool(tool, context, warnings);
    const path = `tools[${indexes.get(tool) ?? 0}]`;
    const { tool: mapped, server, container: named } = toServerTool(tool, features, path, warnings);
    if (server !== undefined) mcp_servers.push(server);
    container = named ?? container;
    return mapped;
  });
  const tools = withCallers(chosen, converted, context.vendor, warnings);
  keepListJson(tools);
  const tool_choice = toToolChoice(options, features, warnings);
  return omitUndefined({ tools, mcp_servers, warnings, container, tool_choice });
}

/**
 * Names the tool that runs programs in place of `programmatic`. Fields of Anthropic's own take precedence.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling
 */
function withCallers(
  chosen: readonly Tool[],
  converted: readonly JsonObject[],
  vendor: string,
  warnings: string[],
): readonly JsonObject[] {
  const program = converted.find(({ type }) => typeof type === 'string' && type.startsWith('code_execution_'))?.type;
  return converted.map((block, index) => {
    const tool = chosen[index];
    if (tool === undefined || !isFunctionTool(tool) || tool.allowed_callers === undefined) return block;
    if (program === undefined) warnAboutCallers(tool, vendor, warnings);
    if (program === undefined || 'allowed_callers' in block) return block;
    return {
      ...block,
      allowed_callers: tool.allowed_callers.map((caller) => (caller === 'programmatic' ? program : caller)),
    };
  });
}

interface ConvertedTool {
  readonly block: JsonObject;
  readonly warnings: readonly string[];
}

/** Tools are immutable and offered again with every turn, so each is converted once. */
const toolBlocks = {
  strict: new WeakMap<FunctionTool, ConvertedTool>(),
  loose: new WeakMap<FunctionTool, ConvertedTool>(),
};

function toFunctionTool(tool: FunctionTool, { quirks, capabilities }: WireContext, warnings: string[]): JsonObject {
  const takesStrict = quirks.supportsStrictTools && capabilities.supportsJSONSchema;
  const cache = takesStrict ? toolBlocks.strict : toolBlocks.loose;
  let result = cache.get(tool);
  if (result === undefined) {
    const ownWarnings: string[] = [];
    result = { block: convertTool(tool, takesStrict, ownWarnings), warnings: ownWarnings };
    cache.set(tool, result);
  }
  warnings.push(...result.warnings);
  return result.block;
}

/** `vendor.anthropic` with a `type` is one of Anthropic's client tools, which have a version instead of a schema. */
function convertTool(tool: FunctionTool, takesStrict: boolean, warnings: string[]): JsonObject {
  const vendorFields = tool.vendor?.anthropic;
  if (typeof vendorFields?.type === 'string' && vendorFields.type !== 'custom')
    return { name: tool.name, ...vendorFields };
  const { schema, flattened } = toInputSchema(tool.parameters);
  if (flattened)
    warnings.push(
      `The parameters of the tool "${tool.name}" are sent without ${flattened} at their root, which must be a plain object.`,
    );
  return {
    name: tool.name,
    ...omitUndefined({ description: tool.description }),
    input_schema: schema,
    ...(tool.strict === true && canBeStrict(tool, schema, takesStrict, warnings) ? { strict: true } : {}),
    ...vendorFields,
  };
}

/** Strict tools support the same subset of JSON Schema as structured outputs. Other schemas lead to a 400. */
function canBeStrict(tool: FunctionTool, schema: JsonObject, supported: boolean, warnings: string[]): boolean {
  if (!supported) {
    warnings.push(`strict was omitted from the tool "${tool.name}": the model does not support it.`);
    return false;
  }
  const accepted = toOutputSchema(schema);
  if (accepted?.dropped.length === 0 && isClosed(schema)) return true;
  warnings.push(`strict was omitted from the tool "${tool.name}": strict tools do not support its schema.`);
  return false;
}

function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (typeof schema !== 'object' || schema === null) return true;
  if ('properties' in schema && (!('additionalProperties' in schema) || schema.additionalProperties !== false))
    return false;
  return Object.values(schema).every(isClosed);
}

/** The Messages API cannot restrict a choice to some of the tools, so only those are offered. */
function toolsToOffer(offered: readonly Tool[], choice: ToolChoice | undefined, warnings: string[]): readonly Tool[] {
  if (typeof choice !== 'object' || !isAllowedTools(choice)) return offered;
  const allowed = new ToolNames(choice.tools);
  const chosen = offered.filter((tool) => allowed.has(tool));
  warnings.push('Only the allowed tools of tool_choice are offered: the Messages API cannot restrict a longer list.');
  return chosen;
}

function isAllowedTools(choice: Exclude<ToolChoice, string>): choice is Extract<ToolChoice, { type: 'allowed_tools' }> {
  return choice.type === 'allowed_tools';
}

function toToolChoice(
  options: NormalizedOptions,
  features: AnthropicModelFeatures,
  warnings: string[],
): JsonObject | undefined {
  const requested = requestedChoice(options.tool_choice);
  const single = options.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {};
  if (requested?.type === 'none') return requested;
  if (requested !== undefined && requested.type !== 'auto' && !features.supportsForcedTools) {
    warnings.push(`tool_choice is sent as auto: ${options.model} does not support forced tool calls.`);
    return { type: 'auto', ...single };
  }
  if (requested === undefined && options.parallel_tool_calls !== false) return undefined;
  return { ...(requested ?? { type: 'auto' }), ...single };
}

function requestedChoice(
  choice: ToolChoice | undefined,
): { type: 'auto' | 'any' | 'none' } | { type: 'tool'; name: string } | undefined {
  if (choice === undefined) return undefined;
  if (choice === 'auto' || choice === 'none') return { type: choice };
  if (choice === 'required') return { type: 'any' };
  if (isAllowedTools(choice)) return { type: choice.mode === 'required' ? 'any' : 'auto' };
  return { type: 'tool', name: choice.name ?? SERVER_TOOL_NAMES[choice.type] ?? choice.type };
}

/** Server tools under the names that the model knows them by. */
const SERVER_TOOL_NAMES: Readonly<Record<string, string>> = {
  code_interpreter: 'code_execution',
  url_context: 'web_fetch',
  programmatic_tool_calling: 'code_execution',
  tool_search: 'tool_search_tool_bm25',
  computer_use: 'computer',
};

interface ToolInputSchema {
  readonly schema: JsonObject;
  /** Unions that were flattened. Arguments are still validated against the full schema before the tool runs. */
  readonly flattened: string;
}

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;
const inputSchemas = new WeakMap<JsonObject, ToolInputSchema>();
const NO_PARAMETERS: ToolInputSchema = { schema: { type: 'object', properties: {} }, flattened: '' };

function toInputSchema(parameters: JsonObject | undefined): ToolInputSchema {
  if (parameters === undefined) return NO_PARAMETERS;
  let result = inputSchemas.get(parameters);
  if (result === undefined) {
    result = convertSchema(parameters);
    inputSchemas.set(parameters, result);
  }
  return result;
}

function convertSchema(parameters: JsonObject): ToolInputSchema {
  const unions = UNIONS.filter((keyword) => keyword in parameters);
  if (unions.length === 0)
    return { schema: parameters.type === 'object' ? parameters : { ...parameters, type: 'object' }, flattened: '' };
  const schema: JsonObject = { ...parameters, type: 'object' };
  for (const keyword of unions) {
    const { [keyword]: variants } = parameters;
    Reflect.deleteProperty(schema, keyword);
    mergeVariants(schema, listOf(variants).filter(isObject), keyword);
  }
  return { schema, flattened: unions.join(', ') };
}

/**
 * Adds the properties of all variants to the schema. Required are those that all variants require, or, in an `allOf`,
 * any of them.
 */
function mergeVariants(schema: JsonObject, variants: readonly JsonObject[], keyword: (typeof UNIONS)[number]): void {
  const properties = Object.fromEntries(
    variants.flatMap((variant) => (isObject(variant.properties) ? Object.entries(variant.properties) : [])),
  );
  const required = variants.map((variant) => new Set(listOf(variant.required)));
  const names = [...new Set(required.flatMap((set) => [...set]))].filter(
    (name) => keyword === 'allOf' || required.every((set) => set.has(name)),
  );
  const ownRequired = listOf(schema.required);
  schema.properties = { ...properties, ...fieldsOf(schema.properties) };
  if (names.length > 0 || ownRequired.length > 0) schema.required = [...new Set([...ownRequired, ...names])];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
