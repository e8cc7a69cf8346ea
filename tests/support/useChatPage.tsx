/** A page with the real `useChat`. `?chat=` names the chat, and `?plain` selects the AI SDK's own transport. */
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import type { UIMessage } from 'ai';
import { BolideChatTransport } from '../../imports/interop/aiSdk/BolideChatTransport';

const search = new URLSearchParams(location.search);
const chatId = search.get('chat') ?? 'chat';
const transport = search.has('plain') ? new DefaultChatTransport({ api: '/chat' }) : new BolideChatTransport();

function Assistant({ messages: initial }: { readonly messages: UIMessage[] }) {
  const [text, setText] = useState('');
  const { messages, status, error, sendMessage, stop, addToolApprovalResponse, addToolOutput } = useChat({
    id: chatId,
    messages: initial,
    transport,
    resume: true,
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
      lastAssistantMessageIsCompleteWithToolCalls(options),
  });
  return (
    <main>
      <output id="status">{status}</output>
      <output id="error">{error?.message}</output>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role}>
          {message.parts.map((part, index) => (
            <Part
              key={index}
              part={part}
              respond={(id, approved) => void addToolApprovalResponse({ id, approved })}
              supply={(call, output) => void addToolOutput({ ...call, output })}
            />
          ))}
        </article>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void sendMessage({ text });
        }}
      >
        <input name="text" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        <button type="button" id="stop" onClick={() => void stop()}>
          Stop
        </button>
      </form>
    </main>
  );
}

interface PartProps {
  readonly part: UIMessage['parts'][number];
  readonly respond: (approvalId: string, approved: boolean) => void;
  readonly supply: (call: { readonly tool: string; readonly toolCallId: string }, output: object) => void;
}

function Part({ part, respond, supply }: PartProps) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (!isToolUIPart(part)) return null;
  return (
    <div className="tool" data-tool={part.type} data-state={part.state}>
      {part.state} {JSON.stringify(part.output)}
      {part.state === 'input-available' && (
        <button
          className="supply"
          onClick={() => supply({ tool: getToolName(part), toolCallId: part.toolCallId }, { guests: 2 })}
        >
          Supply
        </button>
      )}
      {part.state === 'approval-requested' && (
        <button className="approve" onClick={() => respond(part.approval.id, true)}>
          Approve
        </button>
      )}
    </div>
  );
}

function App() {
  const [messages, setMessages] = useState<UIMessage[]>();
  useEffect(() => {
    const load = async (): Promise<void> => {
      const response = await fetch(`/chat/${encodeURIComponent(chatId)}`);
      setMessages(((await response.json()) as { messages: UIMessage[] }).messages);
    };
    void load();
  }, []);
  return messages === undefined ? null : <Assistant messages={messages} />;
}

const root = document.createElement('div');
document.body.append(root);
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
