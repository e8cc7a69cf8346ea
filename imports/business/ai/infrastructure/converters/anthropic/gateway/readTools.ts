/**
 * Reads the `tools` and `tool_choice` of a Messages API request.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference
 */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isObject } from '../../../../domain/util/json';
import { carryFields } from '../response/blocks';
import type { BuiltInTool, BuiltInToolType, Tool } from '../../../../domain/entities/Tool';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { GenerateOptions, ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** Prefixes of Anthropic's versioned tool types, and the built-in tool of each. */
const BUILT_IN_TOOLS = [
  ['web_search_', 'web_search'],
  ['web_fetch_', 'web_fetch'],
  ['code_execution_', 'code_interpreter'],
  ['computer_', 'computer_use'],
  ['tool_search_tool', 'tool_search'],
  ['mcp_toolset', 'mcp'],
] as const satisfies readonly (readonly [string, BuiltInToolType])[];

export function readTool(tool: unknown, path: string): Tool {
  if (!isObject(tool)) throw new LLMInvalidRequestError(`"${path}" must be an object.`, { path });
  const { type, name, description, input_schema, strict, ...rest } = tool;
  if (typeof type === 'string' && type !== 'custom') return versionedTool(type, tool);
  if (typeof name !== 'string')
    throw new LLMInvalidRequestError(`"${path}.name" must be a string.`, { path: `${path}.name` });
  if (!isObject(input_schema))
    throw new LLMInvalidRequestError(`"${path}.input_schema" must be an object.`, { path: `${path}.input_schema` });
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' ? { description } : {}),
    parameters: input_schema,
    ...(typeof strict === 'boolean' ? { strict } : {}),
    // For this wire, the client decides on `strict` regardless of the schema.
    ...carryFields({ ...rest, ...omitUndefined({ type, strict }) }),
  };
}

/** A versioned tool is passed through unchanged. Client tools, which the client executes, become functions. */
function versionedTool(type: string, tool: JsonObject): Tool {
  const builtIn = BUILT_IN_TOOLS.find(([prefix]) => type.startsWith(prefix));
  if (builtIn !== undefined) return { ...settingsOf(builtIn[1], tool), type: builtIn[1], vendor: { anthropic: tool } };
  if (typeof tool.name === 'string') return { type: 'function', name: tool.name, vendor: { anthropic: tool } };
  // Tool types newer than this code.
  return { type, vendor: { anthropic: tool } } as unknown as BuiltInTool;
}

/** What limits a tool at other vendors, too. */
function settingsOf(type: BuiltInToolType, tool: JsonObject): JsonObject {
  const { allowed_domains, blocked_domains, max_uses, user_location } = tool;
  const domains = withoutNulls({ allowed_domains, blocked_domains });
  if (type === 'web_fetch') return domains;
  if (type !== 'web_search') return {};
  return { ...(isEmpty(domains) ? {} : { filters: domains }), ...withoutNulls({ max_uses, user_location }) };
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

/** The options that express a `tool_choice`. A choice they cannot express entirely is also stored verbatim. */
export interface ToolChoiceFields {
  readonly fields: Pick<GenerateOptions, 'tool_choice' | 'parallel_tool_calls'>;
  readonly verbatim?: JsonObject;
}

export function readToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoiceFields {
  if (!isObject(choice)) return { fields: {} };
  const { type, name, disable_parallel_tool_use, ...rest } = choice;
  const tool_choice = toToolChoice(type, name, tools);
  const parallel =
    typeof disable_parallel_tool_use === 'boolean' ? { parallel_tool_calls: !disable_parallel_tool_use } : {};
  const fields = omitUndefined({ tool_choice, ...parallel });
  return tool_choice === undefined || Object.keys(rest).length > 0 ? { fields, verbatim: choice } : { fields };
}

function toToolChoice(type: unknown, name: unknown, tools: readonly Tool[]): ToolChoice | undefined {
  switch (type) {
    case 'auto':
    case 'none':
      return type;
    case 'any':
      return tools.length > 0 ? 'required' : undefined;
    case 'tool': {
      const named = tools.find((tool) => tool.name === name || tool.vendor?.anthropic?.name === name);
      if (named === undefined || typeof name !== 'string') return undefined;
      return named.type === 'function' ? { type: 'function', name } : { type: named.type };
    }
    default:
      return undefined;
  }
}
