/**
 * Checks which of the offered tools the model may or must call: a choice that names a tool must name an offered one.
 */
import { field, freeze, otherFields, record, requiredName } from './fields';
import { describe, isList, isRecord, invalid } from './PlainReader';
import type { Plain, PlainRecord } from './PlainReader';
import { fieldsOf } from '../../../domain/util/json';
import type { Tool } from '../../../domain/entities/Tool';
import { ToolNames } from '../../../domain/entities/ToolNames';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { ToolChoice } from '../../../domain/types/LLMTypes';

export function toolChoice(value: Plain, tools: readonly Tool[], path: string): ToolChoice {
  if (value === 'auto' || value === 'none') return value;
  if (value === 'required') {
    if (tools.length === 0) throw invalid(path, 'is "required", but no tools are offered');
    return value;
  }
  if (!isRecord(value))
    throw invalid(path, `must be "auto", "none", "required" or an object that names a tool, not ${describe(value)}`);
  const type = requiredName(value, 'type', path);
  const offered = new ToolNames([...tools, ...namespacedTools(tools)]);
  if (type !== 'allowed_tools') return oneTool(value, offered, tools, path);
  const { tools: allowed } = value;
  if (!isList(allowed) || allowed.length === 0)
    throw invalid(`${path}.tools`, 'must be an array that names at least one offered tool');
  return freeze<Extract<ToolChoice, { readonly type: 'allowed_tools' }>>({
    type: 'allowed_tools',
    ...field('mode', modeOf(value, path)),
    tools: freeze(
      allowed.map((entry, index) =>
        oneTool(record(entry, `${path}.tools[${index}]`), offered, tools, `${path}.tools[${index}]`),
      ),
    ),
  });
}

function modeOf({ mode }: PlainRecord, path: string): 'auto' | 'required' | undefined {
  if (mode === undefined || mode === 'auto' || mode === 'required') return mode;
  throw invalid(`${path}.mode`, 'must be "auto" or "required"');
}

type OneTool = Extract<ToolChoice, { readonly type: 'function' }>;

function oneTool(choice: PlainRecord, offered: ToolNames, tools: readonly Tool[], path: string): OneTool {
  const type = requiredName(choice, 'type', path);
  // Chat Completions nest the function's name one level deeper.
  const nested = type === 'function' && isRecord(choice.function) ? choice.function : undefined;
  const name = nested === undefined ? choice.name : nested.name;
  if (type === 'function' && typeof name !== 'string') throw invalid(`${path}.name`, 'must name the function');
  if (name !== undefined && typeof name !== 'string')
    throw invalid(`${path}.name`, `must be a string, not ${describe(name)}`);
  if (name === undefined ? !offered.hasType(type) : !offered.has({ type, name }))
    throw invalid(path, `names a tool that is not offered. ${offeredTools(tools)}`);
  // Choices of built-in tools have the same shape; their name is optional.
  const others = otherFields(choice, ['type', 'function', 'name'], path);
  return freeze({ ...others, type, ...omitUndefined({ name }) }) as OneTool;
}

/** The tools inside of namespaces, which vendors without namespaces are offered one by one. */
function namespacedTools(tools: readonly Tool[]): readonly { readonly type?: unknown; readonly name?: unknown }[] {
  return tools.flatMap((tool) => {
    const { type, tools: members }: { readonly type: string; readonly tools?: unknown } = tool;
    return type === 'namespace' && Array.isArray(members) ? members.map(fieldsOf) : [];
  });
}

function offeredTools(tools: readonly Tool[]): string {
  if (tools.length === 0) return 'No tools are offered';
  const names = tools.map((tool) => (typeof tool.name === 'string' ? tool.name : tool.type));
  return `Offered tools: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}`;
}
