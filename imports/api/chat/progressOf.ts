/** What a run of a chat or a thread does: it works, or waits for people and for results from outside. */
import { isSettled, waitsForOthers } from '../../business/ai/domain/entities/Tool';
import type { FunctionTool } from '../../business/ai/domain/entities/Tool';
import { areWaiting } from '../../business/ai/domain/run/runLimits';
import type { ProgressBelow } from '../../business/ai/domain/run/runLimits';
import { childId } from '../../business/ai/application/services/shared/childId';
import { loadCurrentRun } from './loadCurrentRun';
import type { LoadRunPorts } from './loadCurrentRun';
import { isExternal, startsRun } from './serverTools';

export interface ProgressPorts extends LoadRunPorts {
  readonly tools: { readonly tools: readonly FunctionTool[] };
}

/**
 * @param clientTools names of tools whose results the client supplies. Default: none
 * @param isBelow a call of another run has started it. Default: false
 */
export async function progressOf(
  ports: ProgressPorts,
  executionId: string,
  clientTools: readonly string[] = [],
  isBelow = false,
): Promise<ProgressBelow> {
  const { tools, loop } = ports;
  const stored = await loadCurrentRun(ports, executionId);
  if (stored === undefined && isBelow) return 'queued';
  // A run of this process may have ended its model call before that is stored.
  const progress = loop.getExecutionContext(executionId) ?? stored?.run;
  const open = (stored?.calls ?? []).filter((call) => !isSettled(call));
  if (progress?.isCalling === true || open.length === 0) return 'working';
  const below: ProgressBelow[] = [];
  for (const call of open) {
    if (waitsForOthers(call, clientTools.includes(call.name) || isExternal(tools, call.name, isBelow))) continue;
    const state = startsRun(tools, call.name)
      ? await progressOf(ports, childId(executionId, call.id), [], true)
      : 'working';
    if (state === 'working') return state;
    below.push(state);
  }
  return (await areWaiting(below, () => Promise.resolve(stored?.run.plan.limits))) ? 'waiting' : 'working';
}
