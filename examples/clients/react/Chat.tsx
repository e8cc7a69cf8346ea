/** A chat in React. */
import { useState } from 'react';
import { useConversation } from 'bolide/react';

export function Chat() {
  const { messages, status, error, send, stop, approve } = useConversation({
    id: 'support',
    model: 'openai',
    tools: ['send_reminder'],
  });
  const [text, setText] = useState('');
  return (
    <main data-status={status}>
      {messages.map(({ id, role, parts }) => (
        <article key={id} data-role={role}>
          {parts.map((part, index) =>
            part.type === 'tool' ? (
              <p key={index}>
                {part.name}: {part.state}
                {part.state === 'awaiting_approval' && (
                  <button onClick={() => void approve(part.callId)}>Approve</button>
                )}
              </p>
            ) : (
              part.type !== 'attachment' && <p key={index}>{part.text}</p>
            ),
          )}
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
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} required />
        <button>Send</button>
        <button type="button" onClick={() => void stop()}>
          Stop
        </button>
      </form>
    </main>
  );
}
