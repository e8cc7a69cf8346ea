/** The parts of an answer, in order: reasoning, text as Markdown or JSON, and tool calls. */
import { useMemo } from 'react';
import { readJson } from '../../business/ai/domain/util/json';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { FoldedText } from '../components/FoldedText';
import { JsonTree } from '../components/JsonTree';
import { Markdown } from '../components/Markdown';
import type { ConversationMessage, MessagePart } from '../conversations/ConversationMessage';
import { CallCard } from '../runs/CallCards';

export interface AnswerPartsProps {
  readonly messages: readonly ConversationMessage[];
  readonly calls: readonly ToolCallView[];
  /** The answer is complete, and JSON if the model did as it was asked. */
  readonly isJson: boolean;
}

export function AnswerParts({ messages, calls, isJson }: AnswerPartsProps) {
  const byId = useMemo(() => new Map(calls.map((call) => [call.callId, call])), [calls]);
  return (
    <>
      {messages.flatMap(({ id, parts }) =>
        parts.map((part, index) => (
          <AnswerPart
            key={part.type === 'tool' ? `${id}-${part.callId}` : `${id}-${index}`}
            part={part}
            call={part.type === 'tool' ? byId.get(part.callId) : undefined}
            isJson={isJson}
          />
        )),
      )}
    </>
  );
}

interface AnswerPartProps {
  readonly part: MessagePart;
  readonly call: ToolCallView | undefined;
  readonly isJson: boolean;
}

function AnswerPart({ part, call, isJson }: AnswerPartProps) {
  switch (part.type) {
    case 'reasoning':
      return (
        <details className="reasoning-part">
          <summary>{part.isStreaming ? 'Reasoning…' : 'Reasoning'}</summary>
          <FoldedText text={part.text} label="the reasoning" />
        </details>
      );
    case 'text':
      if (isJson) return <JsonAnswer text={part.text} />;
      return (
        <div className="answer-text" data-live-text={part.isStreaming ? '' : undefined}>
          <Markdown text={part.text} label="the answer" />
        </div>
      );
    case 'tool':
      return call === undefined ? null : <CallCard call={call} />;
    case 'attachment':
      return (
        <p className="muted">
          {part.kind === 'image' ? 'An image' : 'A file'}
          {part.filename !== undefined && (
            <>
              : <bdi>{part.filename}</bdi>
            </>
          )}
        </p>
      );
  }
}

function JsonAnswer({ text }: { readonly text: string }) {
  const isValid = useMemo(() => readJson(text) !== undefined, [text]);
  return (
    <>
      {!isValid && <p className="form-error">The answer is not JSON, although a schema was set.</p>}
      <JsonTree text={text} label="the answer" />
    </>
  );
}
