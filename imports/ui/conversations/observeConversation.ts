/**
 * A conversation with a model. On both hosts it is the runs that carry its id: a message starts a run that continues
 * the newest one, whose transcript is the conversation so far. The server stores all of it, so that a conversation
 * survives a reload and is the same in every tab.
 */
import { isFinished } from '../../business/ai/domain/entities/Run';
import type { MessageTime } from '../../business/ai/domain/types/RunMessages';
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import type { RunView, UsageView } from '../../business/ai/domain/types/RunViews';
import { DashboardError } from '../data/DashboardData';
import type { Loaded, RunData } from '../data/DashboardData';
import { Derived } from '../data/Derived';
import { Observable } from '../data/Observable';
import type { ReadonlyObservable } from '../data/Observable';
import type { ConversationMessage } from './ConversationMessage';
import { newRequestId } from './newRequestId';
import { isSameRequest, toConversationError, toPendingMessage } from './Outgoing';
import type { ConversationError, Outgoing } from './Outgoing';
import type { CallCommands } from './createCallCommands';
import { observeRun } from './observeRun';
import type { LiveRun } from './observeRun';

export interface ConversationOptions {
  /**
   * The conversation's name, unique for its user, up to 128 characters. Without it, a conversation is new with every
   * mount, and lost with a reload.
   */
  readonly id?: string;
  /** A provider, or a provider and its model: `openai`, `anthropic/claude-sonnet-4-5`. */
  readonly model: string;
  /** Names of the server's tools. */
  readonly tools?: readonly string[];
  readonly instructions?: string;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** Model calls per message. */
  readonly maxIterations?: number;
}

export interface Conversation extends CallCommands {
  readonly id: string;
  readonly messages: readonly ConversationMessage[];
  /**
   * `loading` until it is known; `ready` and `failed` accept a message. `submitted` until the model writes or calls a
   * tool, `streaming` from then on, and `waiting` while only tools and people are awaited.
   */
  readonly status: 'loading' | 'ready' | 'submitted' | 'streaming' | 'waiting' | 'failed';
  /** Why the last message was not sent, or not answered. */
  readonly error: ConversationError | undefined;
  /** The usage of the last run. */
  readonly usage: UsageView;
  /** The run that answers the last message, or answered it. */
  readonly run: LiveRun;
  /**
   * Sends a message: a text, or messages with images and files. Failures are reported in `error`. While an answer is
   * written, one message is sent to its run, whose `queue` shows it until the model receives it. @param when default:
   * `after` the answer
   */
  readonly send: (input: LLMInput, when?: MessageTime) => Promise<void>;
  /** Cancels the run that answers the last message. */
  readonly stop: () => Promise<void>;
  /** Replaces the last answer by another one. */
  readonly regenerate: () => Promise<void>;
  /** Repeats what failed: loading the conversation, sending the last message, or answering it. */
  readonly retry: () => void;
}

interface ConversationState {
  readonly loaded: Loaded<readonly RunView[]>;
  readonly outgoing: Outgoing | undefined;
  readonly newest: LiveRun;
  /** The run whose messages are shown: the newest one as soon as it has arrived. */
  readonly current: LiveRun;
  readonly isPending: boolean;
  readonly isSending: boolean;
}

/**
 * Follows a conversation while the value has subscribers. Its commands stay the same, but for those that decide about
 * calls, which are of the newest run.
 * @param id the conversation's name
 * @param options returns those of the next message
 */
export function observeConversation(
  data: RunData,
  id: string,
  options: () => ConversationOptions,
): ReadonlyObservable<Conversation> {
  const runs = data.conversationRuns(id);
  const sent = new Observable<Outgoing | undefined>(undefined);
  const opened = createRunCache(data);
  const state = new Derived((read): ConversationState => {
    const loaded = read(runs);
    const outgoing = read(sent);
    const listed = loaded.state === 'ready' ? loaded.value : NO_RUNS;
    // A run that was just started is listed a little later.
    const own = outgoing?.executionId ?? outgoing?.after;
    const isListed = own === undefined || listed.some(({ _id }) => _id === own);
    const newestId = isListed ? listed[0]?._id : own;
    const newest = read(opened(newestId));
    const isShown = newest.run !== undefined;
    // Until the newest run has arrived, the one before it shows the conversation so far.
    const earlierId = [outgoing?.after, ...listed.map(({ _id }) => _id)].find((each) => each !== newestId);
    const current = isShown ? newest : read(opened(earlierId));
    const isPending = outgoing !== undefined && (outgoing.executionId === undefined || !isShown);
    return { loaded, outgoing, newest, current, isPending, isSending: isPending && outgoing.error === undefined };
  });
  /** The request whose run is to be cancelled as soon as it is known. */
  let stopped: string | undefined;
  const fail = (failed: Outgoing, thrown: unknown): void => sent.set({ ...failed, error: toConversationError(thrown) });

  const send = async (input: LLMInput | undefined, when: MessageTime = 'after'): Promise<void> => {
    const { newest: last, outgoing: before, isSending } = state.get();
    const after = last.run?._id;
    const isRepeated = before !== undefined && isSameRequest(before, input);
    const requestId = isRepeated ? before.requestId : newRequestId();
    // A run that has ended tells whether it has received the message.
    const mayHaveIt = isRepeated && before.isMessage === true && before.after === after;
    if (input !== undefined && after !== undefined && (last.isActive || mayHaveIt) && !isSending) {
      try {
        await last.send(input, when, requestId);
        if (sent.get()?.error !== undefined) sent.set(undefined);
        return;
      } catch (thrown) {
        // A run that has ended meanwhile is continued by another one.
        if (!(thrown instanceof DashboardError) || thrown.code !== 'conflict') {
          fail({ requestId, input, after, isMessage: true }, thrown);
          return;
        }
      }
    }
    if (state.get().isSending || (input === undefined && last.isActive)) {
      sent.set({ ...(sent.get() ?? { requestId: '', input: undefined, after }), error: BUSY });
      return;
    }
    const next: Outgoing = { requestId, input, after };
    const report = (change: Partial<Outgoing>): void => {
      if (sent.get()?.requestId === requestId) sent.set({ ...next, ...change });
    };
    sent.set(next);
    try {
      const { executionId } = await data.call('ai.runs.start', {
        requestId,
        conversationId: id,
        ...requestOptions(options()),
        ...(input === undefined ? { repeats: after ?? '' } : { input }),
        ...(input === undefined || after === undefined ? {} : { continues: after }),
      });
      report({ executionId });
      if (stopped === requestId) await data.call('ai.runs.cancel', { executionId });
    } catch (thrown) {
      report({ error: toConversationError(thrown) });
    }
  };
  const regenerate = () => send(undefined);
  const stop = async (): Promise<void> => {
    stopped = sent.get()?.requestId;
    try {
      await state.get().newest.cancel();
    } catch (thrown) {
      const failed = sent.get();
      if (failed !== undefined) fail(failed, thrown);
    }
  };
  const retry = (): void => {
    const { loaded, outgoing: before, newest: last } = state.get();
    if (before?.error === BUSY) sent.set(withoutError(before));
    if (before?.error !== undefined && before.error !== BUSY) void send(before.input);
    else if (last.status === 'failed') void send(undefined);
    else if (loaded.state === 'failed') loaded.retry();
    else last.retry();
  };

  return new Derived((read): Conversation => {
    const { loaded, outgoing, newest, current, isPending, isSending } = read(state);
    const pendingInput = isPending ? outgoing?.input : undefined;
    const failure = loaded.state === 'failed' ? loaded.error : isPending ? undefined : newest.error;
    const error = outgoing?.error ?? failure;
    const { approve, reject, submitResult, usage } = newest;
    return {
      id,
      messages:
        pendingInput === undefined
          ? current.messages
          : [...current.messages, toPendingMessage(current.messages, pendingInput)],
      status: statusOf(loaded.state, isSending, error !== undefined && error !== BUSY, newest),
      error,
      usage,
      run: newest,
      send,
      stop,
      regenerate,
      retry,
      approve,
      reject,
      submitResult,
    };
  });
}

/** @returns opens a run; the two that were used last stay open */
function createRunCache(data: RunData): (executionId: string | undefined) => ReadonlyObservable<LiveRun> {
  const opened = new Map<string | undefined, ReadonlyObservable<LiveRun>>();
  return (executionId) => {
    const run = opened.get(executionId) ?? observeRun(data, executionId);
    opened.delete(executionId);
    opened.set(executionId, run);
    const [oldest] = opened.keys();
    if (opened.size > 2) opened.delete(oldest);
    return run;
  };
}

function withoutError({ error: _error, ...outgoing }: Outgoing): Outgoing {
  return outgoing;
}

const NO_RUNS: readonly RunView[] = [];
const BUSY: ConversationError = {
  code: 'conflict',
  message: 'The last message is still being answered. Wait for the answer, or stop it.',
};

const NO_MODEL =
  '"model" is missing. Name a provider, such as "openai", or a provider and its model, such as "openai/gpt-5".';

/** @throws DashboardError if a program without types, or an element without the attribute, names no model */
function requestOptions({ model, tools = [], id: _id, ...options }: ConversationOptions) {
  if (typeof model !== 'string' || model === '') throw new DashboardError('invalid-request', NO_MODEL, 'model');
  const slash = model.indexOf('/');
  const providerId = slash === -1 ? model : model.slice(0, slash);
  return { providerId, tools, ...options, ...(slash === -1 ? {} : { model: model.slice(slash + 1) }) };
}

function statusOf(
  runs: 'loading' | 'failed' | 'ready',
  isSending: boolean,
  hasFailed: boolean,
  { run, status, messages }: LiveRun,
): Conversation['status'] {
  if (isSending) return 'submitted';
  if (runs === 'loading' || status === 'loading') return 'loading';
  if (run === undefined || isFinished(run.state)) return hasFailed ? 'failed' : 'ready';
  if (run.state === 'waiting') return 'waiting';
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return 'submitted';
  return last.parts.some((part) => part.type === 'tool' && part.state === 'awaiting_approval')
    ? 'waiting'
    : 'streaming';
}
