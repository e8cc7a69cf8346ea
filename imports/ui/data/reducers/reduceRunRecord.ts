/** A run's record after an event: its state, and its usage so far. */
import { isFinished, RUN_TRANSITIONS } from '../../../business/ai/domain/entities/Run';
import { runWaitOf } from '../../../business/ai/domain/entities/runWaitOf';
import type { RunState } from '../../../business/ai/domain/entities/Run';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { RunView } from '../../../business/ai/domain/types/RunViews';
import type { RunDetails } from '../DashboardData';
import { addUsage, toUsageView } from './usageView';

type RunRecord = RunView & Pick<RunDetails['run'], 'isCallingModel'>;

/** @returns the same record when the event does not change it */
export function reduceRunRecord<R extends RunRecord>(run: R, event: AgentEvent): R {
  if (isFinished(run.state)) return run;
  switch (event.type) {
    case 'run:started':
      // It was resumed, or a process has its tools.
      if (runWaitOf(run) !== undefined) return { ...run, state: 'running', parked: undefined, awaitedTools: undefined };
      return run.startedAt === undefined ? withState({ ...run, startedAt: event.at }, 'running') : run;
    case 'run:parked': {
      const { reason, message, at } = event;
      return { ...run, state: 'waiting', parked: { reason, message, at } };
    }
    case 'run:awaiting_tools':
      return { ...run, awaitedTools: { names: event.names, since: event.at } };
    case 'iteration:start':
      return event.iteration > run.iterations
        ? withState({ ...run, iterations: event.iteration, isCallingModel: true }, 'running')
        : run;
    case 'llm:response':
      return afterModelResponse(run, event);
    case 'run:completed':
      return {
        ...run,
        state: 'completed',
        endedAt: event.at,
        usage: toUsageView(event.usage),
        iterations: event.iterations,
      };
    case 'run:failed':
      return { ...run, state: 'failed', endedAt: event.at, usage: toUsageView(event.usage), error: event.error };
    case 'run:cancelled':
      return { ...run, state: 'cancelled', endedAt: event.at, usage: toUsageView(event.usage) };
    default:
      return run;
  }
}

/**
 * Only a response whose call was seen to start is counted: the record may include others already. After a response
 * without tool calls the run waits, until an event shows that it has ended or continued.
 */
function afterModelResponse<R extends RunRecord>(
  run: R,
  { iteration, response }: Extract<AgentEvent, { type: 'llm:response' }>,
): R {
  if (run.isCallingModel !== true || iteration !== run.iterations) return run;
  const counted = { ...run, isCallingModel: false, usage: addUsage(run.usage, toUsageView(response.usage)) };
  return response.output.some((item) => item.type === 'function_call') ? counted : withState(counted, 'waiting');
}

function withState<R extends RunRecord>(run: R, state: RunState): R {
  if (run.state === state || !(RUN_TRANSITIONS[run.state] as readonly RunState[]).includes(state)) return run;
  return { ...run, state };
}
