/**
 * Who speaks in a run: the agent that it began with, or the one that the last completed call has handed over to. It
 * follows from the calls, so that a process which continues the run finds the same.
 */
import type { AgentHandoff } from '../../../domain/types/Handoff';
import type { NormalizedOptions, ToolChoice } from '../../../domain/types/LLMTypes';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { normalizeOptions } from '../ContentNormalizer';
import type { RunContext } from './RunContext';

export interface HandedOver {
  readonly callId: string;
  readonly to: AgentHandoff;
}

/** @returns undefined while the first agent speaks */
export function speakerOf({
  executor,
  run,
  tools,
}: Pick<RunContext, 'executor' | 'run' | 'tools'>): HandedOver | undefined {
  if (!tools.names.some((name) => executor.handoff?.(name) !== undefined)) return undefined;
  const speakers: HandedOver[] = [];
  for (const { id, state, name } of run.current.calls) {
    const to = state === 'completed' ? executor.handoff?.(name) : undefined;
    if (to === undefined) continue;
    if ('isBack' in to) speakers.pop();
    else speakers.push({ callId: id, to });
  }
  return speakers.at(-1);
}

/** The options of the run's next model calls. What is not the agent's own, such as limits, stays. */
export function optionsOf(
  { instructions: _, previous_response_id: __, ...options }: NormalizedOptions,
  { model = options.model, instructions, tools }: AgentHandoff,
  provider: RunContext['provider'],
): NormalizedOptions {
  const providerId = provider.routeOf?.(model)?.providerId ?? options.providerId;
  return normalizeOptions({
    ...options,
    model,
    ...omitUndefined({
      instructions,
      providerId,
      tool_choice: options.tools === undefined ? undefined : allowedTools(tools),
    }),
  });
}

/** The definitions stay, so that what vendors have cached of them does; the model may call its own tools only. */
export function allowedTools(tools: AgentHandoff['tools'], mode: 'auto' | 'required' = 'auto'): ToolChoice {
  return tools.length === 0 ? 'none' : { type: 'allowed_tools', mode, tools };
}
