/** Accepts tools as a registry or as a list. */
import { ToolRegistry } from './ToolRegistry';
import type { RegisteredTool } from './ToolRegistry';

export type ToolList = ToolRegistry | Iterable<RegisteredTool>;

/** @throws LLMInvalidRequestError for an invalid or duplicate tool of a list */
export function toToolRegistry(tools: ToolList): ToolRegistry {
  if (!(Symbol.iterator in tools)) return tools;
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}
