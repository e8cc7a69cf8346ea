/** The messages, reasoning and tool calls of a run, and the text that the model is streaming. */
import { useMemo } from 'react';
import { needsApproval, needsReview } from '../../business/ai/domain/entities/Tool';
import type { RunDetails } from '../data/DashboardData';
import { ConversationItem } from './ConversationItem';
import { isLive } from './isLive';

export interface ConversationProps {
  readonly details: RunDetails;
  readonly onSelect: (callId: string) => void;
  /** Shows the model's text as it wrote it, not as Markdown. */
  readonly isPlain?: boolean;
}

export function Conversation({ details, onSelect, isPlain = false }: ConversationProps) {
  const { items, calls, liveText, run } = details;
  const byId = useMemo(() => new Map(calls.map((call) => [call.callId, call])), [calls]);
  const isStreaming = liveText.text !== '' || liveText.reasoning !== '';
  return (
    <ol className="conversation">
      {items.map((item, index) => (
        <ConversationItem
          key={index}
          item={item}
          call={'call_id' in item && typeof item.call_id === 'string' ? byId.get(item.call_id) : undefined}
          onSelect={onSelect}
          isPlain={isPlain}
        />
      ))}
      {isStreaming && (
        <li className="message message-assistant is-live" aria-label="The model is writing">
          {liveText.reasoning !== '' && (
            <p className="reasoning" dir="auto">
              {liveText.reasoning}
            </p>
          )}
          {liveText.text !== '' && (
            <p className="message-text" dir="auto" data-live-text="">
              {liveText.text}
              <span className="caret" aria-hidden="true" />
            </p>
          )}
        </li>
      )}
      {!isStreaming && isLive(run.state) && (
        <li className="muted run-activity">
          <span className="dots" aria-hidden="true" /> {activityOf(details)}
        </li>
      )}
    </ol>
  );
}

/** What an active run does, or waits for. */
function activityOf({ run, calls }: RunDetails): string {
  if (run.isCallingModel === true) return 'The model is working…';
  const busy = calls.filter((call) => call.state === 'executing' && call.waiting !== 'external');
  if (busy.length > 0) return `Executing ${busy.length === 1 ? '1 tool' : `${busy.length} tools`}…`;
  if (calls.some(needsApproval)) return 'Waiting for an approval…';
  if (calls.some(needsReview)) return 'Waiting for a review…';
  if (calls.some((call) => call.waiting === 'external')) return 'Waiting for a result from outside…';
  return run.state === 'waiting' ? 'Waiting for results…' : 'Working…';
}
