/** `ai.mcpServers.*` for any transport: admins add and change MCP servers, and approve their tools. */
import { boolean, identifier, invalid, listOf, readObject, required, text } from '../../domain/arguments';
import type { ArgumentReader } from '../../domain/arguments';
import { LLMPermissionError } from '../../domain/errors/LLMErrors';
import { fieldsOf } from '../../domain/json';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ChangedSwitches, McpServerAdministration } from '../../domain/interfaces/McpServerAdministration';
import type { Actor } from '../../domain/types/Actor';
import type { McpServerDetail, McpServerTest, McpServerView } from '../../domain/types/McpViews';
import type { Operation } from '../../domain/types/Operation';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { signedIn } from './RunOperations';

export interface McpServerOperationsPorts {
  readonly administration: McpServerAdministration;
  /** Receives every change, at the level info. */
  readonly logger: Logger;
  /** Called after every change. */
  readonly onChange?: () => void;
}

/** Every operation throws LLMAuthError if nobody is logged in, LLMPermissionError, and LLMInvalidRequestError. */
export interface McpServerOperations {
  /** By name: those of the settings, and those that were added. */
  readonly 'ai.mcpServers.list': Operation<{ readonly servers: readonly McpServerView[] }>;
  /** Takes `{ name }`. */
  readonly 'ai.mcpServers.get': Operation<McpServerDetail>;
  /**
   * Takes `{ name, url | command, … }`, options of `mcp`, and `enabled?`, and adds the server or replaces it. `headers`
   * and `env` stay if they are absent and the server is still at the same place; they are never returned.
   */
  readonly 'ai.mcpServers.save': Operation<McpServerView>;
  /** Takes `{ name, enabled }`. */
  readonly 'ai.mcpServers.setEnabled': Operation<McpServerView>;
  /** Takes `{ name }`. */
  readonly 'ai.mcpServers.remove': Operation<{ readonly removed: boolean }>;
  /** Takes what `save` does, connects, and stores nothing. Throws LLMConnectionError. */
  readonly 'ai.mcpServers.test': Operation<McpServerTest>;
  /** Takes `{ name }`, and connects anew, in the process that answers. */
  readonly 'ai.mcpServers.reconnect': Operation<McpServerDetail>;
  /** Takes `{ name, tools: [{ tool, hash }] }`. Throws ConflictError if one has another hash by now. */
  readonly 'ai.mcpServers.approve': Operation<McpServerDetail>;
  /** Takes `{ name, tool, enabled?, needsApproval?, blocking? }`; null returns a switch to its default. */
  readonly 'ai.mcpServers.setTool': Operation<McpServerDetail>;
}

const MAX_TOOL_NAME = 256;
const MAX_TOOLS = 10_000;

export function createMcpServerOperations(ports: McpServerOperationsPorts): McpServerOperations {
  const { administration, logger, onChange = () => undefined } = ports;
  const changed = (actor: Actor, message: string): void => {
    onChange();
    logger.info(message, { by: actor.userId });
  };
  return {
    async 'ai.mcpServers.list'(actor, argument = {}) {
      assertAdmin(actor);
      readObject(argument, []);
      return { servers: await administration.list() };
    },
    async 'ai.mcpServers.get'(actor, argument) {
      assertAdmin(actor);
      return administration.get(readNamed(argument));
    },
    async 'ai.mcpServers.save'(actor, argument) {
      assertAdmin(actor);
      const { name, fields } = readFields(argument);
      const view = await administration.save(name, fields, actor.userId);
      changed(actor, `The MCP server "${name}" was saved.`);
      return view;
    },
    async 'ai.mcpServers.setEnabled'(actor, argument) {
      assertAdmin(actor);
      const fields = readObject(argument, ['name', 'enabled']);
      const name = required(fields, 'name', readServerName);
      const enabled = required(fields, 'enabled', boolean);
      const view = await administration.setEnabled(name, enabled, actor.userId);
      changed(actor, `The MCP server "${name}" was switched ${enabled ? 'on' : 'off'}.`);
      return view;
    },
    async 'ai.mcpServers.remove'(actor, argument) {
      assertAdmin(actor);
      const name = readNamed(argument);
      const removed = await administration.remove(name);
      if (removed) changed(actor, `The MCP server "${name}" was removed.`);
      return { removed };
    },
    async 'ai.mcpServers.test'(actor, argument) {
      assertAdmin(actor);
      const { name, fields } = readFields(argument);
      return administration.test(name, fields);
    },
    async 'ai.mcpServers.reconnect'(actor, argument) {
      assertAdmin(actor);
      const name = readNamed(argument);
      const detail = await administration.reconnect(name);
      changed(actor, `The MCP server "${name}" was connected anew.`);
      return detail;
    },
    async 'ai.mcpServers.approve'(actor, argument) {
      assertAdmin(actor);
      const fields = readObject(argument, ['name', 'tools']);
      const name = required(fields, 'name', readServerName);
      const tools = required(fields, 'tools', listOf(MAX_TOOLS, readApproval));
      const detail = await administration.approve(name, tools, actor.userId);
      changed(actor, `${tools.length} tools of the MCP server "${name}" were approved.`);
      return detail;
    },
    async 'ai.mcpServers.setTool'(actor, argument) {
      assertAdmin(actor);
      const fields = readObject(argument, ['name', 'tool', ...SWITCHES]);
      const name = required(fields, 'name', readServerName);
      const tool = required(fields, 'tool', text(MAX_TOOL_NAME));
      const detail = await administration.setTool(name, tool, readSwitches(fields), actor.userId);
      changed(actor, `The tool "${tool}" of the MCP server "${name}" was changed.`);
      return detail;
    },
  };
}

const SWITCHES = ['enabled', 'needsApproval', 'blocking'] as const;

function assertAdmin(actor: Actor): void {
  signedIn(actor);
  if (actor.isAdmin !== true) throw new LLMPermissionError('Only administrators may see and change MCP servers.');
}

const readServerName: ArgumentReader<string> = (value, path) => {
  if (typeof value === 'string' && /^[a-zA-Z0-9_-]{1,32}$/.test(value)) return value;
  throw invalid(path, 'must be 1 to 32 characters of a-z, A-Z, 0-9, _ and -');
};

function readNamed(argument: unknown): string {
  return required(readObject(argument, ['name']), 'name', readServerName);
}

/** The other fields are checked where they are understood. */
function readFields(argument: unknown): { readonly name: string; readonly fields: JsonObject } {
  const { name: _, ...fields } = readObject(argument, Object.keys(fieldsOf(argument)));
  return { name: required(fieldsOf(argument), 'name', readServerName), fields };
}

const readApproval: ArgumentReader<{ readonly tool: string; readonly hash: string }> = (value, path) => {
  const fields = readObject(value, ['tool', 'hash'], path);
  return {
    tool: required(fields, 'tool', text(MAX_TOOL_NAME), `${path}.tool`),
    hash: required(fields, 'hash', identifier(64), `${path}.hash`),
  };
};

function readSwitches(fields: JsonObject): ChangedSwitches {
  const given = SWITCHES.flatMap((name) => {
    const value = fields[name];
    if (value === undefined) return [];
    return [[name, value === null ? null : boolean(value, name)] as const];
  });
  if (given.length === 0) throw invalid('enabled', `or another switch is required: ${SWITCHES.join(', ')}`);
  return Object.fromEntries(given);
}
