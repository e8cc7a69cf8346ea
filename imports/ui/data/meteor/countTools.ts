/** Adds to each tool the number of its calls in each state, among the calls that the reader may see. */
import type { ToolCallState } from '../../../business/ai/domain/entities/Tool';
import type { ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { ToolSummary } from '../../../business/ai/domain/types/ToolSummary';

export function countTools(
  tools: readonly Omit<ToolSummary, 'counts'>[],
  calls: readonly Pick<ToolCallView, 'name' | 'state'>[],
): readonly ToolSummary[] {
  const countsByTool = new Map<string, Partial<Record<ToolCallState, number>>>();
  for (const { name, state } of calls) {
    const counts = countsByTool.get(name) ?? {};
    counts[state] = (counts[state] ?? 0) + 1;
    countsByTool.set(name, counts);
  }
  return tools.map((tool) => ({ ...tool, counts: countsByTool.get(tool.name) ?? {} }));
}
