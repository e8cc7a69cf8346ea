/**
 * Has the vendor call tools of MCP servers itself where it can: their definitions become entries for the servers. What
 * it cannot call stays as it is, and Bolide calls it.
 */
import { isFunctionTool } from '../../domain/entities/Tool';
import type { BuiltInTool } from '../../domain/entities/Tool';
import { LLMPermissionError } from '../../domain/errors/LLMErrors';
import { isObject } from '../../domain/util/json';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { HostedMcpServer } from '../../domain/types/HostedMcp';
import type { NormalizedOptions } from '../../domain/types/LLMTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import type { VendorName, WireName } from '../../domain/types/VendorTypes';
import { restoreItems } from '../converters/shared/RewrittenTools';
import type { RewrittenTools } from '../converters/shared/RewrittenTools';
import type { HostedMcpSupport } from '../vendors/Vendor';
import { VENDOR_ROWS } from '../vendors/vendors';

/** Whose entries are sent. */
interface Account {
  readonly id: string;
  readonly vendor: VendorName;
}

export interface HostedCall {
  /** Absent: Bolide calls everything. */
  readonly rewritten?: RewrittenTools;
  /** Why Bolide calls the tools of a server that was to be called by the vendor. */
  readonly warnings: readonly string[];
}

/** @returns undefined if nothing is to be hosted */
export async function hostMcpTools(
  options: NormalizedOptions,
  config: Account,
  wire: WireName,
): Promise<HostedCall | undefined> {
  const { hostedMcp, tools = [] } = options;
  if (hostedMcp === undefined) return undefined;
  const groups = groupByServer(options);
  if (groups.size === 0) return undefined;
  const { hostedMcp: support } = VENDOR_ROWS[config.vendor];
  const obstacle = await obstacleOfCall(options, config, wire, support);
  const warnings: string[] = [];
  const entries = new Map<string, BuiltInTool>();
  for (const [name, { server, names }] of groups) {
    const reason = server.obstacle ?? obstacle ?? obstacleOfServer(server, options, support);
    if (reason === undefined) entries.set(name, entryOf(server, names, support));
    else warnings.push(`Bolide itself calls the tools of the MCP server "${name}": ${reason}.`);
  }
  if (entries.size === 0) return { warnings };
  const left = tools.filter((tool) => !isFunctionTool(tool) || !entries.has(serverOf(tool.name, options)));
  const findable = options.findableTools;
  const findableTools = findable && {
    ...findable,
    tools: findable.tools.filter(({ name }) => !entries.has(serverOf(name, options))),
  };
  const hosted = { ...options, ...omitUndefined({ findableTools }), tools: [...left, ...entries.values()] };
  return { rewritten: rewrite(hosted), warnings };
}

/** Vendors may send the entries back with the response, which is stored. */
function rewrite(options: NormalizedOptions): RewrittenTools {
  const restoreResponse = (response: LLMResponse): LLMResponse => restoreItems(response, (item) => item);
  return {
    options,
    restoreResponse,
    restoreEvent: (event) => [
      event.type === 'response.completed' ? { ...event, response: restoreResponse(event.response) } : event,
    ],
  };
}

interface ServerTools {
  readonly server: HostedMcpServer;
  /** The server's names of the tools that the request offers. */
  readonly names: string[];
}

function groupByServer({ hostedMcp, tools = [] }: NormalizedOptions): ReadonlyMap<string, ServerTools> {
  const groups = new Map<string, ServerTools>();
  for (const tool of tools) {
    const hosted = isFunctionTool(tool) ? hostedMcp?.get(tool.name) : undefined;
    if (hosted === undefined) continue;
    const group = groups.get(hosted.server.name) ?? { server: hosted.server, names: [] };
    groups.set(hosted.server.name, group);
    group.names.push(hosted.name);
  }
  return groups;
}

function serverOf(toolName: string, { hostedMcp }: NormalizedOptions): string {
  return hostedMcp?.get(toolName)?.server.name ?? '';
}

/** What keeps this vendor, or this request, from hosting any server. */
async function obstacleOfCall(
  options: NormalizedOptions,
  { id, vendor }: Account,
  wire: WireName,
  support: HostedMcpSupport | undefined,
): Promise<string | undefined> {
  if (support?.wire !== wire) return `${VENDOR_LABELS[vendor]} does not call MCP servers over this API (${wire})`;
  if (options.batch !== undefined) return 'the request is part of a batch';
  // The entries would be among the fields that the caller sends in their place.
  if (
    Object.values(options.vendor ?? {}).some((fields) => isObject(fields) && REPLACING.some((name) => name in fields))
  )
    return 'the request has "vendor" fields for tools';
  return (await isPermitted(options, id)) ? undefined : `the user may not use "hosted:mcp" of the provider "${id}"`;
}

const REPLACING = ['tools', 'mcp_servers'];

/** Asked before, since the request would be refused as a whole. @throws what the caller's `onSend` throws otherwise */
async function isPermitted({ onSend }: NormalizedOptions, providerId: string): Promise<boolean> {
  try {
    await onSend?.({ providerId, isOwnAccount: false, objects: [], hostedTools: ['mcp'], models: [] });
    return true;
  } catch (error) {
    if (error instanceof LLMPermissionError) return false;
    throw error;
  }
}

function obstacleOfServer(
  server: HostedMcpServer,
  { tools = [], tool_choice: choice, hostedMcp }: NormalizedOptions,
  support: HostedMcpSupport | undefined,
): string | undefined {
  if (tools.some((tool) => tool.type === 'mcp' && tool.server_label === labelOf(server)))
    return 'another tool of the request has its label';
  const chosen = typeof choice !== 'object' ? [] : 'tools' in choice ? choice.tools : [choice];
  if (chosen.some(({ name = '' }) => hostedMcp?.get(name)?.server.name === server.name))
    return '"tool_choice" names one of them';
  if (support?.sendsHeaders !== true && Object.keys(splitHeaders(server).others).length > 0)
    return 'the vendor sends no headers to it but a bearer token';
  return undefined;
}

function entryOf(
  server: HostedMcpServer,
  names: readonly string[],
  support: HostedMcpSupport | undefined,
): BuiltInTool {
  const { token, others } = splitHeaders(server);
  return omitUndefined({
    type: 'mcp',
    server_label: labelOf(server),
    server_url: server.url,
    allowed_tools: names,
    // Tools that need an approval are not hosted.
    require_approval: support?.omitsApproval === true ? undefined : 'never',
    authorization: token,
    headers: Object.keys(others).length === 0 ? undefined : others,
  });
}

/** OpenAI's labels begin with a letter. */
function labelOf({ name }: HostedMcpServer): string {
  return /^[a-zA-Z]/.test(name) ? name : `mcp_${name}`;
}

/** The bearer token, which vendors have a field for, and the other headers. */
function splitHeaders({ headers }: HostedMcpServer): {
  readonly token: string | undefined;
  readonly others: Readonly<Record<string, string>>;
} {
  const [header, value = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
  const token = /^bearer\s+(?<token>\S+)\s*$/i.exec(value)?.groups?.token;
  if (token === undefined) return { token, others: headers };
  return { token, others: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header)) };
}
