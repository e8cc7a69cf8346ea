/** A stored plan as people may see it: without vendors' own fields, which may hold anything. */
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { RunPlan } from '../../../domain/types/RunRecords';
import type { RunPlanView } from '../../../domain/types/RunViews';

/** @param stored JSON of the RunPlan */
export function toPlanView(stored: string): RunPlanView {
  // The run store wrote it.
  const { options, tools, limits } = JSON.parse(stored) as RunPlan;
  const { instructions, temperature, max_output_tokens: maxOutputTokens, reasoning, response_format: format } = options;
  return {
    ...(instructions === undefined ? {} : { instructions }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(typeof reasoning?.effort === 'string' ? { reasoning: reasoning.effort } : {}),
    ...(format?.type === 'json_schema' ? { schema: format.schema } : {}),
    tools: tools.flatMap((tool) => (typeof tool === 'string' ? [tool] : [])),
    otherTools: tools.flatMap((tool) =>
      typeof tool === 'string' ? [] : [isFunctionTool(tool) ? tool.name : tool.type],
    ),
    limits,
  };
}
