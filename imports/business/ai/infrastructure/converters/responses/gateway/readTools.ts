/** Tools and the choice among them as a client of the Responses wire words them, in the inner language. */
import { BUILT_IN_TOOL_TYPES } from '../../../../domain/entities/Tool';
import { isObject } from '../../../../domain/json';
import type { Direction } from '../items';
import type { FunctionTool, Tool } from '../../../../domain/entities/Tool';
import type { ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

type Refuse = Direction['refuse'];

export function readTools(tools: unknown, refuse: Refuse): readonly Tool[] {
  if (!Array.isArray(tools)) throw refuse('tools', 'is not a list');
  return tools.map((tool: unknown, index) => readTool(tool, `tools[${index}]`, refuse));
}

export interface ReadToolChoice {
  /** What other wires understand of it. */
  readonly inner?: ToolChoice;
  /** What this wire must get, where the inner word would come out as another one. */
  readonly verbatim?: unknown;
}

export function readToolChoice(choice: unknown, refuse: Refuse): ReadToolChoice {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { inner: choice };
  if (!isObject(choice)) throw refuse('tool_choice', 'is neither auto, none, required nor an object');
  if (typeof choice.type !== 'string') throw refuse('tool_choice.type', 'is not a text');
  switch (choice.type) {
    case 'function':
      if (typeof choice.name !== 'string') throw refuse('tool_choice.name', 'is not a text');
      return { inner: { ...choice, type: choice.type, name: choice.name } };
    case 'allowed_tools': {
      const { mode, tools } = choice;
      if (mode !== undefined && mode !== 'auto' && mode !== 'required')
        throw refuse('tool_choice.mode', 'is neither auto nor required');
      if (!Array.isArray(tools)) throw refuse('tool_choice.tools', 'is not a list');
      return {
        inner: {
          ...choice,
          type: choice.type,
          ...(mode === undefined ? {} : { mode }),
          tools: tools.map((tool: unknown, index) => allowed(tool, index, refuse)),
        },
      };
    }
    default: {
      const type = BUILT_IN_TOOL_TYPES.find((each) => each === innerType(choice.type));
      return type === undefined ? { verbatim: choice } : { inner: { ...choice, type }, verbatim: choice };
    }
  }
}

/** The wire's words for tools that have another name, or several versions, there. */
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

/** Fields that mean something else inside this program; on the wire they are the host's. */
const RESERVED = {
  blocking: true,
  timeout: true,
  sequential: true,
  idempotent: true,
  external: true,
  needsApproval: true,
  delivery: true,
  onDuplicate: true,
  vendor: true,
} as const satisfies Record<
  Exclude<keyof FunctionTool, 'type' | 'name' | 'description' | 'parameters' | 'strict'>,
  true
>;

function readTool(raw: unknown, path: string, refuse: Refuse): Tool {
  if (!isObject(raw)) throw refuse(path, 'is not an object');
  if (typeof raw.type !== 'string') throw refuse(`${path}.type`, 'is not a text');
  if (raw.type === 'function') checkFunction(raw, path, refuse);
  const type = innerType(raw.type);
  const aside = Object.entries(raw).filter(
    ([field, value]) =>
      (field === 'type' && value !== type) ||
      Object.hasOwn(RESERVED, field) ||
      (value === null && raw.type === 'function'),
  );
  const kept = Object.fromEntries(Object.entries(raw).filter(([field]) => !aside.some(([name]) => name === field)));
  // A client that speaks this wire has said all it wanted: nothing is filled in for it.
  const words =
    raw.type === 'function' && aside.length === 0 ? {} : { vendor: { openai_responses: Object.fromEntries(aside) } };
  // A function's fields were checked; the fields of hosted tools are their host's, and their types may be newer
  // than this program.
  return { ...kept, type, ...words } as unknown as Tool;
}

function checkFunction(raw: JsonObject, path: string, refuse: Refuse): void {
  if (typeof raw.name !== 'string') throw refuse(`${path}.name`, 'is not a text');
  if (typeof (raw.description ?? '') !== 'string') throw refuse(`${path}.description`, 'is not a text');
  if (!isObject(raw.parameters ?? {})) throw refuse(`${path}.parameters`, 'is not an object');
  if (typeof (raw.strict ?? false) !== 'boolean') throw refuse(`${path}.strict`, 'is neither true nor false');
}

function allowed(tool: unknown, index: number, refuse: Refuse): { type: string; name?: string } {
  if (!isObject(tool) || typeof tool.type !== 'string')
    throw refuse(`tool_choice.tools[${index}].type`, 'is not a text');
  if (tool.name !== undefined && typeof tool.name !== 'string')
    throw refuse(`tool_choice.tools[${index}].name`, 'is not a text');
  return { ...tool, type: tool.type, ...(tool.name === undefined ? {} : { name: tool.name }) };
}
