/**
 * The queues of messages in the documents of their runs, so that a message leaves its queue with the very write of the
 * transcript that it is in, and no run completes beside a message that it has not seen.
 */
import type { DocumentCollection, Modifier } from '../../../../../database/DocumentCollection';
import { isFinished } from '../../../domain/entities/Run';
import { MAX_MESSAGES } from '../../../domain/interfaces/RunMessageStore';
import type { QueuedMessage, RunMessageStore } from '../../../domain/interfaces/RunMessageStore';
import type { RunLease } from '../../../domain/types/RunRecords';
import { dueMessages, NO_MESSAGES, waitingAmong } from '../../../domain/types/RunMessages';
import type { DeliveredMessage, RunMessage, StoredMessages } from '../../../domain/types/RunMessages';
import { UNFINISHED } from './runClaims';
import type { RunDocument } from './runDocuments';

type MessageFields = Pick<RunDocument, 'messages' | 'messageStates' | 'messagesSent'>;

const NONE_SENT: StoredMessages = { taken: [], waiting: NO_MESSAGES, sent: 0, delivered: [] };
const QUEUE = { messages: 1, messageStates: 1, messagesSent: 1 } as const;

export class DocumentRunMessages implements RunMessageStore {
  private readonly runs: DocumentCollection<RunDocument>;

  constructor(runs: DocumentCollection<RunDocument>) {
    this.runs = runs;
  }

  async add(executionId: string, message: RunMessage): ReturnType<RunMessageStore['add']> {
    const key = keyOf(message.messageId);
    const added = await this.runs.update(
      {
        _id: executionId,
        state: { $in: UNFINISHED },
        [`messageStates.${key}`]: { $exists: false },
        messagesSent: { $ne: MAX_MESSAGES },
      },
      {
        $set: { [`messageStates.${key}`]: 'waiting', [`messages.${key}`]: JSON.stringify(message) },
        $inc: { messagesSent: 1 },
      },
    );
    if (added === 1) return 'accepted';
    const run = await this.runs.findOne({ _id: executionId }, { fields: { state: 1, messageStates: 1 } });
    if (run === undefined) return 'unknown';
    if (run.messageStates?.[key] !== undefined) return 'repeated';
    return isFinished(run.state) ? 'ended' : 'full';
  }

  async replace(executionId: string, messageId: string, message: RunMessage | undefined): Promise<boolean> {
    const key = keyOf(messageId);
    const replaced = await this.runs.update(
      { _id: executionId, [`messageStates.${key}`]: 'waiting' },
      message === undefined
        ? modifierOf([[messageId, 'withdrawn']])
        : { $set: { [`messages.${key}`]: JSON.stringify(message) } },
    );
    return replaced === 1;
  }

  async list(executionId: string): Promise<readonly QueuedMessage[]> {
    const run = await this.runs.findOne({ _id: executionId }, { fields: QUEUE });
    return run === undefined ? [] : queued(run);
  }

  async take(
    { executionId, fence }: Pick<RunLease, 'executionId' | 'fence'>,
    isAfterAnswer: boolean,
  ): Promise<StoredMessages | undefined> {
    const read = (): Promise<MessageFields | undefined> =>
      this.runs.findOne({ _id: executionId, fence }, { fields: QUEUE });
    const run = await read();
    if (run === undefined) return undefined;
    const waiting = queued(run).filter(({ isTaken }) => !isTaken);
    const due = dueMessages(waiting, isAfterAnswer).map(({ messageId }) => `messageStates.${keyOf(messageId)}`);
    if (due.length === 0) return storedMessages(run) ?? NONE_SENT;
    // One that was withdrawn meanwhile has no content any more, and is none. One that was changed is read as it is now.
    const $set = Object.fromEntries(due.map((path) => [path, 'taken']));
    if ((await this.runs.update({ _id: executionId, fence, state: { $in: UNFINISHED } }, { $set })) === 0)
      return undefined;
    const taken = await read();
    return taken && storedMessages(taken);
  }
}

/** @returns undefined if the run was sent none */
export function storedMessages(run: MessageFields): StoredMessages | undefined {
  if (run.messagesSent === undefined) return undefined;
  const messages = queued(run);
  return {
    taken: messages.filter(({ isTaken }) => isTaken).map(({ isTaken: _, ...message }) => message),
    waiting: waitingAmong(messages.filter(({ isTaken }) => !isTaken)),
    sent: run.messagesSent,
    delivered: deliveredIn(run),
  };
}

/** Messages leave the queue, which remembers where they are. */
export function deliveryModifier(delivered: readonly DeliveredMessage[]): Modifier {
  return modifierOf(delivered.map(({ messageId, index }) => [messageId, index]));
}

function modifierOf(left: readonly (readonly [messageId: string, state: 'withdrawn' | number])[]): Modifier {
  return {
    $set: Object.fromEntries(left.map(([id, state]) => [`messageStates.${keyOf(id)}`, state])),
    $unset: Object.fromEntries(left.map(([id]) => [`messages.${keyOf(id)}`, true])),
  };
}

function deliveredIn({ messageStates = {} }: MessageFields): readonly DeliveredMessage[] {
  return Object.entries(messageStates).flatMap(([key, state]) =>
    typeof state === 'number' ? [{ messageId: Buffer.from(key.slice(1), 'hex').toString(), index: state }] : [],
  );
}

/** In the order in which they were sent: databases add fields at the end. */
function queued({ messages = {}, messageStates = {} }: MessageFields): readonly QueuedMessage[] {
  return Object.entries(messageStates).flatMap(([key, state]) => {
    const json = messages[key];
    // This store wrote it.
    return json === undefined ? [] : [{ ...(JSON.parse(json) as RunMessage), isTaken: state === 'taken' }];
  });
}

/** Ids may contain any characters, field names may not. */
function keyOf(messageId: string): string {
  return `m${Buffer.from(messageId).toString('hex')}`;
}
