/** The commands that a run's calls wait for. */
import { needsReview } from '../../business/ai/domain/entities/Tool';
import { DashboardError } from '../data/DashboardData';
import type { RunData, RunDetails } from '../data/DashboardData';
import { hashArguments } from './hashArguments';

/** Each rejects with a `DashboardError`. */
export interface CallCommands {
  /** Approves the call with the arguments that are shown, or lets a call that needs review run again. */
  readonly approve: (callId: string) => Promise<void>;
  /** @param reason sent to the model */
  readonly reject: (callId: string, reason?: string) => Promise<void>;
  /** Supplies the result of an external tool's call, or of one that needs review. */
  readonly submitResult: (
    callId: string,
    outcome: { readonly output: unknown } | { readonly error: string },
  ) => Promise<void>;
}

/** @param shown returns the run as it is shown now: a decision covers only that */
export function createCallCommands(
  { call }: Pick<RunData, 'call'>,
  executionId: string | undefined,
  shown: () => RunDetails | undefined,
): CallCommands {
  const named = (callId: string): { readonly executionId: string; readonly callId: string } => {
    if (executionId === undefined) throw new DashboardError('not-found', 'No run has been started yet.');
    return { executionId, callId };
  };
  const asked = (callId: string): { readonly inputId?: string } => questionOf(shown(), callId);
  const decisionOn = async (callId: string) => ({
    ...asked(callId),
    ...named(callId),
    argumentsHash: await hashOf(shown(), callId),
  });
  return {
    approve: async (callId) => {
      const attempt = attemptUnderReview(shown(), callId);
      await call('ai.runs.approve', { ...(await decisionOn(callId)), ...attempt });
    },
    reject: async (callId, reason) => {
      await call('ai.runs.reject', { ...(await decisionOn(callId)), reason });
    },
    submitResult: async (callId, outcome) => {
      await call('ai.runs.submitToolResult', { ...asked(callId), ...named(callId), ...outcome });
    },
  };
}

/** What an approval lets run again. Empty for a call that has not been started. */
function attemptUnderReview(details: RunDetails | undefined, callId: string): { readonly startTime?: number } {
  const call = details?.calls.find((each) => each.callId === callId);
  return call?.startTime !== undefined && needsReview(call) ? { startTime: call.startTime } : {};
}

/** What the call's tool asks as it is shown. Empty if it asks nothing. */
function questionOf(details: RunDetails | undefined, callId: string): { readonly inputId?: string } {
  const call = details?.calls.find((each) => each.callId === callId);
  return call?.input === undefined ? {} : { inputId: call.input.id };
}

/** Returns the hash of the arguments that are shown: a decision covers only these. */
async function hashOf(details: RunDetails | undefined, callId: string): Promise<string> {
  const call = details?.calls.find((each) => each.callId === callId);
  if (details === undefined || call === undefined)
    throw new DashboardError('not-found', `The run has no tool call "${callId}".`);
  const hash = call.argumentsHash ?? details.argumentHashes.get(callId) ?? (await hashArguments(call.arguments));
  if (hash !== undefined) return hash;
  throw new DashboardError(
    'unsupported-feature',
    'This browser can’t verify the arguments on an insecure page. Open it over HTTPS or on localhost.',
  );
}
