/** Which tools of a run's request the vendor may call itself, if it can: those that need nothing only Bolide does. */
import { isExternalTool, isFunctionTool } from '../../../domain/entities/Tool';
import type { FunctionTool, Tool } from '../../../domain/entities/Tool';
import type { HostedMcpTool, HostedMcpTools } from '../../../domain/types/HostedMcp';
import { definitionIn } from '../tools/definitionIn';
import { toolHash } from '../tools/toolChanges';
import type { RunContext } from './RunContext';

type Context = Pick<RunContext, 'executor' | 'tools' | 'changedTools'>;

/**
 * @param tools of the request
 * @returns undefined for none
 */
export function hostedMcpTools(tools: readonly Tool[], context: Context): HostedMcpTools | undefined {
  if (context.executor.hostedMcpTool === undefined) return undefined;
  const hosted = new Map<string, HostedMcpTool>();
  for (const tool of tools) {
    if (!isFunctionTool(tool)) continue;
    const found = findHosted(tool, context);
    if (found !== undefined) hosted.set(tool.name, found);
  }
  return hosted.size === 0 ? undefined : hosted;
}

/** Only in Bolide do people approve calls and changes of tools, and does a model go on while a tool works. */
function findHosted(tool: FunctionTool, { executor, tools, changedTools = [] }: Context): HostedMcpTool | undefined {
  const { name, needsApproval = false, blocking = true } = tool;
  if (needsApproval !== false || isExternalTool(tool) || !blocking || changedTools.includes(name)) return undefined;
  const { registered, execute } = tools.get(name) ?? {};
  const current = definitionIn(executor, name);
  if (registered === undefined || execute !== undefined || current === undefined) return undefined;
  if (current !== registered && toolHash(current) !== toolHash(registered)) return undefined;
  return executor.hostedMcpTool?.(name);
}
