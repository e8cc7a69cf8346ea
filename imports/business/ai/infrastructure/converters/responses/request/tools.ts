/**
 * Converts tools and the tool choice to fields of a Responses request.
 * https://platform.openai.com/docs/guides/tools
 */
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isFunctionTool } from '../../../../domain/entities/Tool';
import { fieldsOf, isEmpty, isObject } from '../../../../domain/util/json';
import { keepListJson } from '../../../../domain/util/keptJson';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { cacheByItem } from '../../shared/conversionCache';
import { warnAboutCallers } from '../../shared/programmaticTools';
import type { OpenAI } from 'openai';
import type { BuiltInTool, FunctionTool, Tool } from '../../../../domain/entities/Tool';
import type { ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject, VendorQuirks } from '../../../../domain/types/VendorTypes';

export interface ToolContext {
  readonly vendor: string;
  readonly quirks: Pick<VendorQuirks, 'supportsStrictTools' | 'supportsProgrammaticTools'>;
  /** The vendor accepts the result of a call in a later turn (`async` on the tool). */
  readonly nativeAsync: boolean;
}

/** @throws UnsupportedFeatureError for a built-in tool that this wire does not have */
export function toTools(tools: readonly Tool[], context: ToolContext, warnings: string[]): readonly JsonObject[] {
  const offered = tools.map((tool, index) => {
    if (!isFunctionTool(tool)) return builtInTool(tool, `tools[${index}]`, context.vendor, warnings);
    const converted = convertedFunction(tool, context, () => `tools[${index}]`);
    warnings.push(...converted.warnings);
    return converted.tool;
  });
  keepListJson(offered);
  return offered;
}

/** Tools are immutable and offered again with every turn, so each is converted once. */
const convertedFunction = cacheByItem(
  (tool: FunctionTool, context: ToolContext) => {
    const warnings: string[] = [];
    return { tool: functionTool(tool, context, warnings), warnings };
  },
  (before, now) =>
    before.vendor === now.vendor && before.quirks === now.quirks && before.nativeAsync === now.nativeAsync,
);

/**
 * A built-in tool that `tool_choice` cannot name is chosen by a required choice among that one tool.
 * @throws UnsupportedFeatureError for a built-in tool that this wire does not have
 */
export function toToolChoice(choice: ToolChoice, tools: readonly Tool[], vendor: string): unknown {
  if (typeof choice === 'string') return choice;
  switch (choice.type) {
    case 'function':
      return choice;
    case 'allowed_tools':
      return {
        ...choice,
        mode: choice.mode ?? 'auto',
        tools: choice.tools.map((tool) => ({ ...tool, type: offeredType(tool.type, tools, vendor) })),
      };
    case 'mcp':
      return 'server_label' in choice ? choice : { ...choice, server_label: onlyServer(tools) };
    default: {
      const type = offeredType(choice.type, tools, vendor);
      return CHOOSABLE.has(type)
        ? { ...choice, type }
        : { type: 'allowed_tools', mode: 'required', tools: [{ ...choice, type }] };
    }
  }
}

const CHOOSABLE: ReadonlySet<string> = new Set([
  'file_search',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'computer',
  'computer_use_preview',
  'computer_use',
  'code_interpreter',
  'image_generation',
  'shell',
  'apply_patch',
] satisfies (
  | OpenAI.Responses.ToolChoiceTypes
  | OpenAI.Responses.ToolChoiceShell
  | OpenAI.Responses.ToolChoiceApplyPatch
)['type'][]);

type WireFunctionTool = Partial<OpenAI.Responses.FunctionTool>;

function functionTool(tool: FunctionTool, context: ToolContext, warnings: string[]): JsonObject {
  const {
    blocking,
    timeout: _t,
    sequential: _s,
    idempotent: _i,
    kind: _k,
    // oxlint-disable-next-line typescript/no-deprecated -- the wire must not get it
    external: _e,
    readOnly: _r,
    untrusted: _u,
    needsApproval: _n,
    delivery: _d,
    onDuplicate: _o,
    onChange: _c,
    deferLoading: _l,
    native: _na,
    vendor,
    strict,
    allowed_callers,
    output_schema,
    ...offered
  } = tool;
  const wire: WireFunctionTool = { ...offered };
  if (context.quirks.supportsProgrammaticTools !== true) warnAboutCallers(tool, context.vendor, warnings);
  else Object.assign(wire, omitUndefined({ allowed_callers, output_schema }));
  if (strict !== undefined) {
    if (context.quirks.supportsStrictTools) wire.strict = strict;
    else if (strict === true)
      warnings.push(`"strict" was omitted from the tool "${tool.name}": ${context.vendor} does not support it.`);
  }
  if (blocking === false && context.nativeAsync) wire.async = true;
  return { ...wire, ...vendor?.openai_responses };
}

function builtInTool(tool: BuiltInTool, path: string, vendor: string, warnings: string[]): JsonObject {
  const { blocking: _, vendor: vendorPart, ...offered } = tool;
  const verbatim = vendorPart?.openai_responses;
  return { ...builtInFields(offered, path, vendor, verbatim === undefined, warnings), ...verbatim };
}

/** @param complete whether to fill in required fields that the caller left out */
function builtInFields(
  tool: Omit<BuiltInTool, 'blocking' | 'vendor'>,
  path: string,
  vendor: string,
  complete: boolean,
  warnings: string[],
): JsonObject {
  switch (tool.type) {
    case 'computer_use':
      return computerTool(tool);
    case 'code_interpreter':
      return complete && tool.container === undefined ? { ...tool, container: { type: 'auto' } } : tool;
    case 'web_fetch':
    case 'url_context':
      throw new UnsupportedFeatureError(`The Responses API has no "${tool.type}" tool.`, { vendor, path });
    case 'web_search':
      return complete || vendor === 'grok' ? searchTool(tool, vendor, warnings) : tool;
    case 'file_search':
    case 'mcp':
    case 'image_generation':
    case 'tool_search':
    case 'programmatic_tool_calling':
      return tool;
    default:
      // Unknown types are passed through: the vendor supports them or rejects them.
      return tool;
  }
}

/**
 * Domains are filters: https://github.com/vercel/ai/pull/18035 has those that are blocked, and
 * https://docs.x.ai/docs/guides/tools/search-tools xAI's name for them.
 */
function searchTool(
  { allowed_domains, blocked_domains, max_uses, ...tool }: JsonObject,
  vendor: string,
  warnings: string[],
): JsonObject {
  if (max_uses !== undefined)
    warnings.push('Omitted settings of the tool "web_search" that the Responses API does not have: max_uses.');
  const { blocked_domains: blocked, ...others } = {
    ...fieldsOf(tool.filters),
    ...omitUndefined({ allowed_domains, blocked_domains }),
  };
  const filters =
    blocked === undefined
      ? others
      : { ...others, [vendor === 'grok' ? 'excluded_domains' : 'blocked_domains']: blocked };
  return isEmpty(filters) ? tool : { ...tool, filters };
}

/** Two tools control a computer: the preview needs the environment, its successor detects it. */
function computerTool(tool: JsonObject): JsonObject {
  const { display_width, display_height, environment, ...rest } = tool;
  return environment === undefined
    ? { ...rest, type: 'computer' }
    : { ...rest, type: 'computer_use_preview', display_width, display_height, environment };
}

/** The wire type under which a chosen tool was offered. */
function offeredType(type: string, tools: readonly Tool[], vendor: string): string {
  if (type === 'function') return type;
  const offered = tools.find((tool): tool is BuiltInTool => tool.type === type);
  const sent = builtInTool(offered ?? ({ type } as BuiltInTool), 'tool_choice', vendor, []).type;
  return typeof sent === 'string' ? sent : type;
}

function onlyServer(tools: readonly Tool[]): unknown {
  const labels = tools.flatMap((tool) => (isObject(tool) && tool.type === 'mcp' ? [tool.server_label] : []));
  if (labels.length !== 1)
    throw new LLMInvalidRequestError(
      '"tool_choice" must set "server_label", because there is not exactly one MCP server among the tools.',
      {
        path: 'tool_choice.server_label',
      },
    );
  return labels[0];
}
