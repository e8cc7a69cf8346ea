/** A run, live: its state, its text as the model writes it, its calls, and the commands it accepts. */
import type { RunState } from '../../business/ai/domain/entities/Run';
import { isFinished } from '../../business/ai/domain/entities/Run';
import type { RunDetailView, ToolCallView, UsageView } from '../../business/ai/domain/types/RunViews';
import type { Loaded, RunData, RunDetails } from '../data/DashboardData';
import { Derived } from '../data/Derived';
import type { Read } from '../data/Derived';
import { memoize } from '../data/memoize';
import type { ReadonlyObservable } from '../data/Observable';
import { joinItems } from '../data/reducers/deriveLiveText';
import { parseItems } from '../data/reducers/parseItems';
import { NO_USAGE } from '../data/reducers/usageView';
import type { ConversationMessage } from './ConversationMessage';
import { createCallCommands } from './createCallCommands';
import type { CallCommands } from './createCallCommands';
import { createRunMessages } from './createRunMessages';
import type { RunMessages } from './createRunMessages';
import { toMessages } from './toMessages';

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

/**
 * Follows a run while the value has subscribers. Its commands stay the same.
 * @param executionId undefined as long as no run has been started
 */
export function observeRun(data: RunData, executionId: string | undefined): ReadonlyObservable<LiveRun> {
  const details = data.run(executionId);
  const commands = {
    ...createCallCommands(data, executionId, () => valueOf(details.get())),
    ...createRunMessages(data, executionId),
    cancel: async (): Promise<void> => {
      if (executionId !== undefined) await data.call('ai.runs.cancel', { executionId });
    },
  };
  const inputLengthOf = memoize((input: string | undefined) => parseItems(input).length);
  const outputOf = memoize((shown: RunDetails) => joinItems(shown.items.slice(inputLengthOf(shown.run.input))));
  return new Derived((read): LiveRun => {
    const loaded = read(details);
    const shown = valueOf(loaded);
    const run = shown?.run;
    const isActive = run !== undefined && !isFinished(run.state);
    const written = shown === undefined ? NO_TEXT : outputOf(shown);
    let messages: readonly ConversationMessage[] | undefined;
    return {
      ...commands,
      queue: executionId === undefined || !isActive ? NOTHING : readQueue(data, executionId, read),
      status: run?.state ?? statusOf(executionId, loaded),
      isActive,
      text: written.text + (shown?.liveText.text ?? ''),
      reasoning: written.reasoning + (shown?.liveText.reasoning ?? ''),
      // Computed for those who read it.
      get messages() {
        return (messages ??= shown === undefined ? NOTHING : toMessages(shown));
      },
      calls: shown?.calls ?? NOTHING,
      usage: run?.usage ?? NO_USAGE,
      // A cancelled run has an error too, which states just that.
      error: run?.state === 'failed' ? run.error : loaded.state === 'failed' ? loaded.error : undefined,
      run,
      loaded,
      retry: loaded.state === 'failed' ? () => loaded.retry() : doNothing,
    };
  });
}

const NOTHING: readonly never[] = [];
const NO_TEXT = { text: '', reasoning: '' };

function valueOf<T>(loaded: Loaded<T>): T | undefined {
  return loaded.state === 'ready' ? loaded.value : undefined;
}

function readQueue(data: RunData, executionId: string, read: Read): LiveRun['queue'] {
  read(data.session);
  return valueOf(read(data.query('ai.runs.messages', { executionId })))?.messages ?? NOTHING;
}

function doNothing(): void {
  // Only a failed load can be repeated.
}

function statusOf(executionId: string | undefined, { state }: Loaded<unknown>): LiveRun['status'] {
  if (executionId === undefined) return 'idle';
  if (state === 'loading') return 'loading';
  return state === 'failed' ? 'unavailable' : 'not-found';
}
