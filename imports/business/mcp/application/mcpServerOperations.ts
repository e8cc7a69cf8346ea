/** `ai.mcpServers.*`: admins add and change MCP servers, and approve their tools. */
import * as v from 'valibot';
import type { AuditRule } from '../../../host/AuditRule';
import { defineOperation } from '../../../host/defineOperation';
import { boolean, checkedLater, identifier, listOf, object, text, time } from '../../../host/schemas';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { McpServerAdministration } from '../domain/McpServerAdministration';
import type { Actor } from '../../ai/domain/types/Actor';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import { mcpServerName } from './mcpServerName';

export interface McpServerServices {
  readonly mcpServers: {
    readonly administration: McpServerAdministration;
    /** Receives every change, at the level info. */
    readonly logger: Logger;
    /** Called after every change. */
    readonly onChange?: () => void;
  };
}

const MAX_TOOL_NAME = 256;
const MAX_TOOLS = 10_000;
const SWITCHES = ['enabled', 'needsApproval', 'blocking'] as const;

const setting = (jsonSchema: JsonObject) => v.optional(checkedLater(jsonSchema));
const line = setting({ type: 'string' });
const lines = setting({ type: 'array', items: { type: 'string' } });
const linesByName = setting({ type: 'object', additionalProperties: { type: 'string' } });
const flag = setting({ type: 'boolean' });
const count = setting({ type: 'integer', minimum: 0 });

/** The settings are checked where they are understood. */
const settings = {
  ...{ url: line, headers: linesByName, command: line, args: lines, env: linesByName, cwd: line, prefix: line },
  ...{ allow: lines, deny: lines, deferLoading: setting({ enum: [true, false, 'auto'] }) },
  ...{ timeout: count, taskTimeout: count, connectTimeout: count, maxTools: count },
  ...{ hosted: flag, shareHeaders: flag, oauth: setting({ type: 'object' }), clientSecret: line, enabled: flag },
};

const definition = v.looseObject({
  name: v.string(),
  description: v.optional(v.string()),
  parameters: v.looseObject({}),
});
const serverInfo = v.optional(v.looseObject({ name: v.string(), version: v.string() }));
const server = v.looseObject({
  name: v.string(),
  source: v.picklist(['settings', 'dashboard']),
  enabled: v.boolean(),
  url: v.optional(v.string()),
  command: v.optional(v.string()),
  headerNames: v.array(v.string()),
  envNames: v.array(v.string()),
  problem: v.optional(v.string()),
  health: v.optional(
    v.looseObject({
      state: v.picklist(['idle', 'connecting', 'connected', 'unreachable', 'closed']),
      since: v.optional(time),
      failures: v.number(),
      error: v.optional(v.string()),
      // A random part of the pause makes it a fraction.
      retryAt: v.optional(v.number()),
      server: serverInfo,
      protocolVersion: v.optional(v.string()),
    }),
  ),
  counts: v.looseObject({
    approved: v.number(),
    new: v.number(),
    changed: v.number(),
    missing: v.number(),
    offered: v.number(),
  }),
  changedAt: v.optional(time),
  changedBy: v.optional(v.string()),
});
const withTools = v.looseObject({
  ...server.entries,
  tools: v.array(
    v.looseObject({
      tool: v.string(),
      state: v.picklist(['approved', 'new', 'changed', 'missing']),
      enabled: v.boolean(),
      needsApproval: v.optional(v.boolean()),
      blocking: v.optional(v.boolean()),
      hash: v.optional(v.string()),
      current: v.optional(definition),
      approved: v.optional(definition),
      approvedAt: v.optional(time),
    }),
  ),
});

const named = object({ name: mcpServerName });
const configured = object({ name: mcpServerName, ...settings });
const toolSwitch = v.optional(v.nullable(boolean));

const OF_SERVER = { kind: 'mcp_server', id: 'name' } as const satisfies Partial<AuditRule>;
const CHANGED = ['url', 'command', 'args', 'cwd', 'headers', 'env', 'allow', 'deny', 'enabled', 'oauth'] as const;

export const MCP_SERVER_OPERATIONS = [
  defineOperation({
    name: 'ai.mcpServers.list',
    summary: 'List the MCP servers',
    description:
      'By name: those of the settings, and those that were added. `health` is that of the process that answers, and ' +
      '`counts` are of tools.',
    access: 'admin',
    argument: object({}),
    result: v.looseObject({ servers: v.array(server) }),
    http: 'GET /api/mcp-servers',
    reads: ['mcpServers'],
    execute: async ({ mcpServers }: McpServerServices) => ({ servers: await mcpServers.administration.list() }),
  }),
  defineOperation({
    name: 'ai.mcpServers.get',
    summary: 'Read an MCP server, with its tools',
    description: '`hash` is for the approval of the definition that the server lists now.',
    access: 'admin',
    argument: named,
    result: withTools,
    http: 'GET /api/mcp-servers/:name',
    reads: ['mcpServers'],
    execute: ({ mcpServers }: McpServerServices, { argument }) => mcpServers.administration.get(argument.name),
  }),
  defineOperation({
    name: 'ai.mcpServers.save',
    summary: 'Add or change an MCP server',
    description:
      'It replaces the one of that name. Takes `url` or `command`. `headers`, `env` and `clientSecret` that are absent ' +
      'stay, as long as the server is at the same place; they are never returned.',
    access: 'admin',
    argument: configured,
    example: { name: 'docs', url: 'https://mcp.example.com', enabled: false },
    result: server,
    http: 'POST /api/mcp-servers/:name',
    changes: ['mcpServers', 'calls'],
    audit: { action: 'mcp_server.save', ...OF_SERVER, changed: CHANGED },
    execute: async ({ mcpServers }: McpServerServices, { actor, argument: { name, ...fields } }) => {
      const view = await mcpServers.administration.save(name, fields, actor.userId);
      announce(mcpServers, actor, `The MCP server "${name}" was saved.`);
      return view;
    },
  }),
  defineOperation({
    name: 'ai.mcpServers.setEnabled',
    summary: 'Switch an MCP server on or off',
    access: 'admin',
    argument: object({ name: mcpServerName, enabled: boolean }),
    example: { name: 'docs', enabled: false },
    result: server,
    http: 'POST /api/mcp-servers/:name/switch',
    changes: ['mcpServers', 'calls'],
    audit: { action: 'mcp_server.switch', ...OF_SERVER, details: ['enabled'] },
    execute: async ({ mcpServers }: McpServerServices, { actor, argument: { name, enabled } }) => {
      const view = await mcpServers.administration.setEnabled(name, enabled, actor.userId);
      announce(mcpServers, actor, `The MCP server "${name}" was switched ${enabled ? 'on' : 'off'}.`);
      return view;
    },
  }),
  defineOperation({
    name: 'ai.mcpServers.remove',
    summary: 'Remove an MCP server',
    access: 'admin',
    argument: named,
    result: v.looseObject({ removed: v.boolean() }),
    http: 'DELETE /api/mcp-servers/:name',
    changes: ['mcpServers', 'calls'],
    audit: { action: 'mcp_server.remove', ...OF_SERVER, isSafe: true },
    execute: async ({ mcpServers }: McpServerServices, { actor, argument: { name } }) => {
      const removed = await mcpServers.administration.remove(name);
      if (removed) announce(mcpServers, actor, `The MCP server "${name}" was removed.`);
      return { removed };
    },
  }),
  defineOperation({
    name: 'ai.mcpServers.test',
    summary: 'Connect to an MCP server and list its tools, without saving it',
    description: 'Takes what `ai.mcpServers.save` takes.',
    access: 'admin',
    argument: configured,
    result: v.looseObject({
      tools: v.array(definition),
      server: serverInfo,
      protocolVersion: v.optional(v.string()),
    }),
    http: 'POST /api/mcp-servers/:name/test',
    changes: [],
    // It may start a program.
    audit: { action: 'mcp_server.test', ...OF_SERVER, changed: CHANGED },
    execute: ({ mcpServers }: McpServerServices, { argument: { name, ...fields } }) =>
      mcpServers.administration.test(name, fields),
  }),
  defineOperation({
    name: 'ai.mcpServers.reconnect',
    summary: 'Connect an MCP server anew, in the process that answers',
    access: 'admin',
    argument: named,
    result: withTools,
    http: 'POST /api/mcp-servers/:name/reconnect',
    changes: ['mcpServers'],
    audit: { action: 'mcp_server.reconnect', ...OF_SERVER },
    execute: async ({ mcpServers }: McpServerServices, { actor, argument: { name } }) => {
      const detail = await mcpServers.administration.reconnect(name);
      announce(mcpServers, actor, `The MCP server "${name}" was connected anew.`);
      return detail;
    },
  }),
  defineOperation({
    name: 'ai.mcpServers.approve',
    summary: 'Approve tools of an MCP server as they were shown',
    description: 'A tool that has another hash by now is a `conflict`.',
    access: 'admin',
    argument: object({
      name: mcpServerName,
      tools: listOf(MAX_TOOLS, object({ tool: text(MAX_TOOL_NAME), hash: identifier(64) })),
    }),
    result: withTools,
    http: 'POST /api/mcp-servers/:name/approve',
    changes: ['mcpServers', 'calls'],
    audit: { action: 'mcp_server.approve', ...OF_SERVER },
    execute: async ({ mcpServers }: McpServerServices, { actor, argument: { name, tools } }) => {
      const detail = await mcpServers.administration.approve(name, tools, actor.userId);
      announce(mcpServers, actor, `${tools.length} tools of the MCP server "${name}" were approved.`);
      return detail;
    },
  }),
  defineOperation({
    name: 'ai.mcpServers.setTool',
    summary: 'Change the switches of an approved tool',
    description: '`null` returns a switch to its default.',
    access: 'admin',
    argument: v.pipe(
      object({
        name: mcpServerName,
        tool: text(MAX_TOOL_NAME),
        enabled: toolSwitch,
        needsApproval: toolSwitch,
        blocking: toolSwitch,
      }),
      v.forward(
        v.check(
          (fields) => SWITCHES.some((name) => fields[name] !== undefined),
          `or another switch is required: ${SWITCHES.join(', ')}`,
        ),
        ['enabled'],
      ),
    ),
    result: withTools,
    http: 'POST /api/mcp-servers/:name/tool',
    changes: ['mcpServers', 'calls'],
    audit: { action: 'mcp_server.set_tool', ...OF_SERVER, details: ['tool', ...SWITCHES] },
    execute: async ({ mcpServers }: McpServerServices, { actor, argument: { name, tool, ...switches } }) => {
      const detail = await mcpServers.administration.setTool(name, tool, switches, actor.userId);
      announce(mcpServers, actor, `The tool "${tool}" of the MCP server "${name}" was changed.`);
      return detail;
    },
  }),
] as const;

function announce({ logger, onChange }: McpServerServices['mcpServers'], { userId }: Actor, message: string): void {
  onChange?.();
  logger.info(message, { by: userId });
}
