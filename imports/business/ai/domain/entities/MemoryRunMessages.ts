/** Messages in memory, for runs that are not stored, or stored in memory. */
import { MAX_MESSAGES } from '../interfaces/RunMessageStore';
import type { QueuedMessage, RunMessageStore } from '../interfaces/RunMessageStore';
import type { RunLease } from '../types/RunRecords';
import { dueMessages, NO_MESSAGES, waitingAmong } from '../types/RunMessages';
import type { DeliveredMessage, RunMessage, StoredMessages } from '../types/RunMessages';

interface Queue {
  /** In the order of arrival. Absent content: the message was delivered, or withdrawn. */
  readonly messages: Map<string, { message: RunMessage | undefined; isTaken: boolean }>;
  readonly delivered: DeliveredMessage[];
  hasEnded: boolean;
}

export class MemoryRunMessages implements RunMessageStore {
  private readonly queues = new Map<string, Queue>();

  add(executionId: string, message: RunMessage, hasEnded = false): ReturnType<RunMessageStore['add']> {
    const queue = this.queues.get(executionId) ?? { messages: new Map(), delivered: [], hasEnded: false };
    const { messages } = queue;
    if (messages.has(message.messageId)) return Promise.resolve('repeated');
    if (queue.hasEnded || hasEnded) return Promise.resolve('ended');
    if (messages.size >= MAX_MESSAGES) return Promise.resolve('full');
    messages.set(message.messageId, { message, isTaken: false });
    this.queues.set(executionId, queue);
    return Promise.resolve('accepted');
  }

  replace(executionId: string, messageId: string, message: RunMessage | undefined): Promise<boolean> {
    const found = this.queues.get(executionId)?.messages.get(messageId);
    if (found?.message === undefined || found.isTaken) return Promise.resolve(false);
    found.message = message;
    return Promise.resolve(true);
  }

  list(executionId: string): Promise<readonly QueuedMessage[]> {
    return Promise.resolve(this.queued(executionId));
  }

  take({ executionId }: Pick<RunLease, 'executionId'>, isAfterAnswer: boolean): Promise<StoredMessages> {
    const waiting = this.queued(executionId).filter(({ isTaken }) => !isTaken);
    for (const { messageId } of dueMessages(waiting, isAfterAnswer)) {
      const kept = this.queues.get(executionId)?.messages.get(messageId);
      if (kept !== undefined) kept.isTaken = true;
    }
    return Promise.resolve(this.stored(executionId) ?? { taken: [], waiting: NO_MESSAGES, sent: 0, delivered: [] });
  }

  /** @returns undefined if the run was sent none */
  stored(executionId: string): StoredMessages | undefined {
    const queue = this.queues.get(executionId);
    if (queue === undefined) return undefined;
    const queued = this.queued(executionId);
    return {
      taken: queued.filter(({ isTaken }) => isTaken).map(({ isTaken: _, ...message }) => message),
      waiting: waitingAmong(queued.filter(({ isTaken }) => !isTaken)),
      sent: queue.messages.size,
      delivered: [...queue.delivered],
    };
  }

  /** The transcript has these messages. */
  deliver(executionId: string, delivered: readonly DeliveredMessage[]): void {
    const queue = this.queues.get(executionId);
    for (const message of delivered) {
      if (queue?.messages.get(message.messageId)?.message !== undefined) queue.delivered.push(message);
      queue?.messages.set(message.messageId, { message: undefined, isTaken: true });
    }
  }

  end(executionId: string, sent: number): boolean {
    const queue = this.queues.get(executionId);
    if (queue === undefined) return true;
    if (queue.messages.size > sent) return false;
    queue.hasEnded = true;
    return true;
  }

  remove(executionId: string): void {
    this.queues.delete(executionId);
  }

  private queued(executionId: string): readonly QueuedMessage[] {
    return [...(this.queues.get(executionId)?.messages.values() ?? [])].flatMap(({ message, isTaken }) =>
      message === undefined ? [] : [{ ...message, isTaken }],
    );
  }
}
