/** Encodes what happens to a run's tool calls as chunks of the AI SDK's UI message stream. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { AgentEvent, AgentEventOf } from '../../business/ai/domain/types/AgentEvents';
import { approvalIdOf, parseInput, parseOutput } from './toolValues';
import type { UIMessageChunk } from './UIMessages';

const SETTLING = ['tool:completed', 'tool:failed', 'tool:timeout', 'tool:cancelled'] as const;
const SHOWN = [
  'tool:pending',
  'tool:approval_required',
  'tool:executing',
  'tool:needs_review',
  'tool:progress',
  ...SETTLING,
] as const;

export type CallEvent = AgentEventOf<(typeof SHOWN)[number]>;

export function isCallEvent(event: AgentEvent): event is CallEvent {
  return (SHOWN as readonly string[]).includes(event.type);
}

export function isSettling({ type }: Pick<CallEvent, 'type'>): boolean {
  return (SETTLING as readonly string[]).includes(type);
}

const REVIEW_REASON =
  'The call was interrupted while it ran, and may have taken effect. Approving runs it again; rejecting does not.';

export class UIToolCalls {
  /** The approvals that were requested and are undecided, by call. */
  private readonly openApprovals = new Map<string, string>();
  /** Calls that the message has. A stream cannot change those of an earlier message. */
  private readonly known = new Map<string, 'open' | 'settled'>();

  isOpen(toolCallId: string): boolean {
    return this.known.get(toolCallId) === 'open';
  }

  /** @param output of a completed call. Default: its result */
  push(event: CallEvent, output?: unknown): readonly UIMessageChunk[] {
    const { callId: toolCallId } = event;
    if (event.type === 'tool:pending') this.known.set(toolCallId, 'open');
    if (!this.known.has(toolCallId)) return [];
    if (isSettling(event)) this.known.set(toolCallId, 'settled');
    switch (event.type) {
      case 'tool:pending': {
        const { name: toolName, arguments: text } = event;
        return [{ type: 'tool-input-available', toolCallId, toolName, input: parseInput(text) }];
      }
      case 'tool:approval_required':
        return [this.requestApproval(toolCallId, approvalIdOf(toolCallId, event.argumentsHash))];
      case 'tool:needs_review':
        return [
          { ...this.requestApproval(toolCallId, approvalIdOf(toolCallId, event.startTime)), reason: REVIEW_REASON },
        ];
      case 'tool:executing':
        return this.respondApproval(toolCallId, { approved: true });
      case 'tool:progress': {
        const { fraction, note, name: toolName } = event;
        const data = omitUndefined({ toolCallId, toolName, fraction, note });
        return [{ type: 'data-tool-progress', id: toolCallId, data }];
      }
      case 'tool:completed':
        return [{ type: 'tool-output-available', toolCallId, output: output ?? parseOutput(event.result) }];
      case 'tool:failed': {
        const { failure, message } = event.error;
        if (failure === 'rejected' && this.openApprovals.has(toolCallId)) {
          const responded = this.respondApproval(toolCallId, { approved: false, reason: message });
          return [...responded, { type: 'tool-output-denied', toolCallId }];
        }
        return [{ type: 'tool-output-error', toolCallId, errorText: message }];
      }
      case 'tool:timeout':
      case 'tool:cancelled':
        this.openApprovals.delete(toolCallId);
        return [{ type: 'tool-output-error', toolCallId, errorText: event.error.message }];
    }
  }

  private requestApproval(toolCallId: string, approvalId: string) {
    this.openApprovals.set(toolCallId, approvalId);
    return { type: 'tool-approval-request', approvalId, toolCallId } as const;
  }

  private respondApproval(
    toolCallId: string,
    decision: { readonly approved: boolean; readonly reason?: string },
  ): readonly UIMessageChunk[] {
    const approvalId = this.openApprovals.get(toolCallId);
    if (approvalId === undefined) return [];
    this.openApprovals.delete(toolCallId);
    return [{ type: 'tool-approval-response', approvalId, ...decision }];
  }
}
