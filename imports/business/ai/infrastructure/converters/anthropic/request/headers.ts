/**
 * The headers of a request: the API version and the beta features that the request uses.
 * https://platform.claude.com/docs/en/api/beta-headers
 */
import { fieldsOf, isList, isObject, isObjectList } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

const COMPACTION_BETA = 'compact-2026-09-04';

const BETA_OF_FIELD = Object.entries({
  compaction: COMPACTION_BETA,
  context_management: 'context-management-2025-06-27',
  output_format: 'structured-outputs-2025-11-13',
});

const BETA_OF_TOOL: Readonly<Record<string, string>> = {
  advisor_20260301: 'advisor-tool-2026-03-01',
  computer_20241022: 'computer-use-2024-10-22',
  computer_20250124: 'computer-use-2025-01-24',
  computer_20251124: 'computer-use-2025-11-24',
  mcp_toolset: 'mcp-client-2025-11-20',
};

const BETA_OF_EDIT: Readonly<Record<string, string>> = { compact_20260112: 'compact-2026-01-12' };

export interface RequestedHeaders {
  /** Names of beta features, like `betas` in the SDK. */
  readonly betas?: unknown;
  /** The API version, if the request uses another than the default. */
  readonly version?: unknown;
}

export function anthropicHeaders(
  body: JsonObject,
  { betas: requested, version }: RequestedHeaders,
): Readonly<Record<string, string>> | undefined {
  const beta = betaHeader(body, requested);
  return isVersion(version) ? { ...beta, 'anthropic-version': version } : beta;
}

/** https://platform.claude.com/docs/en/api/versioning */
export function isVersion(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
}

function betaHeader(body: JsonObject, requested: unknown): Readonly<Record<string, string>> | undefined {
  const betas = new Set<string>();
  if (Array.isArray(requested)) for (const beta of requested) if (typeof beta === 'string') betas.add(beta);
  for (const [field, beta] of BETA_OF_FIELD) if (isSet(body[field])) betas.add(beta);
  if (isSet(fieldsOf(body.thinking).block_binding)) betas.add('thinking-binding-controls-2026-08-01');
  if (isSet(body.mcp_servers)) betas.add(mcpBeta(body.mcp_servers));
  addByType(body.tools, BETA_OF_TOOL, betas);
  if (beginsWithSignedCompaction(body.messages)) betas.add(COMPACTION_BETA);
  if (changesTools(body.messages)) betas.add('mid-conversation-tool-changes-2026-07-01');
  if (isObject(body.context_management)) addByType(body.context_management.edits, BETA_OF_EDIT, betas);
  return betas.size === 0 ? undefined : { 'anthropic-beta': [...betas].join(',') };
}

/** Detects a compaction on request. Compactions at a threshold of tokens are not signed. */
function beginsWithSignedCompaction(messages: unknown): boolean {
  const { content } = fieldsOf(isList(messages) ? messages[0] : undefined);
  const first = isObjectList(content) ? content[0] : undefined;
  return first?.type === 'compaction' && typeof first.signature === 'string';
}

/** https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages */
function changesTools(messages: unknown): boolean {
  if (!isList(messages)) return false;
  for (const message of messages) {
    const { role, content } = fieldsOf(message);
    if (role === 'system' && isObjectList(content) && content.some(({ type }) => isToolChange(type))) return true;
  }
  return false;
}

function isToolChange(type: unknown): boolean {
  return type === 'tool_addition' || type === 'tool_removal';
}

/** In the first version of the beta, enabled tools were configured on the server entries. */
function mcpBeta(servers: unknown): string {
  const isFirstVersion = isObjectList(servers) && servers.some((server) => 'tool_configuration' in server);
  return isFirstVersion ? 'mcp-client-2025-04-04' : 'mcp-client-2025-11-20';
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function addByType(entries: unknown, table: Readonly<Record<string, string>>, betas: Set<string>): void {
  if (!isObjectList(entries)) return;
  for (const { type } of entries) {
    const beta = typeof type === 'string' ? table[type] : undefined;
    if (beta !== undefined) betas.add(beta);
  }
}
