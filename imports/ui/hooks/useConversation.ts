/**
 * A conversation with a model. On both hosts it is the runs that carry its id: a message starts a run that continues
 * the newest one, whose transcript is the conversation so far. The server stores all of it, so that a conversation
 * survives a reload and is the same in every tab.
 */
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { isFinished } from '../../business/ai/domain/entities/Run';
import type { MessageTime } from '../../business/ai/domain/types/RunMessages';
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import type { RunView, UsageView } from '../../business/ai/domain/types/RunViews';
import { DashboardError } from '../data/DashboardData';
import { useData } from './BolideProvider';
import type { ConversationMessage } from './ConversationMessage';
import { newRequestId } from './newRequestId';
import { isSameRequest, toConversationError, toPendingMessage } from './Outgoing';
import type { ConversationError, Outgoing } from './Outgoing';
import type { CallCommands } from './useCallCommands';
import { useRun } from './useRun';
import type { LiveRun } from './useRun';

export interface UseConversationOptions {
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

export function useConversation(options: UseConversationOptions): Conversation {
  const data = useData();
  const [ownId] = useState(newRequestId);
  const id = options.id ?? ownId;
  const runs = data.useConversationRuns(id);
  const [sent, setSent] = useState<Outgoing>();
  // The message belongs to another conversation if the id has changed.
  const outgoing = sent?.conversationId === id ? sent : undefined;
  const listed = runs.state === 'ready' ? runs.value : NO_RUNS;
  // A run that was just started is listed a little later.
  const own = outgoing?.executionId ?? outgoing?.after;
  const isListed = own === undefined || listed.some(({ _id }) => _id === own);
  const newestId = isListed ? listed[0]?._id : own;
  const newest = useRun(newestId);
  const isShown = newest.run !== undefined;
  // Until the newest run has arrived, the one before it shows the conversation so far.
  const earlierId = [outgoing?.after, ...listed.map(({ _id }) => _id)].find((each) => each !== newestId);
  const previous = useRun(isShown ? undefined : earlierId);
  const current = isShown ? newest : previous;
  const isPending = outgoing !== undefined && (outgoing.executionId === undefined || !isShown);
  const isSending = isPending && outgoing.error === undefined;

  const latest = useRef({ options, newest, outgoing, isSending });
  /** The request whose run is to be cancelled as soon as it is known. */
  const stopped = useRef<string>(undefined);
  // Before the page is painted, and before anybody can send.
  useLayoutEffect(() => {
    latest.current = { options, newest, outgoing, isSending };
  });
  const { call } = data;
  const start = useCallback(
    async (input: LLMInput | undefined, when: MessageTime = 'after'): Promise<void> => {
      const { newest: last, outgoing: before } = latest.current;
      const after = last.run?._id;
      const isRepeated = before !== undefined && isSameRequest(before, input);
      const requestId = isRepeated ? before.requestId : newRequestId();
      // A run that has ended tells whether it has received the message.
      const mayHaveIt = isRepeated && before.isMessage === true && before.after === after;
      if (input !== undefined && after !== undefined && (last.isActive || mayHaveIt) && !latest.current.isSending) {
        try {
          await last.send(input, when, requestId);
          setSent((shown) => (shown?.error === undefined ? shown : undefined));
          return;
        } catch (thrown) {
          // A run that has ended meanwhile is continued by another one.
          if (!(thrown instanceof DashboardError) || thrown.code !== 'conflict') {
            const failed = { conversationId: id, requestId, input, after, isMessage: true } as const;
            setSent({ ...failed, error: toConversationError(thrown) });
            return;
          }
        }
      }
      if (latest.current.isSending || (input === undefined && last.isActive)) {
        const nothing = { conversationId: id, requestId: '', input: undefined, after };
        setSent((shown) => ({ ...(shown?.conversationId === id ? shown : nothing), error: BUSY }));
        return;
      }
      const next: Outgoing = { conversationId: id, requestId, input, after };
      const report = (change: Partial<Outgoing>): void =>
        setSent((shown) => (shown?.requestId === requestId ? { ...next, ...change } : shown));
      setSent(next);
      // Until the next rendering.
      latest.current = { ...latest.current, outgoing: next, isSending: true };
      try {
        const { executionId } = await call('ai.runs.start', {
          requestId,
          conversationId: id,
          ...requestOptions(latest.current.options),
          ...(input === undefined ? { repeats: after ?? '' } : { input }),
          ...(input === undefined || after === undefined ? {} : { continues: after }),
        });
        report({ executionId });
        if (stopped.current === requestId) await call('ai.runs.cancel', { executionId });
      } catch (thrown) {
        report({ error: toConversationError(thrown) });
      }
    },
    [call, id],
  );
  const regenerate = useCallback(() => start(undefined), [start]);
  const stop = useCallback(async (): Promise<void> => {
    const { outgoing: before, newest: last } = latest.current;
    stopped.current = before?.requestId;
    try {
      await last.cancel();
    } catch (thrown) {
      setSent((shown) => shown && { ...shown, error: toConversationError(thrown) });
    }
  }, []);
  const retry = useCallback(() => {
    const { outgoing: before, newest: last } = latest.current;
    setSent((shown) => (shown?.error === BUSY ? withoutError(shown) : shown));
    if (before?.error !== undefined && before.error !== BUSY) void start(before.input);
    else if (last.status === 'failed') void start(undefined);
    else if (runs.state === 'failed') runs.retry();
    else last.retry();
  }, [start, runs]);

  const pendingInput = isPending ? outgoing.input : undefined;
  const messages = useMemo(
    () =>
      pendingInput === undefined
        ? current.messages
        : [...current.messages, toPendingMessage(current.messages, pendingInput)],
    [current.messages, pendingInput],
  );
  const failure = runs.state === 'failed' ? runs.error : isPending ? undefined : newest.error;
  const error = outgoing?.error ?? failure;
  const { approve, reject, submitResult, usage } = newest;
  return {
    id,
    messages,
    status: statusOf(runs.state, isSending, error !== undefined && error !== BUSY, newest),
    error,
    usage,
    run: newest,
    send: start,
    stop,
    regenerate,
    retry,
    approve,
    reject,
    submitResult,
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

function requestOptions({ model, tools = [], id: _id, ...options }: UseConversationOptions) {
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
