/** One item of a conversation. */
import { memo } from 'react';
import { textOfContent } from '../../business/ai/domain/entities/Content';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { pluralize } from '../format/format';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { CopyButton } from '../components/CopyButton';
import { FoldedText } from '../components/FoldedText';
import { Icon } from '../components/Icon';
import { Markdown } from '../components/Markdown';

export interface ConversationItemProps {
  readonly item: Item;
  readonly call: ToolCallView | undefined;
  readonly onSelect: (callId: string) => void;
  readonly isPlain: boolean;
}

export const ConversationItem = memo(function ConversationItem(props: ConversationItemProps) {
  const { item, call, onSelect, isPlain } = props;
  switch (item.type) {
    case 'message': {
      const text = textOfContent(item.content);
      const attachments = item.content.filter(
        (part) => part.type === 'input_image' || part.type === 'input_file',
      ).length;
      const isModel = item.role === 'assistant';
      return (
        <li className={`message message-${item.role}`}>
          <span className="message-role">
            {ROLE_LABELS[item.role]}
            {isModel && item.status === 'incomplete' && ' · interrupted'}
          </span>
          {text !== '' && (
            <div className="message-text">
              {isModel && !isPlain ? (
                <Markdown text={text} label="the message" />
              ) : (
                <FoldedText text={text} label="the message" {...(isModel ? { length: 8_000, lines: 80 } : {})} />
              )}
            </div>
          )}
          {attachments > 0 && <p className="muted">{pluralize(attachments, 'attachment')}</p>}
          {isModel && <CopyButton text={text} label="the model’s message" />}
        </li>
      );
    }
    case 'reasoning': {
      const text = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join('\n');
      if (text === '') return null;
      return (
        <li className="message message-reasoning">
          <span className="message-role">Reasoning</span>
          <FoldedText className="reasoning" text={text} label="the reasoning" />
        </li>
      );
    }
    case 'function_call': {
      const style = CALL_STATE_STYLES[call?.state ?? 'pending'];
      return (
        <li className="conversation-call">
          <button type="button" className={`call-chip tone-${style.tone}`} onClick={() => onSelect(item.call_id)}>
            <Icon name={style.icon} />
            <bdi className="mono call-chip-name">{item.name}</bdi>
            <span className="call-chip-state">{style.label}</span>
          </button>
        </li>
      );
    }
    case 'function_call_output':
      if (item.deferred !== true) return null;
      return (
        <li className="conversation-note muted">
          <Icon name="arrow" />
          <span>
            Result of <bdi>{item.name ?? call?.name ?? 'a tool'}</bdi> sent to the model
          </span>
        </li>
      );
    default:
      return <li className="conversation-note muted">{item.type.replaceAll('_', ' ')}</li>;
  }
});

const ROLE_LABELS = { user: 'User', assistant: 'Model', system: 'System', developer: 'Developer' } as const;
