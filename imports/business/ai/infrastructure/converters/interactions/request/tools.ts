/** Converts tools and the tool choice. https://ai.google.dev/api/interactions-api#Resource:Tool */
import type { Interactions } from '@google/genai';
import { isFunctionTool } from '../../../../domain/entities/Tool';
import type { BuiltInTool, FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { ToolNames } from '../../../../domain/entities/ToolNames';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isList, isObject } from '../../../../domain/util/json';
import type { NormalizedOptions, ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';
import { warnAboutSettings } from '../../shared/omittedSettings';
import { warnAboutCallers } from '../../shared/programmaticTools';
import { googleModelFeatures } from '../../google/modelFeatures';
import { sanitizeSchema } from '../../google/request/jsonSchema';
import { ownFields } from '../interactionsTypes';

type ToolType = NonNullable<Interactions.InteractionCreateParams['tools']>[number]['type'];

/** https://ai.google.dev/api/caching#FunctionDeclaration */
const NAME = /^[a-zA-Z_][\w.:-]{0,63}$/;

/** @throws UnsupportedFeatureError for a server tool that Gemini does not have, or a name that it does not accept */
export function toTools(options: NormalizedOptions, warnings: string[], losses: Loss[]): readonly JsonObject[] {
  const { tools = [], tool_choice: choice } = options;
  const functions = tools.filter(isFunctionTool);
  if (functions.some(({ strict }) => strict === true))
    warnings.push('strict was omitted: Gemini does not support it. Arguments are validated when they arrive.');
  for (const tool of functions) warnAboutCallers(tool, 'google', warnings);
  const offered = toolsToDeclare(tools, choice);
  const isMixed = functions.some((tool) => offered.has(tool)) && tools.some((tool) => !isFunctionTool(tool));
  if (isMixed && !googleModelFeatures(options.model).canCombineTools)
    throw new UnsupportedFeatureError(
      `${options.model} supports either functions or server tools in one request, not both.`,
      { path: 'tools' },
    );
  return tools.flatMap((tool, index) => {
    if (!offered.has(tool)) return [];
    const path = `tools[${index}]`;
    return [isFunctionTool(tool) ? toFunction(tool, path, losses) : toServerTool(tool, path, warnings)];
  });
}

/** For `allowed_tools` with mode auto, only those are declared, as on the other wire of Gemini. */
function toolsToDeclare(tools: readonly Tool[], choice: ToolChoice | undefined): ReadonlySet<Tool> {
  const isNarrowed = typeof choice === 'object' && choice.type === 'allowed_tools' && 'tools' in choice;
  if (!isNarrowed || choice.mode === 'required') return new Set(tools);
  const allowed = new ToolNames(choice.tools);
  return new Set(tools.filter((tool) => allowed.has(tool)));
}

function toFunction(tool: FunctionTool, path: string, losses: Loss[]): JsonObject {
  const { name, description = '', parameters } = tool;
  if (!NAME.test(name))
    throw new UnsupportedFeatureError(
      `Gemini does not accept the function name "${name}". Names start with a letter or underscore and have at most ` +
        '64 letters, digits, and _.:-',
      { path },
    );
  const declared: JsonObject = { type: 'function' satisfies ToolType, name, description };
  if (parameters === undefined || isEmpty(parameters)) return { ...declared, ...ownFields(tool) };
  const { schema, losses: lost } = sanitizeSchema(parameters);
  for (const loss of lost) losses.push({ ...loss, path: `${path}.parameters${loss.path}` });
  return { ...declared, parameters: schema, ...ownFields(tool) };
}

function toServerTool(tool: BuiltInTool, path: string, warnings: string[]): JsonObject {
  const own = ownFields(tool);
  // The tool is already in the API's form.
  if (typeof own?.type === 'string') return own;
  const { type, fields, read } = mapTool(tool, path);
  warnAboutSettings(tool, read, 'the Interactions API', warnings);
  return { type, ...fields, ...own };
}

interface MappedTool {
  readonly type: ToolType;
  readonly fields: JsonObject;
  /** The fields of the tool that were mapped. */
  readonly read: readonly string[];
}

function mapTool(tool: BuiltInTool, path: string): MappedTool {
  switch (tool.type) {
    case 'web_search':
      return { type: 'google_search', fields: {}, read: [] };
    case 'code_interpreter':
      return { type: 'code_execution', fields: {}, read: [] };
    case 'url_context':
    case 'web_fetch':
      return { type: 'url_context', fields: {}, read: [] };
    case 'computer_use':
      return { type: 'computer_use', ...pick(tool, { environment: 'environment' }) };
    case 'file_search':
      return {
        type: 'file_search',
        ...pick(tool, { vector_store_ids: 'file_search_store_names', max_num_results: 'top_k' }),
      };
    case 'mcp':
      return mcpServer(tool);
    default:
      throw new UnsupportedFeatureError(`Gemini has no server tool "${tool.type}".`, { path });
  }
}

function mcpServer(tool: BuiltInTool): MappedTool {
  const { fields, read } = pick(tool, { server_label: 'name', server_url: 'url', headers: 'headers' });
  const { allowed_tools: allowed, authorization } = tool;
  const names = isObject(allowed) ? allowed.tool_names : allowed;
  if (isList(names)) fields.allowed_tools = [{ mode: 'auto', tools: names }];
  if (typeof authorization === 'string')
    fields.headers = { ...(isObject(tool.headers) ? tool.headers : {}), Authorization: `Bearer ${authorization}` };
  return { type: 'mcp_server', fields, read: [...read, 'allowed_tools', 'authorization'] };
}

function pick(tool: BuiltInTool, names: Readonly<Record<string, string>>): Omit<MappedTool, 'type'> {
  const fields: JsonObject = {};
  for (const [from, to] of Object.entries(names)) if (tool[from] !== undefined) fields[to] = tool[from];
  return { fields, read: Object.keys(names) };
}

/** @returns undefined for the API's default */
export function toToolChoice(
  { tool_choice: choice, tools = [] }: NormalizedOptions,
  warnings: string[],
): string | JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (!tools.some(isFunctionTool)) {
    if (choice !== 'auto' && choice !== 'none') warnings.push('tool_choice was omitted: the request has no functions.');
    return undefined;
  }
  if (choice === 'auto' || choice === 'none') return choice;
  if (choice === 'required') return 'any';
  if (choice.type === 'function') return anyOf([choice.name]);
  if (choice.type === 'allowed_tools' && 'tools' in choice) {
    if (choice.mode !== 'required') return 'auto';
    return anyOf(choice.tools.flatMap(({ type, name }) => (type === 'function' && name !== undefined ? [name] : [])));
  }
  warnings.push(`tool_choice was omitted: Gemini cannot be forced to use ${choice.type}.`);
  return undefined;
}

function anyOf(names: readonly string[]): JsonObject {
  return { allowed_tools: { mode: 'any', tools: names } };
}
