/** A server's list of tools as definitions of ours: filtered, renamed and bounded. */
import type { Tool } from '@modelcontextprotocol/client';
import type { SourceTool } from '../../../domain/interfaces/ToolSource';
import { matchesName } from './McpServerSettings';
import type { McpToolSettings, ReadMcpServerSettings } from './McpServerSettings';
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
): readonly SourceTool[] {
  const tools = new Map<string, SourceTool>();
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
    else tools.set(name, readTool(tool, name, settings, executor));
  }
  return [...tools.values()];
}

function readTool(tool: Tool, name: string, settings: ReadMcpServerSettings, executor: McpToolExecutor): SourceTool {
  const description = visibleText(tool.description ?? tool.title ?? tool.annotations?.title ?? '');
  return {
    timeout: settings.timeout,
    onChange: 'ask',
    ...settingsOf(tool.name, settings),
    name,
    ...(description === '' ? {} : { description: shorten(description, settings.maxDescriptionLength) }),
    parameters: tool.inputSchema,
    untrusted: true,
    execute: executor(tool),
  };
}

function isOffered(name: string, { allow, deny = [] }: ReadMcpServerSettings): boolean {
  const isAllowed = allow === undefined || allow.some((pattern) => matchesName(pattern, name));
  return isAllowed && !deny.some((pattern) => matchesName(pattern, name));
}

/** What the app says about the tool. */
export function settingsOf(name: string, { tools = {} }: ReadMcpServerSettings): McpToolSettings {
  const matching = Object.entries(tools).filter(([pattern]) => matchesName(pattern, name));
  return Object.assign({}, ...matching.map(([, fields]) => fields)) as McpToolSettings;
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`;
}
