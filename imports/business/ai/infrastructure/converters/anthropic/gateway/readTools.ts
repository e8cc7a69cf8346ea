/** Tools and the choice among them, as clients of the Messages API write them → the inner language. */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/json';
import { carryFields } from '../response/blocks';
import type { BuiltInTool, BuiltInToolType, Tool } from '../../../../domain/entities/Tool';
import type { GenerateOptions, ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** The beginnings of Anthropic's versioned names, and what the inner language calls those tools. */
const BUILT_IN_TOOLS = [
  ['web_search_', 'web_search'],
  ['web_fetch_', 'web_fetch'],
  ['code_execution_', 'code_interpreter'],
  ['computer_', 'computer_use'],
  ['tool_search_tool', 'tool_search'],
  ['mcp_toolset', 'mcp'],
] as const satisfies readonly (readonly [string, BuiltInToolType])[];

export function readTool(tool: unknown, path: string): Tool {
  if (!isObject(tool)) throw new LLMInvalidRequestError(`${path} must be an object`, { path });
  const { type, name, description, input_schema, strict, ...rest } = tool;
  if (typeof type === 'string' && type !== 'custom') return versionedTool(type, tool);
  if (typeof name !== 'string')
    throw new LLMInvalidRequestError(`${path}.name must be a string`, { path: `${path}.name` });
  if (!isObject(input_schema))
    throw new LLMInvalidRequestError(`${path}.input_schema must be an object`, { path: `${path}.input_schema` });
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' ? { description } : {}),
    parameters: input_schema,
    ...(typeof strict === 'boolean' ? { strict } : {}),
    // `strict` is the client's own decision for this wire, whatever its schema holds.
    ...carryFields({ ...rest, ...(type === undefined ? {} : { type }), ...(strict === undefined ? {} : { strict }) }),
  };
}

/**
 * A tool with a version goes out as it came. Client tools, whose calls the client answers, are functions by their
 * name.
 */
function versionedTool(type: string, tool: JsonObject): Tool {
  const builtIn = BUILT_IN_TOOLS.find(([prefix]) => type.startsWith(prefix));
  if (builtIn !== undefined) return { type: builtIn[1], vendor: { anthropic: tool } };
  if (typeof tool.name === 'string') return { type: 'function', name: tool.name, vendor: { anthropic: tool } };
  // Built-in types are open towards newer ones.
  return { type, vendor: { anthropic: tool } } as unknown as BuiltInTool;
}

/** What of `tool_choice` the inner language has words for; a choice that it has none for goes out verbatim. */
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
  const fields = { ...(tool_choice === undefined ? {} : { tool_choice }), ...parallel };
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
