/** What waits for a person or another service, across all runs. Times are milliseconds since the epoch. */
import type { CallWait, InputRequest } from '../entities/Tool';
import type { AwaitedTools, ParkedRun, RunError, RunView, RunWait } from './RunViews';

/**
 * What a tool call waits for; `parked` is a run that was set aside, `tools` one that waits for a process that has its
 * tools, `failed` one that failed for a reason that may have passed.
 */
export type InboxKind = RunWait | 'failed';

interface InboxEntryBase extends Pick<RunView, 'userId' | 'providerId' | 'model' | 'title' | 'conversationId'> {
  /** The document's id: the call's, or the execution id of a run. */
  readonly _id: string;
  readonly executionId: string;
  /** When the call was requested, or the run was. Entries are listed in this order. */
  readonly createdAt: number;
  /** The beginning of the wait; for a review, the start of the interrupted attempt; for a failed run, its end. */
  readonly since: number;
}

export interface WaitingCallEntry extends InboxEntryBase {
  readonly kind: CallWait;
  /** The call's id within its run. */
  readonly callId: string;
  /** The tool's name. */
  readonly name: string;
  /** The arguments as the model wrote them, truncated to 4,000 characters. */
  readonly arguments: string;
  /** Characters of the complete arguments. */
  readonly argumentsLength: number;
  /** SHA-256 of the complete arguments, in hexadecimal: what an approval must carry. */
  readonly argumentsHash: string;
  /** When the wait ends without a decision or a result. Absent if it is not known. */
  readonly expiresAt?: number;
  /** What the call's tool, which has begun, asks. Absent: it is not the tool that asks. */
  readonly input?: InputRequest;
  /** The last progress that the interrupted or external work reported. */
  readonly note?: string;
}

export interface FailedRunEntry extends InboxEntryBase {
  readonly kind: 'failed';
  readonly error: RunError;
}

export interface ParkedRunEntry extends InboxEntryBase {
  readonly kind: 'parked';
  readonly parked: ParkedRun;
}

export interface AwaitingToolsEntry extends InboxEntryBase {
  readonly kind: 'tools';
  readonly awaitedTools: AwaitedTools;
}

export type RunEntry = ParkedRunEntry | AwaitingToolsEntry | FailedRunEntry;

export type InboxEntry = WaitingCallEntry | RunEntry;

export type InboxCounts = { readonly [K in InboxKind | 'total']: number };

export interface InboxPage {
  /** Oldest first by default. With a search term, a page may be short, or even empty, although `next` is set. */
  readonly entries: readonly InboxEntry[];
  /** Everything that waits, whatever the page is filtered by. */
  readonly counts: InboxCounts;
  /** For `after`; absent on the last page. */
  readonly next?: string;
}

/** A call with its complete arguments, for the person who decides on it. */
export interface CompleteCallView {
  readonly executionId: string;
  readonly callId: string;
  readonly name: string;
  readonly state: string;
  readonly arguments: string;
  readonly argumentsHash: string;
  readonly result?: string;
}
