/** Applies what a part of a client's message states about a call of a run: a decision, or the result of its tool. */
import { acceptsDecision, acceptsResult, inputOf, isAboutPresentAttempt } from '../../business/ai/domain/entities/Tool';
import type { ToolCall } from '../../business/ai/domain/entities/Tool';
import type { Actor } from '../../business/ai/domain/types/Actor';
import type { RunMethods } from '../../business/ai/application/operations/runCommandOperations';
import type { ReadCall } from '../../interop/aiSdk/readUIMessages';
import { argumentsHash } from '../../business/ai/application/services/shared/argumentsHash';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { argumentsHashIn, startTimeIn } from '../../interop/aiSdk/toolValues';

export type DecisionMethods = Pick<RunMethods, 'ai.runs.approve' | 'ai.runs.reject' | 'ai.runs.submitToolResult'>;

export interface OpenCallOfRun {
  readonly executionId: string;
  readonly call: ToolCall;
  /** The tool's results are supplied from outside. */
  readonly isExternal: boolean;
}

/**
 * @returns whether there was something to decide
 * @throws what the operations on runs throw
 */
export async function submitDecision(
  methods: DecisionMethods,
  actor: Actor,
  { executionId, call, isExternal }: OpenCallOfRun,
  { state, approval, output, errorText, isPreliminary }: ReadCall,
): Promise<boolean> {
  // The part names the question, by which the call was found.
  const named = { executionId, callId: call.id, ...omitUndefined({ inputId: inputOf(call)?.id }) };
  if (state === 'approval-responded' && approval?.approved !== undefined && acceptsDecision(call)) {
    const startTime = startTimeIn(approval.id);
    // It answers an earlier request. What the call waits for now is asked again.
    if (!isAboutPresentAttempt(call, startTime)) return false;
    const decision = { ...named, argumentsHash: argumentsHashIn(approval.id) ?? argumentsHash(call.arguments) };
    const { reason } = approval;
    if (approval.approved) await methods['ai.runs.approve'](actor, omitUndefined({ ...decision, startTime }));
    else await methods['ai.runs.reject'](actor, omitUndefined({ ...decision, reason }));
    return true;
  }
  if (!acceptsResult(call, isExternal) || isPreliminary) return false;
  if (state !== 'output-available' && state !== 'output-error') return false;
  await methods['ai.runs.submitToolResult'](
    actor,
    state === 'output-available'
      ? { ...named, output: output ?? null }
      : { ...named, error: errorText ?? 'The tool failed.' },
  );
  return true;
}
