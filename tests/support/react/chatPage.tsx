/** The script of a page with a conversation, as an app would write it. */
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { BolideProvider, createHttpData, useConversation } from '../../../imports/entries/react';
import type { Conversation, MessagePart } from '../../../imports/entries/react';

declare const TOKEN: string;

const data = createHttpData({ token: TOKEN });
const TOOLS = ['get_weather', 'research_topic', 'send_reminder', 'render_video'];

function Chat() {
  const conversation = useConversation({ id: location.hash.slice(1), model: 'openai', tools: TOOLS });
  const { messages, status, error, send, stop } = conversation;
  const [text, setText] = useState('');
  return (
    <main data-status={status}>
      {messages.map(({ id, role, parts }) => (
        <article key={id} data-role={role}>
          {parts.map((part, index) => (
            <Part key={index} part={part} conversation={conversation} />
          ))}
        </article>
      ))}
      {error !== undefined && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setText('');
          void send(text);
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button>Send</button>
        <button type="button" onClick={() => void stop()}>
          Stop
        </button>
      </form>
    </main>
  );
}

function Part({ part, conversation }: { readonly part: MessagePart; readonly conversation: Conversation }) {
  if (part.type === 'attachment') return null;
  if (part.type !== 'tool') return <p data-streaming={part.isStreaming}>{part.text}</p>;
  return (
    <div data-call={part.name} data-state={part.state} data-progress={part.progress} data-blocking={part.blocking}>
      {part.name}: {part.state} {part.result}
      {part.state === 'awaiting_approval' && (
        <button onClick={() => void conversation.approve(part.callId)}>Approve</button>
      )}
    </div>
  );
}

const root = document.getElementById('chat');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <BolideProvider data={data}>
        <Chat />
      </BolideProvider>
    </StrictMode>,
  );
