/**
 * Tools that are grouped in namespaces, for APIs without namespaces: every tool is offered under a name that contains
 * its namespace, and calls get both back. https://platform.openai.com/docs/guides/tools
 */
import { fieldsOf, isList, isObject } from '../../../domain/util/json';
import type { Tool } from '../../../domain/entities/Tool';
import type { NormalizedOptions, ToolChoice } from '../../../domain/types/LLMTypes';
import type { InputItem, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { restoreItems } from './RewrittenTools';
import type { RewrittenTools } from './RewrittenTools';

interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** @returns undefined if neither a tool nor a call is in a namespace */
export function flattenNamespaces(options: NormalizedOptions): RewrittenTools | undefined {
  const { tools = [], input, tool_choice: choice } = options;
  const groups = tools.filter(isNamespace).map(fieldsOf);
  if (groups.length === 0 && !input.some((item) => namespacedName(item) !== undefined)) return undefined;
  const calls = input.flatMap((item) => namespacedName(item) ?? []);
  const members = groups.flatMap(({ name: namespace, tools: list }) =>
    (isList(list) ? list : []).flatMap((tool) => {
      const { name } = fieldsOf(tool);
      return typeof name === 'string' ? [{ namespace: String(namespace), name }] : [];
    }),
  );
  const names = new FlatNames(
    tools.flatMap((tool) => (typeof tool.name === 'string' && !isNamespace(tool) ? [tool.name] : [])),
    [...members, ...calls],
  );
  const restoreItem = (item: OutputItem): OutputItem => names.restore(item);
  return {
    options: {
      ...options,
      input: input.map((item) => flattenCall(item, names)),
      ...(groups.length === 0 ? {} : { tools: tools.flatMap((tool) => flattenTool(tool, names)) }),
      ...(typeof choice === 'object' ? { tool_choice: flattenChoice(choice, members, names) } : {}),
    },
    restoreResponse: (response) => restoreItems(response, restoreItem),
    restoreEvent: (event) => [restoreEvent(event, names, restoreItem)],
  };
}

/** Flat names by namespace and name, and back. */
class FlatNames {
  private readonly flat = new Map<string, string>();
  private readonly original = new Map<string, NamespacedName>();

  /** @param taken names of tools outside of namespaces */
  constructor(taken: readonly string[], members: readonly NamespacedName[]) {
    const used = new Set(taken);
    for (const member of members) {
      const key = JSON.stringify([member.namespace, member.name]);
      if (this.flat.has(key)) continue;
      const joined = `${member.namespace}__${member.name}`.replace(/[^\w-]/g, '_');
      let name = joined.slice(0, MAX_NAME_LENGTH);
      for (let attempt = 2; name !== joined || used.has(name); attempt += 1) {
        const suffix = `_${checksum(key)}${attempt === 2 ? '' : `_${attempt}`}`;
        name = joined.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix;
        if (!used.has(name)) break;
      }
      used.add(name);
      this.flat.set(key, name);
      this.original.set(name, member);
    }
  }

  flatten(namespace: string, name: string): string {
    return this.flat.get(JSON.stringify([namespace, name])) ?? name;
  }

  originalOf(name: string): NamespacedName | undefined {
    return this.original.get(name);
  }

  restore<I extends OutputItem>(item: I): I {
    const { name } = fieldsOf(item);
    const original = isCall(item) && typeof name === 'string' ? this.original.get(name) : undefined;
    return original === undefined ? item : { ...item, ...original };
  }
}

/** Every vendor accepts names of this length. */
const MAX_NAME_LENGTH = 64;

/** FNV-1a, so that a shortened name stays the same from turn to turn. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}

const NAMESPACE: string = 'namespace';

function isNamespace(tool: Tool): boolean {
  return tool.type === NAMESPACE;
}

function isCall({ type }: { readonly type: string }): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

function namespacedName(item: InputItem): NamespacedName | undefined {
  if (!isCall(item) || !('namespace' in item)) return undefined;
  const { namespace, name } = fieldsOf(item);
  return typeof namespace === 'string' && typeof name === 'string' ? { namespace, name } : undefined;
}

function flattenCall(item: InputItem, names: FlatNames): InputItem {
  const named = namespacedName(item);
  if (named === undefined) return item;
  const { namespace: _, ...rest } = item as InputItem & { readonly namespace: unknown };
  // The cast is safe: only the name changes.
  return { ...rest, name: names.flatten(named.namespace, named.name) } as unknown as InputItem;
}

function flattenTool(tool: Tool, names: FlatNames): readonly Tool[] {
  if (!isNamespace(tool)) return [tool];
  const { name: namespace, tools } = fieldsOf(tool);
  return (isList(tools) ? tools : []).flatMap((member): readonly Tool[] => {
    if (!isObject(member) || typeof member.name !== 'string' || typeof member.type !== 'string') return [];
    const name = names.flatten(String(namespace), member.name);
    // The cast is safe: a tool of another type belongs to the vendor.
    if (member.type !== 'function') return [{ ...member, name } as unknown as Tool];
    const { description, parameters, strict } = member;
    return [
      {
        type: 'function',
        name,
        ...(typeof description === 'string' ? { description } : {}),
        ...(isObject(parameters) ? { parameters } : {}),
        ...(typeof strict === 'boolean' ? { strict } : {}),
      },
    ];
  });
}

type NamedTool = { readonly type: string; readonly name?: string; readonly namespace?: unknown };

/** A choice may name a tool's namespace, the tool alone, or the namespace as such. */
function flattenChoice(
  choice: Exclude<ToolChoice, string>,
  members: readonly NamespacedName[],
  names: FlatNames,
): ToolChoice {
  const resolve = (tool: NamedTool): readonly NamedTool[] => {
    if (tool.type === NAMESPACE)
      return members
        .filter(({ namespace }) => namespace === tool.name)
        .map(({ namespace, name }) => ({ type: 'function', name: names.flatten(namespace, name) }));
    const member = members.find(
      ({ namespace, name }) => name === tool.name && (tool.namespace ?? namespace) === namespace,
    );
    if (member === undefined) return [tool];
    const { namespace: _, ...rest } = tool;
    return [{ ...rest, name: names.flatten(member.namespace, member.name) }];
  };
  if (choice.type === 'allowed_tools' && 'tools' in choice)
    return { ...choice, tools: choice.tools.flatMap((tool) => resolve(tool)) };
  if (choice.type !== 'function') return choice;
  const [resolved = choice] = resolve(choice);
  return { ...choice, ...resolved } as ToolChoice;
}

function restoreEvent(
  event: ResponseStreamEvent,
  names: FlatNames,
  restoreItem: (item: OutputItem) => OutputItem,
): ResponseStreamEvent {
  switch (event.type) {
    case 'response.output_item.added':
    case 'response.output_item.done':
      return { ...event, item: restoreItem(event.item) };
    case 'response.tool_use.announced':
    case 'response.tool_use.delta': {
      const original = names.originalOf(event.name);
      return original === undefined ? event : { ...event, name: original.name };
    }
    case 'response.tool_use.done':
      return { ...event, item: names.restore(event.item) };
    case 'response.completed':
      return { ...event, response: restoreItems(event.response, restoreItem) };
    default:
      return event;
  }
}
