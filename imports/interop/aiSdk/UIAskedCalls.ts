/**
 * What people are asked about besides the calls of the run itself, as parts of its message, where `useChat` can
 * answer: calls of runs below, and what tools ask. It finds approvals among the parts of a message, and not in what a
 * part has as its output. Each has a step of its own, because a client answers at once only if the other calls of the
 * last step have settled. https://ai-sdk.dev/docs/ai-sdk-ui/chatbot-tool-usage
 */
import type { AgentEventOf, CallOfRun, FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { GivenAnswer } from '../../business/ai/domain/entities/Tool';
import { callOfRunId } from '../../business/ai/domain/entities/callOfRun';
import { jsonOrText } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { UIMessageChunk } from './UIMessages';
import { isCallEvent, isSettling, UIToolCalls } from './UIToolCalls';
import type { CallEvent } from './UIToolCalls';

/** The name of the tool whose calls what tools ask is shown as. */
const REQUEST_INPUT = 'request_input';

export class UIAskedCalls {
  private readonly calls = new UIToolCalls();
  /** The beginnings of calls of runs below that nobody was asked about, by id. */
  private readonly unasked = new Map<string, CallEvent>();
  /** The parts of what tools ask, by call. */
  private readonly questions = new Map<string, string>();
  private readonly isExternal: (toolName: string) => boolean;

  /** @param isExternal whether the client may supply the results of the tool's calls, which runs below make */
  constructor(isExternal: (toolName: string) => boolean) {
    this.isExternal = isExternal;
  }

  /** @param isBelow the event is one of a run below, whose calls are no parts of the message otherwise */
  push(event: FamilyEvent, isBelow: boolean): readonly UIMessageChunk[] {
    if (event.type === 'tool:input_required') return this.ask(event);
    if (event.type === 'tool:input_received') return this.closeQuestion(event, event.answer);
    if (!isCallEvent(event)) return [];
    return [
      ...(isSettling(event) ? this.closeQuestion(event, errorOf(event)) : []),
      ...(isBelow ? this.pushCall(event) : []),
    ];
  }

  private pushCall(event: CallEvent): readonly UIMessageChunk[] {
    const callId = callOfRunId(event);
    const call = { ...event, callId };
    if (call.type === 'tool:pending') {
      this.unasked.set(callId, call);
      return [];
    }
    const begun = this.unasked.get(callId);
    const isAsked =
      call.type === 'tool:approval_required' ||
      call.type === 'tool:needs_review' ||
      (call.type === 'tool:executing' && this.isExternal(call.name));
    if (isAsked || isSettling(call)) this.unasked.delete(callId);
    const beginning = begun === undefined || !isAsked ? [] : this.calls.push(begun);
    return [...beginning.flatMap((chunk) => inOwnStep(chunk, event)), ...this.calls.push(call)];
  }

  /** Each question is a call of its own, so that no answer is taken for one to the next question. */
  private ask({ executionId, input, ...call }: AgentEventOf<'tool:input_required'>): readonly UIMessageChunk[] {
    const of = { executionId, callId: input.id };
    const toolCallId = callOfRunId(of);
    const key = callOfRunId({ executionId, callId: call.callId });
    if (this.questions.get(key) === toolCallId) return [];
    this.questions.set(key, toolCallId);
    const { message, schema, url } = input;
    const shown = omitUndefined({ toolName: call.name, message, schema, url });
    return [
      ...inOwnStep({ type: 'tool-input-available', toolCallId, toolName: REQUEST_INPUT, input: shown }, of),
      ...(schema === undefined
        ? [{ type: 'tool-approval-request', approvalId: toolCallId, toolCallId, reason: message } as const]
        : []),
    ];
  }

  /** @param answer absent: it is not known */
  private closeQuestion(call: CallOfRun, answer: GivenAnswer | undefined): readonly UIMessageChunk[] {
    const key = callOfRunId(call);
    const toolCallId = this.questions.get(key);
    if (toolCallId === undefined) return [];
    this.questions.delete(key);
    return answer?.action === 'decline'
      ? [{ type: 'tool-output-error', toolCallId, errorText: answer.reason }]
      : [
          {
            type: 'tool-output-available',
            toolCallId,
            output: answer === undefined ? null : jsonOrText(answer.values),
          },
        ];
  }
}

/** Returns what a question ends with whose call has failed before it was answered. */
function errorOf(event: CallEvent): GivenAnswer | undefined {
  return 'error' in event ? { action: 'decline', reason: event.error.message } : undefined;
}

/** @param chunk the beginning of a call */
function inOwnStep(chunk: UIMessageChunk, { executionId, callId }: CallOfRun): readonly UIMessageChunk[] {
  return [
    { type: 'start-step' },
    chunk.type === 'tool-input-available' ? { ...chunk, providerMetadata: { bolide: { executionId, callId } } } : chunk,
  ];
}
