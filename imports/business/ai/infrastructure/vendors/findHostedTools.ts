/**
 * The tools in a request that run on the vendor's servers, under the names that access rules use. A tool that is new to
 * Bolide has the vendor's own name: a list of what is permitted does not permit it.
 */
import { fieldsOf, foldName, isList, isObject } from '../../domain/util/json';
import type { JsonObject, WireName } from '../../domain/types/VendorTypes';

export function findHostedTools(wire: WireName, request: JsonObject): readonly string[] {
  return [...new Set(READERS[wire](request))];
}

const READERS: Readonly<Record<WireName, (request: JsonObject) => readonly string[]>> = {
  responses: (request) => [
    ...toolsOf(request),
    ...valuesOf(request, 'input').flatMap((input) => listOf(input).flatMap((item) => toolsOf(fieldsOf(item)))),
  ],
  chat_completions: (request) => [
    ...toolsOf(request),
    ...(valuesOf(request, 'web_search_options').some(isPresent) ? ['web_search'] : []),
    // xAI's
    ...(valuesOf(request, 'search_parameters').some(isPresent) ? ['web_search'] : []),
    // Azure's
    ...(valuesOf(request, 'data_sources').some(isPresent) ? ['file_search'] : []),
    // Groq's
    ...valuesOf(request, 'compound_custom')
      .flatMap((custom) => valuesOf(fieldsOf(custom), 'tools'))
      .flatMap((tools) => valuesOf(fieldsOf(tools), 'enabled_tools').flatMap(listOf))
      .flatMap((name) => (typeof name === 'string' ? [nameOf(name)] : [])),
    // OpenRouter's
    ...valuesOf(request, 'plugins')
      .flatMap(listOf)
      .flatMap((plugin) => valuesOf(fieldsOf(plugin), 'id'))
      .flatMap((id) => (typeof id === 'string' ? [id === 'web' ? 'web_search' : id] : [])),
  ],
  anthropic_messages: (request) => [
    ...toolsOf(request),
    ...(valuesOf(request, 'mcp_servers').some((servers) => listOf(servers).length > 0) ? ['mcp'] : []),
  ],
  interactions: toolsOf,
  gemini: ({ tools }) =>
    listOf(tools).flatMap((tool) =>
      Object.keys(fieldsOf(tool)).flatMap((key) => {
        const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        return name === 'function_declarations' || OF_CLIENTS.has(name) ? [] : [nameOf(name)];
      }),
    ),
};

/** Tools that the client runs, and groups of tools. */
const OF_CLIENTS: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'additional_tools',
  'tool_search',
  'tool_search_tool_regex',
  'tool_search_tool_bm25',
  'local_shell',
  'apply_patch',
  'bash',
  'text_editor',
  'memory',
  'browser_toolset',
  'computer',
  'computer_toolset',
  'computer_use',
  'computer_use_preview',
]);

function toolsOf(object: JsonObject, depth = 0): readonly string[] {
  if (depth > 4) return [];
  return valuesOf(object, 'tools')
    .flatMap(listOf)
    .flatMap((each) => {
      const tool = fieldsOf(each);
      const nested = toolsOf(tool, depth + 1);
      const names = valuesOf(tool, 'type').flatMap((type) => (typeof type === 'string' ? [nameOf(type)] : []));
      const environments = valuesOf(tool, 'environment').map((environment) => fieldsOf(environment)['type']);
      const isLocal = environments.length > 0 && environments.every((type) => type === 'local');
      return [...names.filter((name) => !OF_CLIENTS.has(name) && !(name === 'shell' && isLocal)), ...nested];
    });
}

/** The values of a field, in whatever case its name is. */
function valuesOf(object: JsonObject, name: string): readonly unknown[] {
  const spellings = Object.keys(object).filter((key) => key.length === name.length && foldName(key) === name);
  return spellings.map((key) => object[key]);
}

const NAMES: Readonly<Partial<Record<string, string>>> = {
  web_search_preview: 'web_search',
  browser_search: 'web_search',
  google_search: 'web_search',
  google_search_retrieval: 'web_search',
  enterprise_web_search: 'web_search',
  visit_website: 'web_fetch',
  code_execution: 'code_interpreter',
  collections_search: 'file_search',
  retrieval: 'file_search',
  mcp_toolset: 'mcp',
  mcp_servers: 'mcp',
  mcp_server: 'mcp',
};

/** Without the version: `web_search_20250305`, `web_search_preview_2025_03_11`, `tool_search_tool_bm25_20251119`. */
function nameOf(type: string): string {
  const name = type.replace(/_\d{4}_?\d{2}_?\d{2}$/, '');
  return NAMES[name] ?? name;
}

function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}

function isPresent(value: unknown): boolean {
  return isList(value) ? value.length > 0 : isObject(value) && value['mode'] !== 'off';
}
