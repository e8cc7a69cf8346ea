/** The queues of messages to runs: checks and stores what is sent, and tells the process that has the run. */
import { randomUUID } from 'node:crypto';
import { MemoryRunMessages } from '../../../domain/entities/MemoryRunMessages';
import { isFinished } from '../../../domain/entities/Run';
import { ConflictError } from '../../../domain/errors/LLMErrors';
import { MAX_MESSAGES } from '../../../domain/interfaces/RunMessageStore';
import type { QueuedMessage, RunMessageStore } from '../../../domain/interfaces/RunMessageStore';
import type { LLMInput } from '../../../domain/types/LLMTypes';
import type { MessageTime, RunMessage } from '../../../domain/types/RunMessages';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { unreachable } from '../../../domain/util/unreachable';
import { unknownRunError } from './durable/RemoteRuns';
import { readMessage, readMessageId, readTime, takenError } from './readMessage';
import type { RunRegistry } from './RunRegistry';

export interface SendOptions {
  /** Default: `next`. */
  readonly when?: MessageTime | undefined;
  /** The same for repetitions, which change nothing. Default: a new one. */
  readonly messageId?: string | undefined;
}

export interface MessageChange {
  readonly message?: LLMInput | undefined;
  readonly when?: MessageTime | undefined;
}

export interface SentMessage {
  readonly messageId: string;
  readonly result: 'accepted' | 'repeated';
}

export interface MessageQueuesPorts {
  /** The messages to stored runs. Undefined: runs are not stored. */
  readonly stored: RunMessageStore | undefined;
  readonly registry: Pick<RunRegistry, 'find' | 'live'>;
  /** Tells another process of a message, if that may have the run. */
  readonly tellOthers: (executionId: string, when: MessageTime) => Promise<void>;
}

export class MessageQueues {
  private readonly ports: MessageQueuesPorts;
  /** The messages to runs that are not stored. */
  private readonly own = new MemoryRunMessages();
  readonly store: RunMessageStore;

  constructor(ports: MessageQueuesPorts) {
    this.ports = ports;
    this.store = ports.stored ?? this.own;
  }

  /** Sends a message, as `AgenticLoop.send` does. */
  async send(
    executionId: string,
    message: LLMInput,
    { when = 'next', messageId = randomUUID() }: SendOptions,
  ): Promise<SentMessage> {
    const sent = {
      messageId: readMessageId(messageId),
      when: readTime(when),
      item: readMessage(message),
      at: Date.now(),
    };
    const result = await this.add(executionId, sent);
    switch (result) {
      case 'unknown':
        throw unknownRunError(executionId);
      case 'ended':
        throw new ConflictError(
          `The run "${executionId}" has ended, and takes no message. Start another run that continues it.`,
          { path: 'executionId' },
        );
      case 'full':
        throw new ConflictError(`The run "${executionId}" was sent ${MAX_MESSAGES} messages, and takes no more.`, {
          path: 'executionId',
        });
      case 'accepted':
        await this.announce(executionId, when);
        break;
      case 'repeated':
        await this.announceAgain(executionId, messageId);
        break;
      default:
        unreachable(result);
    }
    return { messageId, result };
  }

  /** Changes a message, as `AgenticLoop.editMessage` does. */
  async edit(executionId: string, messageId: string, { message, when }: MessageChange): Promise<void> {
    const found = (await this.store.list(executionId)).find((each) => each.messageId === messageId);
    if (found === undefined || found.isTaken) throw takenError(executionId, messageId);
    const { isTaken: _, ...sent } = found;
    const edited = omitUndefined({
      ...sent,
      item: message === undefined ? sent.item : readMessage(message),
      when: when === undefined ? sent.when : readTime(when),
    });
    if (!(await this.store.replace(executionId, messageId, edited))) throw takenError(executionId, messageId);
    await this.announce(executionId, edited.when);
  }

  /** Withdraws a message, as `AgenticLoop.withdrawMessage` does. */
  async withdraw(executionId: string, messageId: string): Promise<void> {
    if (!(await this.store.replace(executionId, messageId, undefined))) throw takenError(executionId, messageId);
  }

  list(executionId: string): Promise<readonly QueuedMessage[]> {
    return this.store.list(executionId);
  }

  /** Forgets the queue of a run that is not stored. */
  remove(executionId: string): void {
    this.own.remove(executionId);
  }

  private add(executionId: string, message: RunMessage): ReturnType<RunMessageStore['add']> {
    const { stored, registry } = this.ports;
    if (stored !== undefined) return stored.add(executionId, message);
    const state = registry.find(executionId)?.state;
    return state === undefined ? Promise.resolve('unknown') : this.own.add(executionId, message, isFinished(state));
  }

  /** The process that stored a message may have ended before it told the one that has the run. */
  private async announceAgain(executionId: string, messageId: string): Promise<void> {
    const found = (await this.store.list(executionId)).find((each) => each.messageId === messageId);
    if (found?.isTaken === false) await this.announce(executionId, found.when);
  }

  private async announce(executionId: string, when: MessageTime): Promise<void> {
    const { registry, tellOthers } = this.ports;
    registry.live.get(executionId)?.interpreter.apply({ kind: 'message', when });
    await tellOthers(executionId, when);
  }
}
