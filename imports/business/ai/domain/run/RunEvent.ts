/** Everything that can happen to a run. Times, prices and whatever else comes from outside comes in with its event. */
import type { ToolCall, ToolEvent } from '../entities/Tool';
import type { LLMError } from '../errors/LLMErrors';
import type { AgentEventBody } from '../types/AgentEvents';
import type { RunCompaction } from '../types/Compaction';
import type { FailedAttempt, Item, LLMResponse, MessageItem } from '../types/ResponsesAPITypes';
import type { MessageTime, StoredMessages } from '../types/RunMessages';
import type { Spending } from './runLimits';
import type { CallBill } from './runTotals';

/** What waits until the state is stored, since a crash could not undo it. */
export type Barrier =
  | { readonly before: 'call' }
  /** Asking a person about a call that a crash could still undo. */
  | { readonly before: 'approval'; readonly callId: string; readonly event: ToolEvent }
  | { readonly before: 'end' };

export type RunEvent =
  /** The process begins to execute the run. With an error, only to end it. */
  | {
      readonly type: 'started';
      readonly at: number;
      readonly isTakenOver: boolean;
      readonly error?: LLMError | undefined;
    }
  /** The user of a run that was taken over still exists. */
  | { readonly type: 'userChecked'; readonly at: number }
  /** What the next model call depends on. */
  | ({ readonly type: 'checked'; readonly isDraining: boolean; readonly seesImages: boolean } & Spending)
  | { readonly type: 'historyFitted'; readonly at: number }
  /** @param report absent for a compaction that an earlier run has made */
  | {
      readonly type: 'historyCompacted';
      readonly compaction: RunCompaction;
      readonly report?: Extract<AgentEventBody, { readonly type: 'history:compacted' }>;
    }
  /** The store has everything that came before the effect of this barrier. */
  | { readonly type: 'persisted'; readonly at: number; readonly barrier: Barrier }
  | { readonly type: 'modelSaid'; readonly kind: 'text' | 'reasoning' | 'refusal'; readonly delta: string }
  | {
      readonly type: 'modelWroteArguments';
      readonly call_id: string;
      readonly name: string;
      readonly delta: string;
    }
  /** An attempt failed, and another one follows. */
  | { readonly type: 'modelRetried'; readonly attempt: FailedAttempt }
  /** The call is to be made again, with another history or once the store answers again. */
  | { readonly type: 'modelRefused'; readonly at: number }
  | { readonly type: 'modelAnswered'; readonly response: LLMResponse; readonly at: number }
  | {
      readonly type: 'modelFailed';
      readonly at: number;
      readonly error: LLMError;
      readonly bill?: LLMResponse | CallBill | undefined;
    }
  /** The call was aborted for a message. @param item what the model had said */
  | {
      readonly type: 'modelInterrupted';
      readonly at: number;
      readonly bill: CallBill;
      readonly item?: MessageItem | undefined;
    }
  /** A message may wait in the run's queue. */
  | { readonly type: 'messageSent'; readonly when: MessageTime }
  /** What the run has taken from its queue, some of which it may have already. */
  | ({ readonly type: 'messagesTaken' } & StoredMessages)
  /** The end was not stored, because the run was sent a message before. */
  | { readonly type: 'endRefused' }
  /** A model call beside those of the conversation returned, or one of a process that died. */
  | { readonly type: 'modelBilled'; readonly bill: LLMResponse | CallBill }
  | { readonly type: 'callChanged'; readonly callId: string; readonly event: ToolEvent }
  /** The call's arguments are valid, or it waits for a person. */
  | { readonly type: 'callAccepted'; readonly callId: string }
  /** The calls of a turn are over or under way, and the transcript is here. */
  | { readonly type: 'turnEnded'; readonly seesImages: boolean }
  /** What has arrived together with the result that a waiting run resumes for is here as well. */
  | { readonly type: 'resumed'; readonly isDraining: boolean }
  | { readonly type: 'contentUnloaded' }
  /** @param calls as they are stored */
  | { readonly type: 'contentLoaded'; readonly transcript: readonly Item[]; readonly calls: readonly ToolCall[] }
  /** Somebody, the deadline or a failure ends the run. The first error counts. */
  | { readonly type: 'cancelled'; readonly error: LLMError }
  /** Tools and model calls have been told to stop. */
  | { readonly type: 'workStopped'; readonly at: number }
  /** The transcript of a run that ends is here. */
  | { readonly type: 'endPrepared' }
  | { readonly type: 'childrenCancelled' }
  /** Whatever killed the run's earlier owners did not kill this one. */
  | { readonly type: 'progressMade' }
  /** Another process has the run, or may have it. */
  | { readonly type: 'leaseLost'; readonly error: LLMError };
