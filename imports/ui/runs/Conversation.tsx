/** The messages, reasoning and tool calls of a run, and the text that the model is streaming. */
import { memo, useMemo } from 'react';
import { textOfContent } from '../../business/ai/domain/entities/Content';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { RunDetails } from '../data/DashboardData';
import { pluralize } from '../format/format';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { CopyButton } from '../components/CopyButton';
import { Icon } from '../components/Icon';
import { isLive } from './isLive';

export function Conversation({
  details,
  onSelect,
}: {
  readonly details: RunDetails;
  readonly onSelect: (callId: string) => void;
}) {
  const { items, calls, liveText, run } = details;
  const byId = useMemo(() => new Map(calls.map((call) => [call.callId, call])), [calls]);
  const isStreaming = liveText.text !== '' || liveText.reasoning !== '';
  return (
    <ol className="conversation">
      {items.map((item, index) => (
        <ItemView
          key={index}
          item={item}
          call={'call_id' in item && typeof item.call_id === 'string' ? byId.get(item.call_id) : undefined}
          onSelect={onSelect}
        />
      ))}
      {isStreaming && (
        <li className="message message-assistant is-live" aria-label="The model is writing">
          {liveText.reasoning !== '' && <p className="reasoning">{liveText.reasoning}</p>}
          {liveText.text !== '' && (
            <p className="message-text" data-live-text="">
              {liveText.text}
              <span className="caret" aria-hidden="true" />
            </p>
          )}
        </li>
      )}
      {!isStreaming && isLive(run.state) && (
        <li className="muted run-activity">
          <span className="dots" aria-hidden="true" /> {run.state === 'waiting' ? 'Waiting for results…' : 'Working…'}
        </li>
      )}
    </ol>
  );
}

interface ItemViewProps {
  readonly item: Item;
  readonly call: ToolCallView | undefined;
  readonly onSelect: (callId: string) => void;
}

const ItemView = memo(function ItemView({ item, call, onSelect }: ItemViewProps) {
  switch (item.type) {
    case 'message': {
      const text = textOfContent(item.content);
      const attachments = item.content.filter(
        (part) => part.type === 'input_image' || part.type === 'input_file',
      ).length;
      return (
        <li className={`message message-${item.role}`}>
          <span className="message-role">{ROLE_LABELS[item.role]}</span>
          <p className="message-text">{text}</p>
          {attachments > 0 && <p className="muted">{pluralize(attachments, 'attachment')}</p>}
          {item.role === 'assistant' && <CopyButton text={text} label="the model’s message" />}
        </li>
      );
    }
    case 'reasoning': {
      const text = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join('\n');
      if (text === '') return null;
      return (
        <li className="message message-reasoning">
          <span className="message-role">Reasoning</span>
          <p className="reasoning">{text}</p>
        </li>
      );
    }
    case 'function_call': {
      const style = CALL_STATE_STYLES[call?.state ?? 'pending'];
      return (
        <li className="conversation-call">
          <button type="button" className={`call-chip tone-${style.tone}`} onClick={() => onSelect(item.call_id)}>
            <Icon name={style.icon} />
            <span className="mono">{item.name}</span>
            <span className="call-chip-state">{style.label}</span>
          </button>
        </li>
      );
    }
    case 'function_call_output':
      if (item.deferred !== true) return null;
      return (
        <li className="conversation-note muted">
          <Icon name="arrow" /> Result of {item.name ?? call?.name ?? 'a tool'} sent to the model
        </li>
      );
    default:
      return <li className="conversation-note muted">{item.type.replaceAll('_', ' ')}</li>;
  }
});

const ROLE_LABELS = { user: 'User', assistant: 'Model', system: 'System', developer: 'Developer' } as const;
