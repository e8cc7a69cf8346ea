/** What the kinds of the server's tools mean for runs with calls of theirs. */
import { waitsForOutside } from '../../business/ai/domain/entities/Tool';
import type { FunctionTool } from '../../business/ai/domain/entities/Tool';

interface ServerTools {
  readonly tools: readonly Pick<FunctionTool, 'name' | 'kind'>[];
}

/** @param toolName default: any of the tools @returns whether calls of the tool start runs */
export function startsRun({ tools }: ServerTools, toolName?: string): boolean {
  return tools.some(({ name, kind }) => kind === 'run' && name === (toolName ?? name));
}

/**
 * Whether the results of the tool's calls are supplied from outside.
 * @param isBelow the calls are those of a run below, whose sleep is no reason to leave the run above
 */
export function isExternal({ tools }: ServerTools, toolName: string, isBelow = false): boolean {
  return tools.some((tool) => tool.name === toolName && waitsForOutside(tool) && !(isBelow && tool.kind === 'timer'));
}
