/** A page with AG-UI's own client. `?thread=` names the thread, which the page keeps when it is reloaded. */
import { HttpAgent } from '@ag-ui/client';
import type { RunAgentParameters } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';

interface Kept {
  readonly messages: Message[];
  readonly state: object;
  /** The run to go on with. */
  readonly runId?: string | undefined;
}

const threadId = new URLSearchParams(location.search).get('thread') ?? 'thread';
const kept = JSON.parse(sessionStorage.getItem(threadId) ?? '{"messages":[],"state":{}}') as Kept;
let { runId } = kept;
const agent = new HttpAgent({
  url: '/api/ag-ui',
  threadId,
  initialMessages: kept.messages,
  initialState: kept.state,
});

const element = <T extends keyof HTMLElementTagNameMap>(tag: T, properties: object, parent: Element = document.body) =>
  parent.appendChild(Object.assign(document.createElement(tag), properties));
const status = element('output', { id: 'status', textContent: 'ready' });
const error = element('output', { id: 'error' });
const main = element('main', {});
const form = element('form', {});
const text = element('input', { name: 'text' }, form);
const buttonOf = (id: string, onclick: () => void, parent: Element): HTMLButtonElement =>
  element('button', { type: 'button', id, textContent: id, onclick }, parent);
buttonOf('send', () => void send('after'), form);
buttonOf('interrupt', () => void send('interrupt'), form);

function show(): void {
  const { messages } = agent;
  sessionStorage.setItem(threadId, JSON.stringify({ messages, state: agent.state as object, runId } satisfies Kept));
  main.replaceChildren();
  for (const { role, content } of messages)
    if (typeof content === 'string') element('article', { className: role, textContent: content }, main);
  for (const { id } of agent.pendingInterrupts)
    buttonOf(
      'approve',
      () => void run({ resume: [{ interruptId: id, status: 'resolved', payload: { approved: true } }] }),
      main,
    );
}

/** Goes on with a run whose stream was left, or begins another one. */
async function run({ runId: id = crypto.randomUUID(), ...more }: RunAgentParameters, options = {}): Promise<void> {
  await agent.detachActiveRun();
  runId = id;
  status.textContent = 'running';
  show();
  const forwardedProps = { bolide: { onDisconnect: 'continue', ...options } };
  await agent
    .runAgent({ runId: id, forwardedProps, ...more })
    .catch((thrown: unknown) => (error.textContent = String(thrown)));
  if (runId !== id) return;
  if (agent.pendingInterrupts.length === 0) runId = undefined;
  status.textContent = 'ready';
  show();
}

function send(when: 'after' | 'interrupt'): Promise<void> {
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text.value });
  return run({}, { when });
}

agent.subscribe({ onMessagesChanged: show, onStateChanged: show });
show();
if (runId !== undefined) void run({ runId });
