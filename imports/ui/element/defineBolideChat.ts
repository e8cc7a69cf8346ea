/** The custom element `<bolide-chat>`: a conversation, for any page and any framework. */
import { follow } from '../conversations/follow';
import { newRequestId } from '../conversations/newRequestId';
import { observeConversation } from '../conversations/observeConversation';
import type { Conversation, ConversationOptions } from '../conversations/observeConversation';
import type { RunData } from '../data/DashboardData';
import { createHttpData } from '../data/http/createHttpData';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { CHAT_CSS } from './chatStyles';
import { createNode } from './createNode';
import { MessageList } from './MessageList';

export interface BolideChatElement extends HTMLElement {
  /** Default: the data of `defineBolideChat`, or else data over HTTP by the attributes `origin` and `token`. */
  data: RunData | undefined;
  /** What is shown, with its commands; undefined while the element is in no document. */
  readonly conversation: Conversation | undefined;
}

export interface DefineOptions {
  /** The data of elements that are given none. */
  readonly data?: RunData;
  /** The name of the element. Default: `bolide-chat`. */
  readonly name?: `${string}-${string}`;
}

declare global {
  interface HTMLElementTagNameMap {
    'bolide-chat': BolideChatElement;
  }
}

/** Attributes with which the element shows another conversation. The others apply to the next message. */
const IDENTITY = ['conversation-id', 'origin', 'token'];

const STATUS_TEXTS: Readonly<Record<Conversation['status'], string>> = {
  loading: 'Loading…',
  ready: '',
  submitted: 'Thinking…',
  streaming: 'Answering…',
  waiting: 'Waiting…',
  failed: '',
};

/** Defines the element, once. Repetitions change nothing. */
export function defineBolideChat({ data, name = 'bolide-chat' }: DefineOptions = {}): void {
  if (customElements.get(name) === undefined) customElements.define(name, createElementClass(data));
}

/** Only browsers have `HTMLElement`, and servers import this file, too. */
function createElementClass(defaultData: RunData | undefined): new () => BolideChatElement {
  return class BolideChat extends HTMLElement implements BolideChatElement {
    static readonly observedAttributes = [...IDENTITY, 'label'];
    private readonly view = createView({
      send: (text) => void this.conversation?.send(text),
      stop: () => void this.conversation?.stop(),
      retry: () => this.conversation?.retry(),
      decide: (decision) => this.decide(decision),
    });
    private ownData: RunData | undefined;
    private readonly ownId = newRequestId();
    private shown: Conversation | undefined;
    private decisionError: string | undefined;
    private unfollow: (() => void) | undefined;

    constructor() {
      super();
      const root = this.attachShadow({ mode: 'open' });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(CHAT_CSS);
      root.adoptedStyleSheets = [sheet];
      root.append(this.view.node);
    }

    get data(): RunData | undefined {
      return this.ownData;
    }

    set data(data: RunData | undefined) {
      this.ownData = data;
      this.open();
    }

    get conversation(): Conversation | undefined {
      return this.shown;
    }

    connectedCallback(): void {
      // A property that was set before the element was defined hides the accessor.
      if (Object.hasOwn(this, 'data')) {
        const { data } = this;
        Reflect.deleteProperty(this, 'data');
        this.ownData = data;
      }
      this.open();
    }

    disconnectedCallback(): void {
      this.unfollow?.();
      this.unfollow = undefined;
      this.shown = undefined;
    }

    attributeChangedCallback(attribute: string, before: string | null, value: string | null): void {
      if (attribute === 'label') this.view.setLabel(value ?? undefined);
      else if (before !== value) this.open();
    }

    private open(): void {
      if (!this.isConnected) return;
      this.unfollow?.();
      const read = (attribute: string): string | undefined => this.getAttribute(attribute) ?? undefined;
      const data =
        this.ownData ?? defaultData ?? createHttpData(omitUndefined({ origin: read('origin'), token: read('token') }));
      const observed = observeConversation(data, read('conversation-id') ?? this.ownId, () => optionsOf(read));
      this.unfollow = follow(observed, (conversation) => {
        this.shown = conversation;
        this.show();
      });
    }

    private show(): void {
      if (this.shown !== undefined) this.view.show(this.shown, this.decisionError);
    }

    private decide(decision: (conversation: Conversation) => Promise<void>): void {
      if (this.shown === undefined) return;
      this.decisionError = undefined;
      decision(this.shown).catch((error: unknown) => {
        this.decisionError = error instanceof Error ? error.message : String(error);
        this.show();
      });
    }
  };
}

function optionsOf(read: (attribute: string) => string | undefined): ConversationOptions {
  return omitUndefined({
    model: read('model') ?? '',
    tools: read('tools')
      ?.split(/[\s,]+/)
      .filter((tool) => tool !== ''),
    instructions: read('instructions'),
  });
}

interface ViewActions {
  readonly send: (text: string) => void;
  readonly stop: () => void;
  readonly retry: () => void;
  readonly decide: (decision: (conversation: Conversation) => Promise<void>) => void;
}

/** The contents of the element. */
function createView({ send, stop, retry, decide }: ViewActions) {
  const list = new MessageList((decision) => {
    decide(decision);
    // The button that has it disappears.
    field.focus();
  });
  const log = createNode('div', { role: 'log', tabindex: '0', 'aria-label': 'Messages' }, list.node);
  const status = createNode('p', { role: 'status', part: 'status' });
  const reason = createNode('span');
  const again = createNode('button', { type: 'button' }, 'Try again');
  const alert = createNode('p', { role: 'alert', part: 'error', hidden: '' }, reason, ' ', again);
  const field = createNode('textarea', {
    id: 'message',
    rows: '1',
    placeholder: 'Message',
    part: 'field',
    enterkeyhint: 'send',
  });
  const sendButton = createNode('button', { class: 'primary', part: 'send' }, 'Send');
  const stopButton = createNode('button', { type: 'button', part: 'stop', hidden: '' }, 'Stop');
  const label = createNode('label', { for: 'message', class: 'unseen' }, 'Message');
  const form = createNode('form', { part: 'form' }, label, field, sendButton, stopButton);
  const node = createNode('section', { 'aria-label': DEFAULT_LABEL }, log, status, alert, form);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text === '') return;
    field.value = '';
    send(text);
  });
  field.addEventListener('keydown', (event) => {
    // The Enter that ends an input method's composition sends nothing.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === 'Escape' && !stopButton.hidden) stop();
  });
  stopButton.addEventListener('click', stop);
  again.addEventListener('click', retry);

  return {
    node,
    setLabel: (text = DEFAULT_LABEL): void => node.setAttribute('aria-label', text),
    show(conversation: Conversation, decisionError: string | undefined): void {
      const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
      list.show(conversation.messages);
      if (isAtEnd) log.scrollTop = log.scrollHeight;
      const { status: state, error } = conversation;
      // Screen readers read an answer when it is complete, instead of each of its words.
      log.setAttribute('aria-busy', String(state === 'streaming'));
      status.textContent = STATUS_TEXTS[state];
      const message = error?.message ?? decisionError;
      alert.hidden = message === undefined;
      if (reason.textContent !== (message ?? '')) reason.textContent = message ?? '';
      again.hidden = error === undefined;
      stopButton.hidden = !conversation.run.isActive && state !== 'submitted';
    },
  };
}

const DEFAULT_LABEL = 'Chat';
