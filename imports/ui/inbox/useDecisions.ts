/**
 * Carries out decisions on entries, each at most once at a time. An entry that is decided leaves the list at once; one
 * that another person has decided meanwhile leaves it with a notice.
 */
import { useCallback, useMemo, useRef, useState } from 'react';
import {
  acceptsDecision,
  isExecuting,
  isToolCallState,
  needsApproval,
  needsReview,
} from '../../business/ai/domain/entities/Tool';
import type { InboxEntry, WaitingCallEntry } from '../../business/ai/domain/types/InboxViews';
import type { DashboardData } from '../data/DashboardData';
import { DashboardError } from '../data/DashboardData';
import { useData } from '../hooks/BolideProvider';
import { newRequestId } from '../conversations/newRequestId';
import { draftOf, toStartRequest } from '../runs/again';
import type { Outcome } from '../runs/readOutcome';
import { entryKey, entryName, isCallEntry } from './entryKey';

export interface EntryStatus {
  readonly isBusy: boolean;
  readonly error?: string;
}

export interface EntryCommands {
  readonly approve: (entry: WaitingCallEntry) => Promise<void>;
  readonly reject: (entry: WaitingCallEntry, reason: string) => Promise<void>;
  readonly submit: (entry: WaitingCallEntry, outcome: Outcome) => Promise<void>;
  readonly dismiss: (entry: InboxEntry) => Promise<void>;
  /** Starts a failed run again as it was. One that waits as a whole ends, since the new one takes its place. */
  readonly runAgain: (entry: InboxEntry) => Promise<void>;
  /** Continues a parked run. */
  readonly resume: (entry: InboxEntry) => Promise<void>;
  /** Ends a run that waits as a whole. */
  readonly cancel: (entry: InboxEntry) => Promise<void>;
}

export interface Decisions {
  readonly statusOf: (entry: InboxEntry) => EntryStatus;
  /** Decided here; the list may still have it. */
  readonly isSettled: (entry: InboxEntry) => boolean;
  readonly commands: EntryCommands;
}

const IDLE: EntryStatus = { isBusy: false };

/** @param announce tells what has become of an entry, in one sentence */
export function useDecisions(announce: (notice: string) => void): Decisions {
  const { call } = useData();
  const [statuses, setStatuses] = useState<ReadonlyMap<string, EntryStatus | 'settled'>>(new Map());
  // A second key press comes before the next render.
  const pending = useRef(new Set<string>());
  const setStatus = useCallback((entry: InboxEntry, status: EntryStatus | 'settled'): void => {
    setStatuses((before) => new Map(before).set(entryKey(entry), status));
  }, []);
  const commands = useMemo((): EntryCommands => {
    const run = async (entry: InboxEntry, done: string, command: () => Promise<boolean>): Promise<void> => {
      const key = entryKey(entry);
      if (pending.current.has(key)) return;
      pending.current.add(key);
      setStatus(entry, { isBusy: true });
      try {
        const isFirst = await command();
        setStatus(entry, 'settled');
        announce(isFirst ? `${done} ${entryName(entry)}.` : decidedElsewhere(entry));
      } catch (thrown) {
        if (await isDecidedElsewhere(call, entry)) {
          setStatus(entry, 'settled');
          announce(decidedElsewhere(entry));
        } else setStatus(entry, { isBusy: false, error: thrown instanceof Error ? thrown.message : String(thrown) });
      } finally {
        pending.current.delete(key);
      }
    };
    const asked = ({ input }: WaitingCallEntry) => (input === undefined ? {} : { inputId: input.id });
    const decisionOn = (entry: WaitingCallEntry) => {
      const { executionId, callId, argumentsHash } = entry;
      return { executionId, callId, argumentsHash, ...asked(entry) };
    };
    return {
      approve: (entry) =>
        run(entry, entry.kind === 'review' ? 'Running again:' : 'Approved', async () => {
          await call('ai.runs.approve', {
            ...decisionOn(entry),
            ...(entry.kind === 'review' ? { startTime: entry.since } : {}),
          });
          return true;
        }),
      reject: (entry, reason) =>
        run(entry, entry.kind === 'review' ? 'Reported as unknown:' : 'Rejected', async () => {
          await call('ai.runs.reject', { ...decisionOn(entry), ...(reason === '' ? {} : { reason }) });
          return true;
        }),
      submit: (entry, outcome) =>
        run(entry, 'Submitted the outcome of', async () => {
          const { executionId, callId } = entry;
          const { result } = await call('ai.runs.submitToolResult', {
            executionId,
            callId,
            ...asked(entry),
            ...outcome,
          });
          return result === 'accepted';
        }),
      runAgain: (entry) =>
        run(entry, 'Started again:', async () => {
          const exported = await call('ai.runs.export', { executionId: entry.executionId });
          await call('ai.runs.start', toStartRequest(exported, draftOf(exported), { requestId: newRequestId() }));
          if (entry.kind !== 'failed') await call('ai.runs.cancel', { executionId: entry.executionId });
          return true;
        }),
      resume: (entry) =>
        run(entry, 'Resumed', async () => {
          await call('ai.runs.resume', { executionId: entry.executionId });
          return true;
        }),
      cancel: (entry) =>
        run(entry, 'Cancelled', async () => {
          await call('ai.runs.cancel', { executionId: entry.executionId });
          return true;
        }),
      dismiss: (entry) =>
        run(entry, 'Dismissed', async () => {
          await call('ai.inbox.dismiss', { executionId: entry.executionId });
          return true;
        }),
    };
  }, [announce, call, setStatus]);
  return useMemo(
    () => ({
      commands,
      isSettled: (entry) => statuses.get(entryKey(entry)) === 'settled',
      statusOf(entry) {
        const status = statuses.get(entryKey(entry)) ?? IDLE;
        return status === 'settled' ? IDLE : status;
      },
    }),
    [commands, statuses],
  );
}

export function decidedElsewhere(entry: InboxEntry): string {
  const name = entryName(entry);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} no longer waits: it was decided elsewhere.`;
}

/** Whether a command failed because the call does not wait any more. */
async function isDecidedElsewhere(call: DashboardData['call'], entry: InboxEntry): Promise<boolean> {
  if (!isCallEntry(entry)) return false;
  const { executionId, callId } = entry;
  try {
    const { state } = await call('ai.runs.getCall', { executionId, callId });
    return !isWaiting(entry, state);
  } catch (thrown) {
    return thrown instanceof DashboardError && thrown.code === 'not-found';
  }
}

function isWaiting({ kind }: WaitingCallEntry, state: string): boolean {
  if (!isToolCallState(state)) return false;
  if (kind === 'approval') return needsApproval({ state }) || isExecuting({ state });
  return kind === 'review' ? needsReview({ state }) : isExecuting({ state }) || acceptsDecision({ state });
}
