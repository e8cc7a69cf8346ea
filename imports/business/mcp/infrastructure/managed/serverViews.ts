/** MCP servers as admins see them. */
import type { McpOAuthConfig, McpToolApproval, McpToolDefinition } from '../../domain/McpServer';
import type { McpServerView, McpToolState, McpToolView } from '../../domain/McpViews';
import { hostedServer } from '../hostedServer';
import type { McpSource } from '../McpSource';
import { toToolName } from '../mcpToolNames';
import type { ConfiguredServer } from './ConfiguredServer';
import { healthOf, listedOf } from './ManagedServer';
import type { ManagedServer } from './ManagedServer';
import type { ListedTool } from './toolDefinition';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';

/** By their names in the registry, with the source of the other tool of that name. */
export type Clashes = ReadonlyMap<string, string | undefined>;

export function viewOf(server: ManagedServer, clashes: Clashes): McpServerView {
  const { name, config, secrets, enabled, changedAt, changedBy } = server.stored;
  const health = healthOf(server);
  return omitUndefined({
    ...config,
    name,
    source: 'dashboard',
    enabled,
    headerNames: Object.keys(secrets?.headers ?? {}),
    envNames: Object.keys(secrets?.env ?? {}),
    hasClientSecret: secrets?.clientSecret === undefined ? undefined : true,
    ...obstacleField({ ...config, ...secrets, name }),
    problem: server.problem,
    health,
    counts: countsOf(toolsOf(server, new Map(), clashes)),
    changedAt,
    changedBy,
  });
}

/** A server of the settings, whose address may contain a secret of the operator's. */
export function viewOfConfigured(
  settings: ConfiguredServer,
  source: McpSource | undefined,
  toolNames: readonly string[],
): McpServerView {
  const { name, url, command, prefix, hosted, shareHeaders, headers = {}, env = {}, oauth } = settings;
  const { clientSecret, ...accounts } = oauth ?? {};
  const address = url === undefined ? undefined : new URL(url);
  return omitUndefined({
    name,
    url: address === undefined ? undefined : `${address.origin}${address.pathname}`,
    command,
    prefix,
    hosted,
    shareHeaders,
    ...obstacleField(settings),
    oauth: oauth === undefined ? undefined : (accounts as McpOAuthConfig),
    hasClientSecret: clientSecret === undefined ? undefined : true,
    source: 'settings',
    enabled: true,
    headerNames: Object.keys(headers),
    envNames: Object.keys(env),
    health: source?.health,
    counts: { ...NO_TOOLS, approved: toolNames.length, offered: toolNames.length },
  });
}

function obstacleField(settings: Parameters<typeof hostedServer>[0]): Pick<McpServerView, 'hostedObstacle'> {
  const obstacle = hostedServer(settings)?.obstacle;
  return obstacle === undefined ? {} : { hostedObstacle: obstacle };
}

/**
 * The tools that the server lists, and those that were approved, by name.
 * @param approved the definitions, by hash
 */
export function toolsOf(
  server: ManagedServer,
  approved: ReadonlyMap<string, McpToolDefinition>,
  clashes: Clashes,
): readonly McpToolView[] {
  const { name, config } = server.stored;
  const listed = listedOf(server);
  const approvals = new Map(server.stored.approvals.map((approval) => [approval.tool, approval]));
  const names = [...new Set([...approvals.keys(), ...(listed?.keys() ?? [])])].sort();
  return names.map((tool) => {
    const registered = toToolName(config.prefix ?? `${name}_`, tool);
    const clash = clashes.has(registered) ? { name: registered, source: clashes.get(registered) } : undefined;
    return { ...toolView(tool, approvals.get(tool), listed?.get(tool), approved), ...clashFields(clash) };
  });
}

function toolView(
  tool: string,
  approval: McpToolApproval | undefined,
  listed: ListedTool | undefined,
  definitions: ReadonlyMap<string, McpToolDefinition>,
): McpToolView {
  const approved = approval === undefined ? undefined : definitions.get(approval.hash);
  return omitUndefined({
    tool,
    state: stateOf(approval, listed),
    enabled: approval?.enabled ?? false,
    needsApproval: approval?.needsApproval,
    blocking: approval?.blocking,
    ...(listed === undefined ? {} : { hash: listed.hash, current: listed.definition }),
    approved,
    approvedAt: approval?.approvedAt,
  });
}

function clashFields(
  clash: { readonly name: string; readonly source: string | undefined } | undefined,
): Pick<McpToolView, 'clash'> {
  if (clash === undefined) return {};
  const { name, source } = clash;
  return { clash: omitUndefined({ name, source }) };
}

function stateOf(approval: McpToolApproval | undefined, listed: ListedTool | undefined): McpToolState {
  if (listed === undefined) return 'missing';
  if (approval === undefined) return 'new';
  return approval.hash === listed.hash ? 'approved' : 'changed';
}

const NO_TOOLS = { approved: 0, new: 0, changed: 0, missing: 0, offered: 0 };

function countsOf(tools: readonly McpToolView[]): McpServerView['counts'] {
  const counts = { ...NO_TOOLS };
  for (const { state, enabled, clash } of tools) {
    counts[state] += 1;
    if (state === 'approved' && enabled && clash === undefined) counts.offered += 1;
  }
  return counts;
}
