/** The messages of a thread while a run extends them. Every change is returned as the events that a client needs. */
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { AgUiEvent } from './AgUiEvents';
import type { AgUiMessage, AgUiMetadata, AgUiToolCall } from './AgUiMessages';
import { reasoningOfItems, textOfItems, turnMetadata } from './turnItems';

interface ReasoningMessage {
  readonly id: string;
  readonly role: 'reasoning';
  content: string;
}

interface AssistantMessage {
  readonly id: string;
  readonly role: 'assistant';
  content?: string;
  toolCalls?: AgUiToolCall[];
  metadata?: AgUiMetadata;
}

/** What the model has streamed of its current turn. */
interface OpenTurn {
  readonly messageId: string;
  answer?: AssistantMessage & { content: string };
  readonly reasoning: ReasoningMessage[];
  /** The last of the reasoning messages is still open. */
  isReasoning: boolean;
}

export class AgUiThread {
  private messages: AgUiMessage[];
  /** The assistant messages that this object created, and may therefore change. */
  private readonly own = new Map<string, AssistantMessage>();
  private turn: OpenTurn | undefined;
  /** Results of the run's calls that the client has supplied, by tool call; they stay the client's messages. */
  private readonly supplied: Map<string, AgUiMessage>;
  /** What the client shows of the run's turns, without its contents. */
  private readonly shown: readonly AgUiMessage[];

  /** @param isOfRun whether the id of a message or call belongs to the run that extends the thread */
  constructor(messages: readonly AgUiMessage[], isOfRun: (id: string) => boolean) {
    this.messages = messages.filter((message) => !isOfRun(message.role === 'tool' ? message.toolCallId : message.id));
    this.supplied = new Map(
      messages.flatMap((message) =>
        message.role === 'tool' && isOfRun(message.toolCallId) ? [[message.toolCallId, message] as const] : [],
      ),
    );
    this.shown = messages.flatMap(({ id, role }) =>
      (role === 'assistant' || role === 'reasoning') && isOfRun(id) ? [{ id, role, content: '' }] : [],
    );
  }

  /** Adds what the client has, and what was stored of the run has not: the results that it has supplied, for one. */
  addKnown(): void {
    for (const toolCallId of this.supplied.keys()) this.addResult(toolCallId, '');
    // The turn is streamed from its beginning, and clients append to what they show of it.
    const { messageId } = this.turn ?? {};
    if (messageId !== undefined)
      this.messages.push(...this.shown.filter(({ id }) => id === messageId || id.startsWith(`${messageId}-`)));
  }

  get snapshot(): AgUiEvent {
    return { type: 'MESSAGES_SNAPSHOT', messages: this.copies };
  }

  /** The messages as they are now. */
  get copies(): AgUiMessage[] {
    return this.messages.map((message) => ({ ...message }));
  }

  get hasOpenTurn(): boolean {
    return this.turn !== undefined;
  }

  hasResult(toolCallId: string): boolean {
    return this.messages.some((message) => message.role === 'tool' && message.toolCallId === toolCallId);
  }

  /** @returns what discards the turn that was open, which its model call did not finish */
  openTurn(messageId: string): readonly AgUiEvent[] {
    const events = this.discardTurn();
    this.turn = { messageId, reasoning: [], isReasoning: false };
    return events;
  }

  addText(delta: string): readonly AgUiEvent[] {
    const { turn } = this;
    if (turn === undefined) return [];
    const events = closeReasoning(turn);
    const { messageId } = turn;
    if (turn.answer === undefined) {
      turn.answer = { id: messageId, role: 'assistant', content: '' };
      this.addOwn(turn.answer);
      events.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' });
    }
    turn.answer.content += delta;
    if (delta !== '') events.push({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
    return events;
  }

  addReasoning(delta: string): readonly AgUiEvent[] {
    const { turn } = this;
    if (turn === undefined) return [];
    const events: AgUiEvent[] = [];
    let message = turn.reasoning.at(-1);
    if (message === undefined || !turn.isReasoning) {
      const messageId = `${turn.messageId}-reasoning-${turn.reasoning.length + 1}`;
      message = { id: messageId, role: 'reasoning', content: '' };
      turn.isReasoning = true;
      turn.reasoning.push(message);
      this.messages = [...this.messages.filter(({ id }) => id !== messageId), message];
      events.push(
        { type: 'REASONING_START', messageId },
        { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
      );
    }
    message.content += delta;
    events.push({ type: 'REASONING_MESSAGE_CONTENT', messageId: message.id, delta });
    return events;
  }

  /** Completes the turn with what the model returned, and adds what was not streamed. */
  closeTurn(output: readonly Item[]): readonly AgUiEvent[] {
    const { turn } = this;
    if (turn === undefined) return [];
    const [text, reasoning, metadata] = [textOfItems(output), reasoningOfItems(output), turnMetadata(output)];
    const streamed = turn.answer?.content ?? '';
    const isExtension = text.startsWith(streamed);
    const events = [
      ...(reasoning !== '' && turn.reasoning.length === 0 ? this.addReasoning(reasoning) : []),
      // Without text, a message is needed only for its metadata.
      ...(isExtension && (text !== streamed || (turn.answer === undefined && metadata !== undefined))
        ? this.addText(text.slice(streamed.length))
        : []),
      ...this.cutTurn(metadata),
    ];
    if (isExtension || turn.answer === undefined) return events;
    turn.answer.content = text;
    return [...events, this.snapshot];
  }

  /** Removes what was streamed of a turn that its model call did not finish, because the call is repeated. */
  discardTurn(): readonly AgUiEvent[] {
    const { turn } = this;
    const events = this.cutTurn();
    if (turn === undefined || (turn.answer === undefined && turn.reasoning.length === 0)) return events;
    this.messages = this.messages.filter(({ id }) => id !== turn.messageId);
    this.own.delete(turn.messageId);
    // Clients keep a reasoning message that a snapshot leaves out, so it is emptied instead.
    for (const message of turn.reasoning) message.content = '';
    return [...events, this.snapshot];
  }

  /** Closes what was streamed of the turn, and leaves it in the thread. */
  cutTurn(metadata?: AgUiMetadata): readonly AgUiEvent[] {
    const { turn } = this;
    if (turn === undefined) return [];
    this.turn = undefined;
    const events = closeReasoning(turn);
    if (turn.answer === undefined) return events;
    const attached = metadata === undefined ? {} : { metadata };
    Object.assign(turn.answer, attached);
    return [...events, { type: 'TEXT_MESSAGE_END', messageId: turn.messageId, ...attached }];
  }

  /** Adds a message that the run was sent. The client that has sent it may show it already, where it was sent. */
  addUserMessage(id: string, content: string): readonly AgUiEvent[] {
    if (this.messages.some((message) => message.id === id)) return this.moveToEnd(id);
    this.messages.push({ id, role: 'user', content });
    return [
      { type: 'TEXT_MESSAGE_START', messageId: id, role: 'user' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: content },
      { type: 'TEXT_MESSAGE_END', messageId: id },
    ];
  }

  /** Moves a message behind what the run has added. Snapshots do not move messages, so one takes it away first. */
  moveToEnd(id: string): readonly AgUiEvent[] {
    const message = this.messages.find((each) => each.id === id);
    if (message === undefined || message === this.messages.at(-1)) return [];
    this.messages = this.messages.filter((each) => each !== message);
    const without = this.snapshot;
    this.messages.push(message);
    return [without, this.snapshot];
  }

  addCall(messageId: string, call: AgUiToolCall): readonly AgUiEvent[] {
    const owner = this.own.get(messageId) ?? this.addOwn<AssistantMessage>({ id: messageId, role: 'assistant' });
    owner.toolCalls = [...(owner.toolCalls ?? []), call];
    const { id: toolCallId, function: called } = call;
    return [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: called.name, parentMessageId: messageId },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: called.arguments },
      { type: 'TOOL_CALL_END', toolCallId },
    ];
  }

  /** Clients place a result directly after the message with its call and that message's other results. */
  addResult(toolCallId: string, content: string): readonly AgUiEvent[] {
    if (this.hasResult(toolCallId)) return [];
    const supplied = this.supplied.get(toolCallId);
    const messageId = supplied?.id ?? `${toolCallId}:result`;
    const owner = this.messages.findIndex(
      (message) => message.role === 'assistant' && message.toolCalls?.some(({ id }) => id === toolCallId) === true,
    );
    let at = owner === -1 ? this.messages.length : owner + 1;
    while (this.messages[at]?.role === 'tool') at += 1;
    this.messages.splice(at, 0, supplied ?? { id: messageId, role: 'tool', toolCallId, content });
    if (supplied !== undefined) return [];
    return [{ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' }];
  }

  private addOwn<M extends AssistantMessage>(message: M): M {
    this.own.set(message.id, message);
    this.messages = [...this.messages.filter(({ id }) => id !== message.id), message];
    return message;
  }
}

function closeReasoning(turn: OpenTurn): AgUiEvent[] {
  const messageId = turn.reasoning.at(-1)?.id;
  if (!turn.isReasoning || messageId === undefined) return [];
  turn.isReasoning = false;
  return [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ];
}
