/** Tools with the calls that the reader may see, counted by state. */
import type { ToolCallState } from '../../../business/ai/domain/entities/Tool';
import type { ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { ToolOffer } from '../DashboardData';

export function countTools(
  offered: readonly Omit<ToolOffer, 'counts'>[],
  calls: readonly Pick<ToolCallView, 'name' | 'state'>[],
): readonly ToolOffer[] {
  const counts = new Map<string, Partial<Record<ToolCallState, number>>>();
  for (const { name, state } of calls) {
    const ofTool = counts.get(name) ?? {};
    ofTool[state] = (ofTool[state] ?? 0) + 1;
    counts.set(name, ofTool);
  }
  return offered.map((tool) => ({ ...tool, counts: counts.get(tool.name) ?? {} }));
}
