/**
 * Subscribes to conversations whose messages any process may answer. Answers of other processes are put into the
 * channel here, complete: the latest when a first subscriber arrives, and new ones while there are subscribers. A
 * subscriber that another process has served goes on where it was.
 */
import type { ChatTurnStore, TurnState } from '../../domain/interfaces/ChatTurnStore';
import type { Logger } from '../../domain/interfaces/Logger';
import { hashText, positionIn, writePosition } from './AnswerPosition';
import { DONE, ERROR_PREFIX, restOf } from './ConversationChannel';
import type { ChannelSubscriber, ConversationChannel } from './ConversationChannel';

export interface ConversationFollowerPorts {
  readonly turns: ChatTurnStore;
  readonly channelOf: (userId: string, conversationId: string) => ConversationChannel;
  readonly logger: Pick<Logger, 'error'>;
}

/** How often the store is read. */
const POLLING_MS = 1_000;
/** Before the position in ids that no channel has given. */
const FOREIGN = '0~';

export class ConversationFollower {
  private readonly ports: ConversationFollowerPorts;
  /** Of conversations with subscribers. */
  private readonly timers = new Map<string, { subscribers: number; readonly timer: NodeJS.Timeout | undefined }>();

  constructor(ports: ConversationFollowerPorts) {
    this.ports = ports;
  }

  /** As `subscribe` of the channel. @returns a function that unsubscribes @throws what the store throws */
  async subscribe(
    userId: string,
    conversationId: string,
    subscriber: ChannelSubscriber,
    lastEventId?: string,
  ): Promise<() => void> {
    const { turns, channelOf } = this.ports;
    await this.fill(userId, conversationId);
    const from = positionIn(lastEventId)?.answer;
    const isKnown = from === undefined || channelOf(userId, conversationId).has(from);
    const found = isKnown ? [] : await turns.since(userId, conversationId, from);
    const channel = channelOf(userId, conversationId);
    const next = found[0]?.id === from ? replay(found, channel, subscriber, lastEventId) : lastEventId;
    const unsubscribe = channel.subscribe(subscriber, next);
    const stopFollowing = this.follow(userId, conversationId);
    return () => {
      stopFollowing();
      unsubscribe();
    };
  }

  /** Before this process writes an answer: puts earlier ones into the channel, if it has subscribers. */
  async catchUp(userId: string, conversationId: string): Promise<void> {
    if (this.timers.has(JSON.stringify([userId, conversationId]))) await this.fill(userId, conversationId);
  }

  private follow(userId: string, conversationId: string): () => void {
    const key = JSON.stringify([userId, conversationId]);
    const followed = this.timers.get(key) ?? { subscribers: 0, timer: this.poll(userId, conversationId) };
    followed.subscribers += 1;
    this.timers.set(key, followed);
    return () => {
      followed.subscribers -= 1;
      if (followed.subscribers > 0) return;
      clearInterval(followed.timer);
      this.timers.delete(key);
    };
  }

  private poll(userId: string, conversationId: string): NodeJS.Timeout | undefined {
    const { turns, logger } = this.ports;
    // Nobody else answers.
    if (turns.isExclusive) return undefined;
    return setInterval(() => {
      this.fill(userId, conversationId).catch((error: unknown) =>
        logger.error(`The answers of the conversation "${conversationId}" could not be read.`, error),
      );
    }, POLLING_MS);
  }

  /** Older answers than those in the channel stay out, since subscribers would take them for new ones. */
  private async fill(userId: string, conversationId: string): Promise<void> {
    const { turns, channelOf } = this.ports;
    const { latestAnswerId } = channelOf(userId, conversationId);
    const found = await turns.since(userId, conversationId, latestAnswerId);
    const channel = channelOf(userId, conversationId);
    for (const { id, outcome } of found)
      if (outcome === undefined) channel.announce(id);
      else channel.fill(id, outcome);
  }
}

/**
 * Sends the answers that came before those in the channel.
 * @returns the event id from which the channel goes on
 */
function replay(
  found: readonly TurnState[],
  channel: ConversationChannel,
  subscriber: ChannelSubscriber,
  lastEventId = '',
): string {
  let position = positionIn(lastEventId);
  subscriber.start(lastEventId);
  for (const { id: answer, outcome } of found) {
    if (channel.has(answer)) return FOREIGN + writePosition({ answer, length: 0, hash: hashText('') });
    const { length, hash } = position ?? { length: 0, hash: hashText('') };
    position = undefined;
    if (outcome === undefined || length === 'end') continue;
    const { text, failure } = outcome;
    const id = FOREIGN + writePosition({ answer, length: text.length, hash: hashText(text) });
    for (const event of restOf(text, length, hash)) subscriber.event({ id, ...event });
    if (failure !== undefined) subscriber.event({ id, data: ERROR_PREFIX + failure });
    subscriber.event({ id: FOREIGN + writePosition({ answer, length: 'end', hash: hashText(text) }), data: DONE });
  }
  return lastEventId;
}
