/**
 * Decisions about tool calls that come from outside the run: approvals, rejections, submitted results. A stored run may
 * be executed by any process; its owner receives the decision as a command.
 */
import {
  acceptsDecision,
  acceptsResult,
  answeredIdOf,
  inputOf,
  isAboutPresentAttempt,
  isDecidedLike,
  isExternalTool,
  isFunctionTool,
  isSettled,
  needsReview,
} from '../../../domain/entities/Tool';
import type { Decider, ToolCall } from '../../../domain/entities/Tool';
import { ConflictError, LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { RunAction } from '../../../domain/types/RunRecords';
import { canonicalJson } from '../../../domain/util/canonicalJson';
import { argumentsHash } from '../shared/argumentsHash';
import type { Approval, ExternalResult, ShownCall } from '../tools/decisions';
import { definitionIn } from '../tools/definitionIn';
import { assertValues } from '../tools/inputValues';
import { toAnswer, toGiven } from '../tools/toolInput';
import { hasSettledWith, toStorableResult } from '../tools/toolResult';
import type { DurableRuns } from './durable/DurableRuns';
import { unknownCallError, unknownRunError } from './durable/RemoteRuns';
import type { RunRegistry } from './RunRegistry';

export interface ExternalDecisionsOptions {
  readonly registry: RunRegistry;
  readonly toolExecutor: IToolExecutor;
  /** Undefined if runs are not stored. */
  readonly durable: DurableRuns | undefined;
  /** UTF-8 bytes of a result that calls settle with. */
  readonly maxResultBytes: number;
}

export class ExternalDecisions {
  private readonly registry: RunRegistry;
  private readonly toolExecutor: IToolExecutor;
  private readonly durable: DurableRuns | undefined;
  private readonly maxResultBytes: number;

  constructor({ registry, toolExecutor, durable, maxResultBytes }: ExternalDecisionsOptions) {
    this.maxResultBytes = maxResultBytes;
    this.registry = registry;
    this.toolExecutor = toolExecutor;
    this.durable = durable;
  }

  /**
   * Repeating a decision changes nothing.
   * @param shown what the person decided on. An approval runs no call again that was started since
   * @param by kept with the call
   * @returns the call's state afterwards. If another process executes the run, the decision takes effect with that
   *   process's next heartbeat, and the state may be the one before
   * @throws LLMInvalidRequestError for an unknown run or call, and for a call that waits for no decision;
   *   ConflictError if the call has other arguments, approving it would repeat another attempt than the one shown, or
   *   its tool may ask something else than what was shown
   */
  async decide(
    executionId: string,
    callId: string,
    approval: Approval,
    shown: ShownCall,
    by: Decider | undefined,
  ): Promise<ToolCall['state']> {
    const call = await this.storedCall(executionId, callId);
    if (shown.argumentsHash !== undefined && shown.argumentsHash !== argumentsHash(call.arguments)) {
      throw new ConflictError(`The decision on the call "${callId}" was made for other arguments.`);
    }
    const { approved } = approval;
    const answered = call.answers?.find(({ input }) => input.id === shown.inputId);
    if (answered !== undefined && (answered.answer.action === 'accept') === approved) return call.state;
    assertQuestion(call, shown.inputId);
    const action: RunAction = approved
      ? { kind: 'approve', callId, ...decider(by) }
      : { kind: 'reject', callId, reason: approval.reason, ...decider(by) };
    // An approval that names no attempt may be the repetition of an earlier one, if there was one.
    const isFirst = shown.startTime === undefined && call.isApproved !== true;
    const isDue = !approval.approved || isFirst || isAboutPresentAttempt(call, shown.startTime);
    const isWaiting = acceptsDecision(call) && isDue;
    if (isWaiting && approval.approved) await this.assertAnswer(executionId, call, {});
    if (isWaiting && (await this.send(executionId, call, action))) return this.stateOf(executionId, callId);
    // Another decision came first. Its command exists until the run's owner has applied it.
    const earlier = isWaiting ? await this.durable?.remote.findAction(executionId, call) : undefined;
    const state = await this.stateOf(executionId, callId);
    const isRepeated =
      earlier === undefined
        ? isDecidedLike(await this.findCall(executionId, callId), approval.approved)
        : earlier.kind === action.kind;
    if (isRepeated) return state;
    if (needsReview(call))
      throw new ConflictError(
        `The call "${callId}" was started, and may have taken effect. It runs again only if the start of that attempt is named, as the call's "startTime" shows it.`,
        { path: 'startTime' },
      );
    throw new LLMInvalidRequestError(`The call "${callId}" does not wait for approval.`, { path: 'callId' });
  }

  private async stateOf(executionId: string, callId: string): Promise<ToolCall['state']> {
    return (await this.recordedCall(executionId, callId)).state;
  }

  /**
   * The call with every decision that this process has applied. Waits until the store has what this process knows.
   * @throws LLMInvalidRequestError for an unknown run or call
   */
  async recordedCall(executionId: string, callId: string): Promise<ToolCall> {
    const entry = this.registry.live.get(executionId);
    const call = await this.appliedCall(executionId, callId);
    if (entry === undefined) return call;
    // A run that is continued elsewhere is read from the store.
    await entry.interpreter.writer?.callsStored().catch(() => undefined);
    return this.findCall(executionId, callId);
  }

  /** With every decision that this process has applied, if it has the run. */
  private async appliedCall(executionId: string, callId: string): Promise<ToolCall> {
    // A decision takes effect in microtasks, unless the call must wait for a slot.
    if (this.registry.live.has(executionId)) await new Promise((resolve) => setImmediate(resolve));
    return this.findCall(executionId, callId);
  }

  /** @throws LLMInvalidRequestError for an unknown run or call, for a call that takes no submitted result, and
   *   for an answer that is not what the call's tool asks for */
  async submitResult(
    executionId: string,
    callId: string,
    result: ExternalResult,
    by: Decider | undefined,
    inputId?: string,
  ): Promise<'accepted' | 'already-settled'> {
    const call = await this.storedCall(executionId, callId);
    if (isSettled(call)) return 'already-settled';
    if (call.answers?.some(({ input }) => input.id === inputId) === true) return 'already-settled';
    const isExternal =
      this.registry.live.get(executionId)?.interpreter.isExternal(call) ??
      (await this.isExternalInPlan(executionId, call.name));
    if (!acceptsResult(call, isExternal))
      throw new LLMInvalidRequestError(`The call "${callId}" does not wait for a submitted result.`, {
        path: 'callId',
      });
    assertQuestion(call, inputId);
    const storable = toStorableResult(result);
    if ('output' in storable) await this.assertAnswer(executionId, call, storable.output);
    const action: RunAction = { kind: 'submit', callId, result: storable, ...decider(by) };
    if (!(await this.send(executionId, call, action))) return 'already-settled';
    return (await this.isTooLate(executionId, call, storable)) ? 'already-settled' : 'accepted';
  }

  /**
   * The call, once the store has what it waits for. If the run is lost before, its next owner may start the call anew,
   * and then takes no result of the earlier wait.
   */
  private async storedCall(executionId: string, callId: string): Promise<ToolCall> {
    const entry = this.registry.live.get(executionId);
    const call = await this.findCall(executionId, callId);
    const writer = entry?.interpreter.writer;
    if (writer === undefined || writer.hasStored(call)) return call;
    await writer.callsStored().catch(() => undefined);
    return this.registry.live.get(executionId) === entry ? call : this.storedCall(executionId, callId);
  }

  /**
   * Whether another decision has settled the wait of the call although this one was stored: its command was applied and
   * deleted before.
   */
  private async isTooLate(executionId: string, before: ToolCall, result: ExternalResult): Promise<boolean> {
    if (this.durable === undefined) return false;
    const journal = this.registry.live.get(executionId)?.interpreter.writer;
    // The store has the command. A process that surely owns the run waits for nothing else.
    const isOwner = journal !== undefined && !journal.isStopped && this.durable.isLeaseCurrent();
    const call = await (isOwner ? this.appliedCall(executionId, before.id) : this.recordedCall(executionId, before.id));
    const question = inputOf(before);
    if (question !== undefined) {
      // The tool goes on with its answer, whichever it was. If its process died, it may ask something else, or nothing.
      const answer = call.answers?.find(({ input }) => input.id === question.id)?.answer;
      if (answer === undefined) return inputOf(call)?.id !== question.id;
      return canonicalJson(answer) !== canonicalJson(toGiven(toAnswer(result, question)));
    }
    if (isSettled(call)) return !hasSettledWith(call, result, this.maxResultBytes);
    return needsReview(before) && !needsReview(call);
  }

  /** @throws LLMInvalidRequestError for an answer that is not what the call's tool asks for */
  private async assertAnswer(executionId: string, call: ToolCall, given: unknown): Promise<void> {
    const input = inputOf(call);
    if (input !== undefined) await assertValues(input, given, executionId);
  }

  /** Looks a tool up for a run of another process. The run's plan defines the tools that are not the server's. */
  private async isExternalInPlan(executionId: string, toolName: string): Promise<boolean> {
    const registered = definitionIn(this.toolExecutor, toolName);
    if (registered !== undefined && isExternalTool(registered)) return true;
    const stored = await this.durable?.remote.load(executionId);
    return (
      stored?.run.plan.tools.some(
        (tool) => typeof tool !== 'string' && isFunctionTool(tool) && tool.name === toolName && isExternalTool(tool),
      ) ?? false
    );
  }

  /** @returns false if another decision came first */
  private async send(executionId: string, call: ToolCall, action: RunAction): Promise<boolean> {
    if (this.durable !== undefined) return this.durable.send(executionId, call, action);
    const entry = this.registry.live.get(executionId);
    const current = entry?.run.current.calls.get(call.id);
    // The tool may have gone on, and asked something else, while the answer was checked.
    if (current === undefined || answeredIdOf(current) !== answeredIdOf(call)) return false;
    return entry?.interpreter.apply(action) === true;
  }

  private async findCall(executionId: string, callId: string): Promise<ToolCall> {
    const run = this.registry.find(executionId);
    if (run === undefined) {
      if (this.durable === undefined) throw unknownRunError(executionId);
      return this.durable.remote.loadCall(executionId, callId);
    }
    const call = run.current.calls.get(callId);
    if (call === undefined) throw unknownCallError(executionId, callId);
    return call;
  }
}

function decider(by: Decider | undefined): { readonly by?: Decider } {
  return by === undefined ? {} : { by };
}

/**
 * An answer that names no question may be the repetition of an earlier decision about the call, if there was one.
 * @throws ConflictError if it is not certain that the decision answers what the call's tool asks now
 */
function assertQuestion(call: ToolCall, inputId: string | undefined): void {
  const question = inputOf(call);
  if (inputId === question?.id) return;
  if (inputId === undefined && call.answers === undefined && call.isApproved !== true) return;
  throw new ConflictError(
    inputId === undefined
      ? `The tool of the call "${call.id}" asks something, and the call was decided about before. Name what you answer, as the call's "input.id" shows it.`
      : `The tool of the call "${call.id}" does not ask "${inputId}". Read the call again, and answer what it asks now.`,
    { path: 'inputId' },
  );
}
