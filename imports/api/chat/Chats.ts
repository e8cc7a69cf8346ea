/** Chats as durable runs: a user's message starts a run, decisions about its calls continue it. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isFinished } from '../../business/ai/domain/entities/Run';
import { answeredIdOf, waitsForOutside } from '../../business/ai/domain/entities/Tool';
import type { FunctionTool } from '../../business/ai/domain/entities/Tool';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { RunStore } from '../../business/ai/domain/interfaces/RunStore';
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import type { RunMessage } from '../../business/ai/domain/types/RunMessages';
import type { RunRecord } from '../../business/ai/domain/types/RunRecords';
import type { AgenticLoop } from '../../business/ai/application/services/AgenticLoop';
import { permittedTools } from '../../business/ai/application/operations/permittedTools';
import type { AccessPolicy } from '../../business/ai/domain/interfaces/AccessPolicy';
import type { RunMethods } from '../../business/ai/application/operations/runCommandOperations';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { hasLongTexts, withTexts } from '../../business/ai/domain/util/sharedTexts';
import type { ReadMessage } from '../../interop/aiSdk/readUIMessages';
import { reduceUIMessage } from '../../interop/aiSdk/reduceUIMessage';
import { toItems } from '../../interop/aiSdk/toItems';
import { callOfRunId } from '../../business/ai/domain/entities/callOfRun';
import { userParts } from '../../interop/aiSdk/userParts';
import { UIMessageEncoder } from '../../interop/aiSdk/UIMessageEncoder';
import type { UIMessage } from '../../interop/aiSdk/UIMessages';
import { toActor } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import type { ModelDirectory } from '../gateway/models/ModelDirectory';
import { HttpError } from '../http/HttpError';
import type { ChatDocument, ChatStore, StoredChat } from './ChatStore';
import { beginsTurn, isQueuedMessage, queuedMessageId, turnOf } from './chatTurns';
import type { RunTurn } from './chatTurns';
import { replayFamily } from './replayFamily';
import { loadCurrentRun } from './loadCurrentRun';
import type { LoadRunPorts } from './loadCurrentRun';
import { progressOf } from './progressOf';
import { sendToRun } from './sendToRun';
import { isExternal } from './serverTools';
import type { ChatRequest } from './readChatRequest';
import type { StreamedRun } from './streamEvents';
import { submitDecision } from './submitDecision';
import { withSettledCalls } from './withSettledCalls';
import type { DecisionMethods } from './submitDecision';

export interface ChatsPorts {
  readonly chats: ChatStore;
  readonly runs: Pick<RunStore, 'load' | 'findRequest'>;
  readonly methods: DecisionMethods & Pick<RunMethods, 'ai.runs.start' | 'ai.runs.cancel' | 'ai.runs.send'>;
  readonly loop: LoadRunPorts['loop'] & Pick<AgenticLoop, 'queuedMessages'>;
  readonly models: Pick<ModelDirectory, 'resolve'>;
  readonly tools: { readonly tools: readonly FunctionTool[] };
  /** Which of the tools a user may use. Default: all. */
  readonly access?: AccessPolicy;
  readonly logger: Logger;
}

export interface ChatTurn extends StreamedRun, RunTurn {
  /** Answers the message anew, if the run has ended without it. */
  readonly again?: () => Promise<ChatTurn>;
  /** The message as the client has it, if the run continues it. */
  readonly known?: ReadMessage;
}

/** The turn that a client is sent again, from its beginning. */
export interface ResumedTurn extends RunTurn {
  /** The messages that the run has not received. */
  readonly waiting: ReadonlySet<string>;
}

interface LaunchOptions {
  /** The chat's run before. */
  readonly last: RunRecord | undefined;
  readonly request: ChatRequest;
  readonly tools: readonly string[];
  readonly providerId: string;
  /** The model's name at the provider. Absent: its default. */
  readonly named: string | undefined;
}

const START_PATIENCE_MS = 10_000;
const RESUMABLE_AFTER_END_MS = 5 * 60_000;
const START_POLL_MS = 50;

export class Chats {
  private readonly ports: ChatsPorts;
  /** How many clients of this process are sent an answer, by user and chat. */
  private readonly readers = new Map<string, number>();
  /** What is being written of those who have left, by user and chat. */
  private readonly leaving = new Map<string, Promise<void>>();

  constructor(ports: ChatsPorts) {
    this.ports = ports;
  }

  /**
   * Starts a run that answers the last message, sends the message to the chat's run if that is at work, or continues
   * the run whose message is the last one.
   * @throws HttpError 409 for a message that is to be answered anew while it is, 404 for an unknown message; what the
   *   operations on runs throw
   */
  submit(principal: ApiPrincipal, request: ChatRequest): Promise<ChatTurn> {
    const last = request.messages.at(-1);
    return last?.role === 'assistant' ? this.continue(principal, request, last) : this.start(principal, request);
  }

  /**
   * The chat's run, unless it ended more than five minutes ago. Within them, a page may have read the messages, or lost
   * its connection, before the run ended, and could not learn the rest of the answer otherwise.
   */
  async resumable(principal: ApiPrincipal, chatId: string): Promise<ResumedTurn | undefined> {
    const { chats, loop } = this.ports;
    const chat = await chats.find(principal.userId, chatId);
    const run = await this.lastRun(principal.userId, chat);
    if (run === undefined || Date.now() - (run.endedAt ?? Infinity) > RESUMABLE_AFTER_END_MS) return undefined;
    if (chat?.isLeft === true) await chats.setLeft(principal.userId, chatId, false);
    const { executionId } = run;
    // Read before those that were delivered, so that none is missed.
    const queued = isFinished(run.state) ? [] : await loop.queuedMessages(executionId);
    const stored = await this.ports.runs.load(executionId);
    const messageId = stored?.messages?.delivered.findLast((each) => isQueuedMessage(each.messageId))?.messageId;
    return { executionId, ...omitUndefined({ messageId }), waiting: new Set(queued.map((each) => each.messageId)) };
  }

  /**
   * Notes that a client is sent the answer. One that closes its connection before the end was stopped by its user, or
   * comes back for the rest: `useChat` does nothing else when it is stopped.
   * @param isLeft whether it was the client that closed the connection, once `closed` fires
   * @returns notes that the client has the answer
   */
  reading({ userId }: ApiPrincipal, chatId: string, closed: AbortSignal, isLeft: () => boolean): () => void {
    const key = keyOf(userId, chatId);
    this.readers.set(key, (this.readers.get(key) ?? 0) + 1);
    let isReading = true;
    const stop = (): void => {
      if (!isReading) return;
      isReading = false;
      const others = (this.readers.get(key) ?? 1) - 1;
      if (others > 0) this.readers.set(key, others);
      else this.readers.delete(key);
      if (others === 0 && closed.aborted && isLeft()) this.leave(userId, chatId);
    };
    closed.addEventListener('abort', stop, { once: true });
    return stop;
  }

  /** Cancels the chat's run. @returns its state, or undefined if none is in progress */
  async stop(principal: ApiPrincipal, chatId: string): Promise<RunRecord['state'] | undefined> {
    const run = await this.lastRun(principal.userId, await this.ports.chats.find(principal.userId, chatId));
    return run === undefined || isFinished(run.state) ? undefined : this.cancel(principal, run);
  }

  /** The messages of a chat. Empty for a chat that the user does not have. */
  async messages({ userId }: ApiPrincipal, chatId: string): Promise<readonly UIMessage[]> {
    const chat = await this.ports.chats.find(userId, chatId);
    if (chat === undefined) return [];
    const run = await this.lastRun(userId, chat);
    const json = chat.inputOf === undefined ? chat.messages : withTexts(chat.messages, run?.input);
    // The store holds what was read from a client.
    const messages = JSON.parse(json) as UIMessage[];
    const stored = run === undefined ? undefined : await loadCurrentRun(this.ports, run.executionId);
    if (stored === undefined) return messages;
    const events = await replayFamily(stored, {
      load: (executionId) => loadCurrentRun(this.ports, executionId),
      tools: this.ports.tools,
    });
    return [...messages, ...messagesOf(events, (name) => isExternal(this.ports.tools, name, true))];
  }

  private async start(principal: ApiPrincipal, request: ChatRequest): Promise<ChatTurn> {
    const { chats, models } = this.ports;
    const { userId } = principal;
    const { chatId, sentMessages: messages, trigger, model, instructions, compaction } = request;
    const tools = request.tools ?? (await this.defaultTools(principal));
    const fingerprint = createHash('sha256')
      .update(
        JSON.stringify([
          trigger,
          messages,
          model,
          instructions,
          tools,
          ...(compaction === undefined ? [] : [compaction]),
        ]),
      )
      .digest('base64url');
    const { providerId, model: named } = await models.resolve(principal, model, 'responses');
    for (;;) {
      const chat = await chats.find(userId, chatId);
      const current = await this.lastRun(userId, chat);
      if (chat !== undefined && current === undefined && isStarting(chat)) {
        await pause(START_POLL_MS);
        continue;
      }
      if (current !== undefined && chat?.fingerprint === fingerprint && isRepetition(current, trigger))
        return { executionId: current.executionId };
      if (current !== undefined && !isFinished(current.state)) {
        // The user did not take the decisions that the run waits for, but wrote a message instead.
        const isWaiting = (await progressOf(this.ports, current.executionId)) === 'waiting';
        const isStopped = await this.isStopped(userId, chatId);
        if (isWaiting || (isStopped && trigger === 'regenerate-message')) await this.cancel(principal, current);
        else {
          const sent = { messageId: queuedMessageId(fingerprint), when: isStopped ? 'interrupt' : 'after' } as const;
          const queued = await this.queue(principal, request, current, sent);
          if (queued !== undefined) return queued;
          continue;
        }
      }
      // Reserved first, so that only one of two messages at a time is answered.
      const reserved = { userId, chatId, requestId: randomUUID(), fingerprint, messages };
      if (await chats.replace(reserved, chat?.requestId))
        return await this.launch(principal, { last: current, request, tools, providerId, named }, reserved, chat);
    }
  }

  /** @param previous the chat before, which is restored if the run does not start */
  private async launch(
    principal: ApiPrincipal,
    { last, request, tools, providerId, named }: LaunchOptions,
    reserved: StoredChat,
    previous: ChatDocument | undefined,
  ): Promise<ChatTurn> {
    const { chats, methods } = this.ports;
    const { userId, chatId, requestId } = reserved;
    const { instructions, compaction, streamArguments } = request;
    let turn: ChatTurn;
    try {
      const messages = last === undefined ? request.messages : await this.withSettledCalls(request.messages, last);
      turn = await methods['ai.runs.start'](toActor(principal, 'ai_sdk'), {
        requestId,
        providerId,
        input: toItems(messages),
        tools,
        // Groups the chat's runs; ids of chats may have what those of conversations may not.
        ...(/^[^\s\p{C}]{1,128}$/u.test(chatId) ? { conversationId: chatId } : {}),
        ...omitUndefined({ model: named, instructions, compaction, streamArguments }),
      });
    } catch (error) {
      if (previous === undefined) await chats.remove(userId, chatId, requestId);
      else await chats.replace(previous, requestId);
      throw error;
    }
    await this.shareTexts(reserved, turn.executionId);
    return turn;
  }

  private withSettledCalls(
    messages: ChatRequest['messages'],
    { executionId }: RunRecord,
  ): Promise<readonly ReadMessage[]> {
    return withSettledCalls(
      messages,
      executionId,
      async () => (await loadCurrentRun(this.ports, executionId))?.calls ?? [],
    );
  }

  /** Guardrails may have changed the texts of the run, so what it has is read. */
  private async shareTexts(chat: StoredChat, executionId: string): Promise<void> {
    if (!hasLongTexts(chat.messages)) return;
    try {
      const stored = await this.ports.runs.load(executionId);
      if (stored !== undefined) await this.ports.chats.shareTexts(chat, executionId, stored.run.input);
    } catch (error) {
      this.ports.logger.warn('A chat keeps texts that its run has, too.', { chatId: chat.chatId }, error);
    }
  }

  /** Applies what people decided and supplied to the calls of the message's run. */
  private async continue(principal: ApiPrincipal, { trigger }: ChatRequest, message: ReadMessage): Promise<ChatTurn> {
    if (trigger === 'regenerate-message')
      throw new LLMInvalidRequestError('"messages" must end with the user message to answer.', { path: 'messages' });
    const { parts } = message;
    const turn = turnOf(message.id);
    const { executionId } = turn;
    const stored = await loadCurrentRun(this.ports, executionId);
    if (stored?.run.userId !== principal.userId)
      throw new HttpError(404, 'The last message is not the output of a run that can be continued.', {
        path: 'messages',
      });
    const actor = toActor(principal);
    const decided = new Set<string>();
    for (const part of parts) {
      if (!('toolCallId' in part)) continue;
      const of = part.kind === 'asked' ? part.of : { executionId, callId: part.toolCallId };
      const isBelow = of.executionId !== executionId;
      const run = isBelow ? await loadCurrentRun(this.ports, of.executionId) : stored;
      if (run?.run.userId !== principal.userId) continue;
      const call = run.calls.find((each) => answeredIdOf(each) === of.callId);
      if (call === undefined) continue;
      const open = { ...of, call, isExternal: isExternal(this.ports.tools, call.name, isBelow) };
      if (await submitDecision(this.ports.methods, actor, open, part)) decided.add(callOfRunId(of));
    }
    return { ...turn, decided, known: message };
  }

  /**
   * Sends the last message to the run, which answers it as its next turn.
   * @returns undefined if the run has ended
   * @throws HttpError 409
   */
  private async queue(
    principal: ApiPrincipal,
    request: ChatRequest,
    { executionId }: RunRecord,
    sent: Pick<RunMessage, 'messageId' | 'when'>,
  ): Promise<ChatTurn | undefined> {
    const last = request.messages.at(-1);
    if (request.trigger === 'regenerate-message' || last === undefined) throw busyError();
    // An item is input as it is.
    const message = toItems([last]) as LLMInput;
    if (!(await sendToRun(this.ports, toActor(principal), { executionId, message, ...sent }))) return undefined;
    if (sent.when === 'interrupt') await this.ports.chats.setLeft(principal.userId, request.chatId, false);
    return { executionId, messageId: sent.messageId, again: () => this.submit(principal, request) };
  }

  private leave(userId: string, chatId: string): void {
    const { chats, logger } = this.ports;
    const key = keyOf(userId, chatId);
    const written = chats
      .setLeft(userId, chatId, true)
      .catch((error: unknown) => {
        logger.warn('Could not note that an answer was stopped, so the next message waits.', { chatId }, error);
      })
      .finally(() => {
        if (this.leaving.get(key) === written) this.leaving.delete(key);
      });
    this.leaving.set(key, written);
  }

  /** Whether nobody is sent the answer any more, because its user has stopped it. */
  private async isStopped(userId: string, chatId: string): Promise<boolean> {
    const key = keyOf(userId, chatId);
    if (this.readers.has(key)) return false;
    await this.leaving.get(key);
    return (await this.ports.chats.find(userId, chatId))?.isLeft === true;
  }

  private cancel(principal: ApiPrincipal, { executionId }: RunRecord): Promise<RunRecord['state']> {
    return this.ports.methods['ai.runs.cancel'](toActor(principal), { executionId });
  }

  private async lastRun(userId: string, chat: StoredChat | undefined): Promise<RunRecord | undefined> {
    return chat === undefined ? undefined : this.ports.runs.findRequest(userId, chat.requestId);
  }

  /** In a chat people approve calls, but external results may come from a service that takes days. */
  private async defaultTools(principal: ApiPrincipal): Promise<readonly string[]> {
    const tools = this.ports.tools.tools.filter((tool) => !waitsForOutside(tool));
    const permitted = await permittedTools(this.ports.access, toActor(principal), tools);
    return permitted.map(({ name }) => name);
  }
}

/** A lost connection may cause a repetition, whereas people repeat a failed or stopped request to get another run. */
function isRepetition({ state }: RunRecord, trigger: ChatRequest['trigger']): boolean {
  return !isFinished(state) || (state === 'completed' && trigger === 'submit-message');
}

/** Another request has reserved the chat and is about to start its run; unless its process died meanwhile. */
function isStarting({ updatedAt }: ChatDocument): boolean {
  return Date.now() - updatedAt.getTime() < START_PATIENCE_MS;
}

function keyOf(userId: string, chatId: string): string {
  return JSON.stringify([userId, chatId]);
}

function busyError(): HttpError {
  return new HttpError(409, 'The last message of this chat is still being answered. Wait for the answer, or stop it.');
}

/**
 * The answers of a run, and the messages between them. A call that settles later changes the answer that has it.
 * @param isExternalBelow whether the client may supply the results of the tool's calls, which runs below make
 */
function messagesOf(run: readonly FamilyEvent[], isExternalBelow: (toolName: string) => boolean): readonly UIMessage[] {
  const turns: { readonly message?: UIMessage; readonly events: FamilyEvent[] }[] = [];
  const turnOfCall = new Map<string, FamilyEvent[]>();
  let turn: FamilyEvent[] = [];
  turns.push({ events: turn });
  for (const event of run) {
    const [step] = event.path ?? [];
    if (step !== undefined) {
      turnOfCall.get(step.callId)?.push(event);
      continue;
    }
    if (beginsTurn(event)) {
      turn = [];
      turns.push({ message: { id: event.messageId, role: 'user', parts: userParts(event.item) }, events: turn });
    }
    if (event.type === 'tool:pending') turnOfCall.set(event.callId, turn);
    const isOfCall = 'callId' in event && event.type !== 'result:arrived';
    ((isOfCall ? turnOfCall.get(event.callId) : undefined) ?? turn).push(event);
  }
  return turns.flatMap(({ message, events }) => {
    const encoder = new UIMessageEncoder({ isExternal: isExternalBelow });
    const answer = events.length === 0 ? [] : [reduceUIMessage(events.flatMap((event) => encoder.push(event)))];
    return message === undefined ? answer : [message, ...answer];
  });
}
