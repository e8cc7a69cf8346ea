/** A run's record after an event: where it is, and what it used so far. */
import { isFinished, RUN_MOVES } from '../../../business/ai/domain/entities/Run';
import type { RunState } from '../../../business/ai/domain/entities/Run';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { RunView } from '../../../business/ai/domain/types/RunViews';
import type { ListedRun } from '../DashboardData';
import { plusUsage, usageView } from './runUsage';

type RunRecord = RunView & Pick<ListedRun, 'isCalling'>;

/** The same record when the event says nothing new about it. */
export function reduceRunRecord<R extends RunRecord>(run: R, event: AgentEvent): R {
  if (isFinished(run.state)) return run;
  switch (event.type) {
    case 'run:started':
      return run.startedAt === undefined ? moved({ ...run, startedAt: event.at }, 'running') : run;
    case 'iteration:start':
      return event.iteration > run.iterations
        ? moved({ ...run, iterations: event.iteration, isCalling: true }, 'running')
        : run;
    case 'llm:response':
      return afterAnswer(run, event);
    case 'run:completed':
      return {
        ...run,
        state: 'completed',
        endedAt: event.at,
        usage: usageView(event.usage),
        iterations: event.iterations,
      };
    case 'run:failed':
      return { ...run, state: 'failed', endedAt: event.at, usage: usageView(event.usage), error: event.error };
    case 'run:cancelled':
      return { ...run, state: 'cancelled', endedAt: event.at, usage: usageView(event.usage) };
    default:
      return run;
  }
}

/**
 * Only an answer whose call was seen to begin is counted: the record may hold others already. One without calls of
 * tools means that the run waits, unless it ends or goes on at once.
 */
function afterAnswer<R extends RunRecord>(
  run: R,
  { iteration, response }: Extract<AgentEvent, { type: 'llm:response' }>,
): R {
  if (run.isCalling !== true || iteration !== run.iterations) return run;
  const counted = { ...run, isCalling: false, usage: plusUsage(run.usage, usageView(response.usage)) };
  return response.output.some((item) => item.type === 'function_call') ? counted : moved(counted, 'waiting');
}

function moved<R extends RunRecord>(run: R, state: RunState): R {
  if (run.state === state || !(RUN_MOVES[run.state] as readonly RunState[]).includes(state)) return run;
  return { ...run, state };
}
