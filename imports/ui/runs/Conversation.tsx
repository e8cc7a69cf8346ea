/** What was said: by people, by the model, by tools, and what the model says right now. */
import { memo, useMemo } from 'react';
import { textOfContent } from '../../business/ai/domain/entities/Content';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { WatchedRun } from '../data/DashboardData';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { CopyButton } from '../components/CopyButton';
import { Icon } from '../components/Icon';
import { isLive } from './filterRuns';

export function Conversation({
  watched,
  onChoose,
}: {
  readonly watched: WatchedRun;
  readonly onChoose: (callId: string) => void;
}) {
  const { items, calls, live, run } = watched;
  const byId = useMemo(() => new Map(calls.map((call) => [call.callId, call])), [calls]);
  const isSpeaking = live.text !== '' || live.reasoning !== '';
  return (
    <ol className="conversation">
      {items.map((item, index) => (
        <ItemView
          key={index}
          item={item}
          call={'call_id' in item && typeof item.call_id === 'string' ? byId.get(item.call_id) : undefined}
          onChoose={onChoose}
        />
      ))}
      {isSpeaking && (
        <li className="said said-assistant is-live" aria-label="The model is writing">
          {live.reasoning !== '' && <p className="reasoning">{live.reasoning}</p>}
          {live.text !== '' && (
            <p className="said-text" data-live-text="">
              {live.text}
              <span className="caret" aria-hidden="true" />
            </p>
          )}
        </li>
      )}
      {!isSpeaking && isLive(run.state) && (
        <li className="muted thinking">
          <span className="dots" aria-hidden="true" /> {run.state === 'waiting' ? 'Waiting for results' : 'Working'}
        </li>
      )}
    </ol>
  );
}

interface ItemViewProps {
  readonly item: Item;
  readonly call: ToolCallView | undefined;
  readonly onChoose: (callId: string) => void;
}

const ItemView = memo(function ItemView({ item, call, onChoose }: ItemViewProps) {
  switch (item.type) {
    case 'message': {
      const text = textOfContent(item.content);
      const others = item.content.filter((part) => part.type === 'input_image' || part.type === 'input_file').length;
      return (
        <li className={`said said-${item.role}`}>
          <span className="said-who">{WHO[item.role]}</span>
          <p className="said-text">{text}</p>
          {others > 0 && <p className="muted">{others === 1 ? 'One attachment' : `${others} attachments`}</p>}
          {item.role === 'assistant' && <CopyButton text={text} label="what the model said" />}
        </li>
      );
    }
    case 'reasoning': {
      const text = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join('\n');
      if (text === '') return null;
      return (
        <li className="said said-reasoning">
          <span className="said-who">Reasoning</span>
          <p className="reasoning">{text}</p>
        </li>
      );
    }
    case 'function_call': {
      const face = CALL_STATE_STYLES[call?.state ?? 'pending'];
      return (
        <li className="said-call">
          <button type="button" className={`call-chip tone-${face.tone}`} onClick={() => onChoose(item.call_id)}>
            <Icon name={face.icon} />
            <span className="mono">{item.name}</span>
            <span className="call-chip-state">{face.label}</span>
          </button>
        </li>
      );
    }
    case 'function_call_output':
      if (item.deferred !== true) return null;
      return (
        <li className="said-note muted">
          <Icon name="arrow" /> The result of {item.name ?? call?.name ?? 'a tool'} reached the model
        </li>
      );
    default:
      return <li className="said-note muted">{item.type.replaceAll('_', ' ')}</li>;
  }
});

const WHO = { user: 'User', assistant: 'Model', system: 'Operator', developer: 'Operator' } as const;
