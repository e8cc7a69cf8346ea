/**
 * The calls of runs below that people are asked about, as parts of the message of the run above, where `useChat` can
 * answer: it finds approvals among the parts of a message, and not in what a part has as its output. Each has a step of
 * its own, because a client answers at once only if the other calls of the last step have settled.
 * https://ai-sdk.dev/docs/ai-sdk-ui/chatbot-tool-usage
 */
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import { callOfRunId } from '../../business/ai/domain/entities/callOfRun';
import type { UIMessageChunk } from './UIMessages';
import { isCallEvent, isSettling, UIToolCalls } from './UIToolCalls';
import type { CallEvent } from './UIToolCalls';

export class UICallsBelow {
  private readonly calls = new UIToolCalls();
  /** The beginnings of calls that nobody was asked about, by id. */
  private readonly unasked = new Map<string, CallEvent>();
  private readonly isExternal: (toolName: string) => boolean;

  /** @param isExternal whether the client may supply the results of the tool's calls */
  constructor(isExternal: (toolName: string) => boolean) {
    this.isExternal = isExternal;
  }

  /** @param event of a run below */
  push(event: FamilyEvent): readonly UIMessageChunk[] {
    if (!isCallEvent(event)) return [];
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
    const of = { executionId: event.executionId, callId: event.callId };
    const beginning = begun === undefined || !isAsked ? [] : this.calls.push(begun);
    return [
      ...beginning.flatMap((chunk) => [
        { type: 'start-step' } as const,
        { ...chunk, providerMetadata: { bolide: of } },
      ]),
      ...this.calls.push(call),
    ];
  }
}
