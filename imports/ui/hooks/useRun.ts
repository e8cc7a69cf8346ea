/** A run, live: its state, its text as the model writes it, its calls, and the commands it accepts. */
import { useMemo } from 'react';
import type { RunState } from '../../business/ai/domain/entities/Run';
import { isFinished } from '../../business/ai/domain/entities/Run';
import type { RunDetailView, ToolCallView, UsageView } from '../../business/ai/domain/types/RunViews';
import type { Loaded, RunDetails } from '../data/DashboardData';
import { joinItems } from '../data/reducers/deriveLiveText';
import { parseItems } from '../data/reducers/parseItems';
import { NO_USAGE } from '../data/reducers/usageView';
import { useData } from './BolideProvider';
import type { ConversationMessage } from './ConversationMessage';
import { toMessages } from './toMessages';
import { useCallCommands } from './useCallCommands';
import type { CallCommands } from './useCallCommands';
import { useRunMessages } from './useRunMessages';
import type { RunMessages } from './useRunMessages';

export interface LiveRun extends CallCommands, RunMessages {
  /**
   * The run's state; `idle` without an execution id, `loading` until the run has arrived, `unavailable` while it cannot
   * be loaded (see `error` and `retry`), and `not-found` for a run that does not exist or belongs to another user.
   */
  readonly status: RunState | 'idle' | 'loading' | 'unavailable' | 'not-found';
  /** The run can still change. */
  readonly isActive: boolean;
  /** Everything that the model has written in this run, up to the last character that arrived. */
  readonly text: string;
  readonly reasoning: string;
  /** The conversation, starting with the input. */
  readonly messages: readonly ConversationMessage[];
  /** In the order in which the model requested them. */
  readonly calls: readonly ToolCallView[];
  readonly usage: UsageView;
  /** Why the run failed, or could not be loaded. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** The stored fields of the run. */
  readonly run: RunDetailView | undefined;
  /** Everything that the dashboard's page of a run shows. */
  readonly loaded: Loaded<RunDetails | undefined>;
  /** Loads the run again after `unavailable`. */
  readonly retry: () => void;
  /** Ends the run. Rejects with a `DashboardError`. */
  readonly cancel: () => Promise<void>;
}

/** @param executionId undefined as long as no run has been started */
export function useRun(executionId: string | undefined): LiveRun {
  const data = useData();
  const loaded = data.useRun(executionId);
  const details = loaded.state === 'ready' ? loaded.value : undefined;
  const callCommands = useCallCommands(executionId, details);
  const isActive = details !== undefined && !isFinished(details.run.state);
  const messageCommands = useRunMessages(executionId, isActive);
  const { call } = data;
  const cancel = useMemo(
    () => async (): Promise<void> => {
      if (executionId !== undefined) await call('ai.runs.cancel', { executionId });
    },
    [call, executionId],
  );
  const inputLength = useMemo(() => parseItems(details?.run.input).length, [details?.run.input]);
  const written = useMemo(() => joinItems(details?.items.slice(inputLength) ?? []), [details?.items, inputLength]);
  return useMemo((): LiveRun => {
    const run = details?.run;
    let messages: readonly ConversationMessage[] | undefined;
    return {
      ...callCommands,
      ...messageCommands,
      status: run?.state ?? statusOf(executionId, loaded),
      isActive,
      text: written.text + (details?.liveText.text ?? ''),
      reasoning: written.reasoning + (details?.liveText.reasoning ?? ''),
      // Computed for those who read it.
      get messages() {
        return (messages ??= details === undefined ? NOTHING : toMessages(details));
      },
      calls: details?.calls ?? NOTHING,
      usage: run?.usage ?? NO_USAGE,
      // A cancelled run has an error too, which states just that.
      error: run?.state === 'failed' ? run.error : loaded.state === 'failed' ? loaded.error : undefined,
      run,
      loaded,
      retry: loaded.state === 'failed' ? () => loaded.retry() : doNothing,
      cancel,
    };
  }, [executionId, loaded, details, isActive, written, callCommands, messageCommands, cancel]);
}

const NOTHING: readonly never[] = [];

function doNothing(): void {
  // Only a failed load can be repeated.
}

function statusOf(executionId: string | undefined, { state }: Loaded<unknown>): LiveRun['status'] {
  if (executionId === undefined) return 'idle';
  if (state === 'loading') return 'loading';
  return state === 'failed' ? 'unavailable' : 'not-found';
}
