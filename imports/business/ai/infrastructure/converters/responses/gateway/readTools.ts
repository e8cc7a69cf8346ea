/**
 * Reads the tools and the tool choice of a client's Responses request.
 * https://platform.openai.com/docs/guides/tools
 */
import { BUILT_IN_TOOL_TYPES } from '../../../../domain/entities/Tool';
import { isObject } from '../../../../domain/util/json';
import type { ItemSource } from '../items';
import type { FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

type InvalidError = ItemSource['invalid'];

export function readTools(tools: unknown, invalid: InvalidError): readonly Tool[] {
  if (!Array.isArray(tools)) throw invalid('tools', 'is not a list');
  return tools.map((tool: unknown, index) => readTool(tool, `tools[${index}]`, invalid));
}

export interface ReadToolChoice {
  /** The choice as other wires can express it. */
  readonly inner?: ToolChoice;
  /** The choice as this wire has to receive it, if converting `inner` back would not restore it. */
  readonly verbatim?: unknown;
}

export function readToolChoice(choice: unknown, invalid: InvalidError): ReadToolChoice {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { inner: choice };
  if (!isObject(choice)) throw invalid('tool_choice', 'is neither auto, none, required nor an object');
  if (typeof choice.type !== 'string') throw invalid('tool_choice.type', 'is not a string');
  switch (choice.type) {
    case 'function':
      if (typeof choice.name !== 'string') throw invalid('tool_choice.name', 'is not a string');
      return { inner: { ...choice, type: choice.type, name: choice.name } };
    case 'allowed_tools': {
      const { mode, tools } = choice;
      if (mode !== undefined && mode !== 'auto' && mode !== 'required')
        throw invalid('tool_choice.mode', 'is neither auto nor required');
      if (!Array.isArray(tools)) throw invalid('tool_choice.tools', 'is not a list');
      return {
        inner: {
          ...choice,
          type: choice.type,
          ...omitUndefined({ mode }),
          tools: tools.map((tool: unknown, index) => readAllowedTool(tool, index, invalid)),
        },
      };
    }
    default: {
      const type = BUILT_IN_TOOL_TYPES.find((each) => each === innerType(choice.type));
      return type === undefined ? { verbatim: choice } : { inner: { ...choice, type }, verbatim: choice };
    }
  }
}

/** Wire types of tools that have another name, or several versions, on the wire. */
const INNER_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['web_search_preview', 'web_search'],
  ['web_search_preview_2025_03_11', 'web_search'],
  ['web_search_2025_08_26', 'web_search'],
  ['computer', 'computer_use'],
  ['computer_use_preview', 'computer_use'],
]);

function innerType(type: unknown): unknown {
  return INNER_TYPES.get(type) ?? type;
}

/** Fields that have a different meaning in the domain model; on the wire they belong to the vendor. */
const RESERVED = {
  blocking: true,
  timeout: true,
  sequential: true,
  idempotent: true,
  kind: true,
  external: true,
  readOnly: true,
  untrusted: true,
  needsApproval: true,
  delivery: true,
  onDuplicate: true,
  onChange: true,
  deferLoading: true,
  native: true,
  vendor: true,
} as const satisfies Record<
  Exclude<
    keyof FunctionTool,
    'type' | 'name' | 'description' | 'parameters' | 'strict' | 'allowed_callers' | 'output_schema'
  >,
  true
>;

function readTool(raw: unknown, path: string, invalid: InvalidError): Tool {
  if (!isObject(raw)) throw invalid(path, 'is not an object');
  if (typeof raw.type !== 'string') throw invalid(`${path}.type`, 'is not a string');
  if (raw.type === 'function') checkFunction(raw, path, invalid);
  const type = innerType(raw.type);
  const setAside = Object.entries(raw).filter(
    ([field, value]) =>
      (field === 'type' && value !== type) ||
      Object.hasOwn(RESERVED, field) ||
      (value === null && raw.type === 'function'),
  );
  const retained = Object.fromEntries(
    Object.entries(raw).filter(([field]) => !setAside.some(([name]) => name === field)),
  );
  // The vendor part marks the tool as complete, so that no missing fields are filled in.
  const vendorPart =
    raw.type === 'function' && setAside.length === 0
      ? {}
      : { vendor: { openai_responses: Object.fromEntries(setAside) } };
  // The cast is safe for functions, whose fields were checked. Other tools belong to the vendor and pass unchecked.
  return { ...retained, type, ...vendorPart } as unknown as Tool;
}

function checkFunction(raw: JsonObject, path: string, invalid: InvalidError): void {
  if (typeof raw.name !== 'string') throw invalid(`${path}.name`, 'is not a string');
  if (typeof (raw.description ?? '') !== 'string') throw invalid(`${path}.description`, 'is not a string');
  if (!isObject(raw.parameters ?? {})) throw invalid(`${path}.parameters`, 'is not an object');
  if (typeof (raw.strict ?? false) !== 'boolean') throw invalid(`${path}.strict`, 'is neither true nor false');
}

function readAllowedTool(tool: unknown, index: number, invalid: InvalidError): { type: string; name?: string } {
  if (!isObject(tool) || typeof tool.type !== 'string')
    throw invalid(`tool_choice.tools[${index}].type`, 'is not a string');
  if (tool.name !== undefined && typeof tool.name !== 'string')
    throw invalid(`tool_choice.tools[${index}].name`, 'is not a string');
  return { ...tool, type: tool.type, ...omitUndefined({ name: tool.name }) };
}
