/** A server's list of tools as definitions of ours: filtered, renamed and bounded. */
import type { Tool } from '@modelcontextprotocol/client';
import { ToolError } from '../../ai/domain/errors/LLMErrors';
import type { SourceTool } from '../../ai/domain/interfaces/ToolSource';
import type { HostedMcpTool } from '../../ai/domain/types/HostedMcp';
import { hostedServer } from './hostedServer';
import { matchesName } from './McpServerSettings';
import type { McpToolSettings, ReadMcpServerSettings } from './McpServerSettings';
import type { McpToolPolicy } from './McpToolPolicy';
import { toToolName } from './mcpToolNames';
import { visibleText } from './visibleText';

export type McpToolExecutor = (tool: Tool) => NonNullable<SourceTool['execute']>;

/** Twice as many as the protocol permits. */
const MAX_NAME_LENGTH = 256;
/** Characters of a schema's JSON. */
const MAX_SCHEMA_LENGTH = 64 * 1024;

/** @param skip told of the tools that are left out, and why */
export function readMcpTools(
  listed: readonly Tool[],
  settings: ReadMcpServerSettings,
  executor: McpToolExecutor,
  skip: (name: string, reason: string) => void,
  policy?: McpToolPolicy,
): readonly SourceTool[] {
  const candidates = selectTools(listed, settings, skip);
  const offered = policy === undefined ? candidates : policy.review(candidates);
  return offered.map((tool) => readTool(tool, settings, executor, policy));
}

/** Returns the tools that can be offered, without repeated names. */
function selectTools(
  listed: readonly Tool[],
  settings: ReadMcpServerSettings,
  skip: (name: string, reason: string) => void,
): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const tool of listed) {
    if (tool.name.length > MAX_NAME_LENGTH) {
      skip(shorten(tool.name, 100), `its name has more than ${MAX_NAME_LENGTH} characters`);
      continue;
    }
    if (!isOffered(tool.name, settings)) continue;
    const name = toToolName(settings.prefix, tool.name);
    if (tools.has(name)) skip(tool.name, 'the server has listed another tool of this name');
    else if (tools.size >= settings.maxTools) skip(tool.name, `there are more than ${settings.maxTools}`);
    else if (JSON.stringify(tool.inputSchema).length > MAX_SCHEMA_LENGTH)
      skip(tool.name, `its schema has more than ${MAX_SCHEMA_LENGTH} characters`);
    else tools.set(name, tool);
  }
  return [...tools.values()];
}

function readTool(
  tool: Tool,
  settings: ReadMcpServerSettings,
  executor: McpToolExecutor,
  policy: McpToolPolicy | undefined,
): SourceTool {
  const description = visibleText(descriptionOf(tool));
  return {
    timeout: settings.timeout,
    onChange: 'ask',
    deferLoading: settings.deferLoading ?? 'auto',
    ...settingsOf(tool.name, settings, policy),
    name: toToolName(settings.prefix, tool.name),
    ...(description === '' ? {} : { description: shorten(description, settings.maxDescriptionLength) }),
    parameters: tool.inputSchema,
    untrusted: true,
    execute: executor(tool),
    ...(settings.hosted === true ? { hosted: () => hostedTool(tool, settings, policy) } : {}),
  };
}

function hostedTool(
  tool: Tool,
  settings: ReadMcpServerSettings,
  policy: McpToolPolicy | undefined,
): HostedMcpTool | undefined {
  const server = hostedServer(settings);
  if (server === undefined) return undefined;
  try {
    policy?.assertPermitted(tool);
  } catch (error) {
    // Nobody calls it: Bolide refuses the call.
    if (error instanceof ToolError) return undefined;
    throw error;
  }
  return { server, name: tool.name };
}

/** What describes the tool, as the server has sent it. */
export function descriptionOf({ description, title, annotations }: Tool): string {
  return description ?? title ?? annotations?.title ?? '';
}

function isOffered(name: string, { allow, deny = [] }: ReadMcpServerSettings): boolean {
  const isAllowed = allow === undefined || allow.some((pattern) => matchesName(pattern, name));
  return isAllowed && !deny.some((pattern) => matchesName(pattern, name));
}

/** What the app says about the tool. */
export function settingsOf(
  name: string,
  { tools = {} }: ReadMcpServerSettings,
  policy?: McpToolPolicy,
): McpToolSettings {
  const matching = Object.entries(tools).filter(([pattern]) => matchesName(pattern, name));
  return Object.assign({}, ...matching.map(([, fields]) => fields), policy?.settingsOf(name)) as McpToolSettings;
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`;
}
