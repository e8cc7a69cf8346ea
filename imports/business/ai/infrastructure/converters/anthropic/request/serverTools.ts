/**
 * Converts built-in tools to Anthropic's server tools in the version that the model supports.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools
 */
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../../../domain/util/json';
import { warnAboutSettings } from '../../shared/omittedSettings';
import type { BuiltInTool } from '../../../../domain/entities/Tool';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { AnthropicModelFeatures } from '../modelFeatures';

export interface ServerTool {
  readonly tool: JsonObject;
  /** An entry of `mcp_servers`. */
  readonly server?: JsonObject;
  /** The `container` of the request, in which its code runs. */
  readonly container?: string | JsonObject;
}

const COUNTERPART = "Anthropic's tool";

/** @throws UnsupportedFeatureError for a tool that Anthropic or the model does not have */
export function toServerTool(
  tool: BuiltInTool,
  features: AnthropicModelFeatures,
  path: string,
  warnings: string[],
): ServerTool {
  const vendorFields = tool.vendor?.anthropic;
  // The tool is already in Anthropic's format.
  if (typeof vendorFields?.type === 'string') return { tool: vendorFields };
  const mapped = mapTool(tool, features, path, warnings);
  return vendorFields === undefined ? mapped : { ...mapped, tool: { ...mapped.tool, ...vendorFields } };
}

function mapTool(tool: BuiltInTool, features: AnthropicModelFeatures, path: string, warnings: string[]): ServerTool {
  switch (tool.type) {
    case 'web_search':
      return {
        tool: {
          type: features.supportsDynamicFiltering ? 'web_search_20260318' : 'web_search_20250305',
          name: 'web_search',
          ...searchFields(tool, warnings),
        },
      };
    case 'web_fetch':
    case 'url_context':
      return {
        tool: {
          type: features.supportsDynamicFiltering ? 'web_fetch_20260318' : 'web_fetch_20250910',
          name: 'web_fetch',
          ...fetchFields(tool, warnings),
        },
      };
    case 'code_interpreter':
      warnAboutSettings(tool, ['container'], COUNTERPART, warnings);
      return { tool: codeExecution(features), ...containerOf(tool, warnings) };
    case 'programmatic_tool_calling':
      return { tool: codeExecution(features) };
    case 'tool_search':
      warnAboutSettings(tool, [], COUNTERPART, warnings);
      return { tool: { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' } };
    case 'computer_use':
      return { tool: computerTool(tool, features, path) };
    case 'mcp':
      return mcpToolset(tool, path);
    case 'file_search':
    case 'image_generation':
      throw unsupported(tool.type, path);
    default:
      if (VERSIONED.test(String(tool.type))) return { tool: withoutOwnFields(tool) };
      throw unsupported(String(tool.type), path);
  }
}

/** Anthropic's own types, such as `code_execution_20260521`. */
const VERSIONED = /_\d{8}$/;

function withoutOwnFields({ blocking: _, vendor: __, ...tool }: BuiltInTool): JsonObject {
  return tool;
}

/**
 * The version that adds state to programs, for the models that have it.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool#tool-versions
 */
function codeExecution({ supportsDynamicFiltering }: AnthropicModelFeatures): JsonObject {
  return {
    type: supportsDynamicFiltering ? 'code_execution_20260120' : 'code_execution_20250825',
    name: 'code_execution',
  };
}

/**
 * A container by its id, or `{ id?, skills? }`. OpenAI's `{ type: 'auto' }` is a new one at Anthropic, too; files are
 * put into it by parts of the type `container_upload`.
 */
function containerOf({ container }: BuiltInTool, warnings: string[]): Pick<ServerTool, 'container'> {
  if (typeof container === 'string') return { container };
  const { id, skills, type: _, ...others } = fieldsOf(container);
  const ignored = Object.keys(others);
  if (ignored.length > 0)
    warnings.push(`Omitted settings of the container that Anthropic's does not have: ${ignored.join(', ')}.`);
  const named = definedFields({ id, skills });
  return Object.keys(named).length === 0 ? {} : { container: named };
}

function searchFields(tool: BuiltInTool, warnings: string[]): JsonObject {
  const { filters, allowed_domains, blocked_domains, max_uses, user_location } = tool;
  warnAboutSettings(
    tool,
    ['filters', 'allowed_domains', 'blocked_domains', 'max_uses', 'user_location'],
    COUNTERPART,
    warnings,
  );
  const domains = fieldsOf(filters);
  return definedFields({
    allowed_domains: allowed_domains ?? domains.allowed_domains,
    blocked_domains: blocked_domains ?? domains.blocked_domains,
    max_uses,
    user_location,
  });
}

function fetchFields(tool: BuiltInTool, warnings: string[]): JsonObject {
  const { allowed_domains, blocked_domains, max_uses, citations, max_content_tokens } = tool;
  warnAboutSettings(
    tool,
    ['allowed_domains', 'blocked_domains', 'max_uses', 'citations', 'max_content_tokens'],
    COUNTERPART,
    warnings,
  );
  return definedFields({ allowed_domains, blocked_domains, max_uses, citations, max_content_tokens });
}

/** Versions before the toolset require the size of the screen. */
function computerTool(tool: BuiltInTool, features: AnthropicModelFeatures, path: string): JsonObject {
  switch (features.computer) {
    case 'none':
      throw unsupported(tool.type, path);
    case 'computer_toolset_20260801':
      return { type: features.computer };
    case 'computer_20251124':
    case 'computer_20250124': {
      const { display_width, display_height } = tool;
      if (typeof display_width !== 'number' || typeof display_height !== 'number') {
        throw new UnsupportedFeatureError(
          `The computer tool of this model requires "display_width" and "display_height" (${path}).`,
          { path },
        );
      }
      return {
        type: features.computer,
        name: 'computer',
        display_width_px: display_width,
        display_height_px: display_height,
      };
    }
  }
}

/** Anthropic's server calls remote tools without approval, so tools that require approval cannot be sent. */
function mcpToolset(tool: BuiltInTool, path: string): ServerTool {
  const { server_label, server_url, authorization, headers, connector_id, allowed_tools, require_approval } = tool;
  const refuse = (why: string): UnsupportedFeatureError =>
    new UnsupportedFeatureError(`The MCP server cannot be sent (${path}): ${why}`, { path });
  if (connector_id !== undefined || typeof server_url !== 'string' || typeof server_label !== 'string')
    throw refuse('it requires "server_label" and "server_url".');
  if (require_approval !== 'never')
    throw refuse('Anthropic calls its tools without approval. Set "require_approval" to "never".');
  if (isObject(headers) && Object.keys(headers).length > 0)
    throw refuse('headers are not forwarded to it. Use "authorization" instead.');
  const names = isObject(allowed_tools) ? allowed_tools.tool_names : allowed_tools;
  const allowed = Array.isArray(names)
    ? {
        default_config: { enabled: false },
        configs: Object.fromEntries(names.map((name) => [String(name), { enabled: true }])),
      }
    : {};
  return {
    tool: { type: 'mcp_toolset', mcp_server_name: server_label, ...allowed },
    server: {
      type: 'url',
      url: server_url,
      name: server_label,
      ...(typeof authorization === 'string' ? { authorization_token: authorization } : {}),
    },
  };
}

function definedFields(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

function unsupported(type: string, path: string): UnsupportedFeatureError {
  return new UnsupportedFeatureError(`Anthropic has no "${type}" tool for this model (${path}).`, { path });
}
