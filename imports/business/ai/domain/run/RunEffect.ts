/**
 * Everything a run can want done. The effects of one decision are performed in their order. Nothing that depends on
 * `persist` or `saveEnd` is among them: it follows from `persisted`, the event that the store has confirmed.
 */
import type { ToolCall, ToolEvent } from '../entities/Tool';
import type { LLMError } from '../errors/LLMErrors';
import type { AgentEventBody, AgentEventType } from '../types/AgentEvents';
import type { LLMResponse } from '../types/ResponsesAPITypes';
import type { Barrier } from './RunEvent';

export type RunEffect =
  | { readonly type: 'publish'; readonly seq: number; readonly body: AgentEventBody; readonly call?: ToolCall }
  /** @param call after the event */
  | { readonly type: 'publishCall'; readonly seq: number; readonly call: ToolCall; readonly event: PublishedToolEvent }
  /** Stores the state, then `persisted`. Before a model call also `modelFailed`. */
  | { readonly type: 'persist'; readonly barrier: Exclude<Barrier, { readonly before: 'end' }> }
  /** Stores the state soon. Nothing waits for it. */
  | { readonly type: 'save' }
  /** Stores the end of the run, then `persisted`, or `endRefused`. */
  | { readonly type: 'saveEnd'; readonly error: LLMError | undefined }
  /** `userChecked` or `cancelled`. */
  | { readonly type: 'checkUser' }
  /** Takes messages from the run's queue: `messagesTaken`. */
  | { readonly type: 'takeMessages'; readonly isAfterAnswer: boolean }
  /** `checked` or `cancelled`. */
  | { readonly type: 'check' }
  /** `historyFitted` or `modelFailed`. */
  | { readonly type: 'fitHistory' }
  /** `modelAnswered`, `modelRefused`, `modelInterrupted` or `modelFailed`. */
  | { readonly type: 'callModel' }
  /** Aborts the model call, unless it has just returned. */
  | { readonly type: 'interruptModel' }
  /** Reads the arguments, asks for approval, waits for a turn, runs the tool: `callChanged` and `callAccepted`. */
  | { readonly type: 'startTool'; readonly callId: string }
  /** `turnEnded`. */
  | { readonly type: 'endTurn' }
  /** `resumed`. */
  | { readonly type: 'resume' }
  /** Aborts model calls and tools, then `workStopped`. */
  | { readonly type: 'stopWork'; readonly error: LLMError }
  /** Loads the transcript of a run that ends, then `endPrepared`. */
  | { readonly type: 'prepareEnd' }
  /** Cancels the runs below this one, then `childrenCancelled`. */
  | { readonly type: 'cancelChildren' }
  | { readonly type: 'clearTakeovers' }
  /** The model has answered, for the first time or once more. */
  | { readonly type: 'answer'; readonly response: LLMResponse }
  | { readonly type: 'settle'; readonly outcome: LLMResponse | LLMError }
  /** Gives the run up in this process. */
  | { readonly type: 'leave'; readonly error: LLMError };

/** A change of a call that is published. */
export type PublishedToolEvent = Extract<ToolEvent, { readonly type: AgentEventType }>;

export function isPublished(event: ToolEvent): event is PublishedToolEvent {
  return !UNPUBLISHED.has(event.type);
}

const UNPUBLISHED: ReadonlySet<ToolEvent['type']> = new Set<Exclude<ToolEvent['type'], AgentEventType>>([
  'tool:decided',
  'tool:delivered',
  'tool:awaiting_result',
  'tool:interrupted',
  'tool:checkpoint',
  'tool:detached',
]);
