/**
 * The messages of `<bolide-chat>`. What has not changed stays the same element, so that selections, the focus and
 * screen readers keep their place while a model writes.
 */
import type { ConversationMessage, MessagePart, ToolPart } from '../conversations/ConversationMessage';
import type { Conversation } from '../conversations/observeConversation';
import { showHidden } from '../format/hiddenCharacters';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { createNode } from './createNode';

export type CallDecisions = Pick<Conversation, 'approve' | 'reject'>;

interface ShownPart {
  readonly part: MessagePart;
  readonly node: HTMLElement;
}

interface ShownMessage {
  readonly item: HTMLLIElement;
  parts: readonly ShownPart[];
}

const SPEAKERS = { user: 'You:', assistant: 'Assistant:', system: 'Instructions:' };

export class MessageList {
  readonly node = createNode('ol', { part: 'messages' });
  private readonly decide: (decision: (commands: CallDecisions) => Promise<void>) => void;
  private shown: readonly ShownMessage[] = [];

  /** @param decide carries a decision about a call out */
  constructor(decide: (decision: (commands: CallDecisions) => Promise<void>) => void) {
    this.decide = decide;
  }

  show(messages: readonly ConversationMessage[]): void {
    // Messages are identified by their position.
    this.shown.slice(messages.length).forEach(({ item }) => item.remove());
    this.shown = messages.map((message, index) => this.showMessage(this.shown[index], message));
  }

  private showMessage(before: ShownMessage | undefined, { role, parts }: ConversationMessage): ShownMessage {
    const shown = before?.item.dataset['role'] === role ? before : this.createMessage(role, before);
    shown.parts.slice(parts.length).forEach(({ node }) => node.remove());
    shown.parts = parts.map((part, index) => this.showPart(shown, shown.parts[index], part));
    return shown;
  }

  private createMessage(role: ConversationMessage['role'], before: ShownMessage | undefined): ShownMessage {
    const speaker = createNode('span', { class: 'unseen' }, SPEAKERS[role]);
    const item = createNode('li', { 'data-role': role, part: `message ${role}` }, speaker);
    if (before === undefined) this.node.append(item);
    else before.item.replaceWith(item);
    return { item, parts: [] };
  }

  private showPart({ item }: ShownMessage, before: ShownPart | undefined, part: MessagePart): ShownPart {
    if (before !== undefined && isSame(before.part, part)) return { part, node: before.node };
    if (before?.part.type === 'text' && part.type === 'text') {
      before.node.textContent = part.text;
      return { part, node: before.node };
    }
    const node = this.createPart(part);
    if (before === undefined) item.append(node);
    else before.node.replaceWith(node);
    return { part, node };
  }

  private createPart(part: MessagePart): HTMLElement {
    switch (part.type) {
      case 'text':
        return createNode('p', {}, part.text);
      case 'reasoning':
        return createNode('details', {}, createNode('summary', {}, 'Reasoning'), createNode('p', {}, part.text));
      case 'attachment':
        return createNode('p', { class: 'muted' }, `${part.kind}: ${part.filename ?? 'attached'}`);
      case 'tool':
        return this.createCall(part);
    }
  }

  private createCall({ callId, name, state, progress, note, error, ...call }: ToolPart): HTMLElement {
    const isOpen = state === 'awaiting_approval' || state === 'needs_review';
    const button = (label: string, kind: string, decision: (commands: CallDecisions) => Promise<void>) => {
      const node = createNode('button', { type: 'button', class: kind, 'aria-label': `${label} ${name}` }, label);
      node.addEventListener('click', () => this.decide(decision));
      return node;
    };
    return createNode(
      'div',
      { class: 'call', part: 'call', role: 'group', 'aria-label': `Tool ${name}` },
      createNode('p', {}, createNode('strong', {}, name), ` – ${CALL_STATE_STYLES[state].label}`),
      note === undefined ? undefined : createNode('p', { class: 'muted' }, note),
      state === 'executing' && progress !== undefined
        ? createNode('progress', { 'aria-label': `Progress of ${name}`, value: String(progress) })
        : undefined,
      error === undefined ? undefined : createNode('p', { class: 'muted' }, error),
      // A decision covers the arguments that are shown, every character of them.
      isOpen
        ? createNode('pre', { tabindex: '0', 'aria-label': `Arguments of ${name}` }, showHidden(call.arguments))
        : undefined,
      isOpen
        ? createNode(
            'div',
            { class: 'actions' },
            button(state === 'needs_review' ? 'Run again' : 'Approve', 'primary', ({ approve }) => approve(callId)),
            button('Reject', '', ({ reject }) => reject(callId)),
          )
        : undefined,
    );
  }
}

function isSame(before: MessagePart, part: MessagePart): boolean {
  return JSON.stringify(before) === JSON.stringify(part);
}
