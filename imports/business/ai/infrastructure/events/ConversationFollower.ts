/**
 * Subscribes to conversations whose messages any process may answer. Answers of other processes are put into the
 * channel here: the latest when a first subscriber arrives, and new ones, as they are written, while there are any. A
 * subscriber that another process has served goes on where it was.
 */
import type { ChatTurnStore, TurnState } from '../../domain/interfaces/ChatTurnStore';
import type { AnswerOutput } from '../../domain/interfaces/OutputChannel';
import type { Logger } from '../../domain/interfaces/Logger';
import { hashText, positionIn, writePosition } from './AnswerPosition';
import { DONE, ERROR_PREFIX, restOf } from './ConversationChannel';
import type { ChannelSubscriber, ConversationChannel } from './ConversationChannel';

export interface ConversationFollowerPorts {
  readonly turns: ChatTurnStore;
  readonly channelOf: (userId: string, conversationId: string) => ConversationChannel;
  readonly logger: Pick<Logger, 'error'>;
  /** Shows answers while they are written. Absent: once they are complete. */
  readonly liveText?: () => LiveText | undefined;
}

/** The texts of answers that any process writes. */
export interface LiveText {
  /** Writes an answer as its events arrive. @param id of the message */
  show(id: string, output: AnswerOutput): LiveAnswer;
  /** Makes the events of a user's runs in other processes appear. @returns ends it */
  watch(userId: string): () => void;
}

interface LiveAnswer {
  stop(): void;
}

interface Followed {
  subscribers: number;
  readonly timer: NodeJS.Timeout | undefined;
  readonly stopWatching: (() => void) | undefined;
  /** Answers that are being written, by the ids of their messages. */
  readonly live: LiveAnswers;
}

type LiveAnswers = Map<string, LiveAnswer>;

/** How often the store is read. */
const POLLING_MS = 1_000;
/** Before the position in ids that no channel has given. */
const FOREIGN = '0~';

export class ConversationFollower {
  private readonly ports: ConversationFollowerPorts;
  /** The conversations that have subscribers. */
  private readonly followed = new Map<string, Followed>();

  constructor(ports: ConversationFollowerPorts) {
    this.ports = ports;
  }

  /** Subscribes to the conversation's channel. @returns a function that unsubscribes @throws what the store throws */
  async subscribe(
    userId: string,
    conversationId: string,
    subscriber: ChannelSubscriber,
    lastEventId?: string,
  ): Promise<() => void> {
    const { turns, channelOf } = this.ports;
    const stopFollowing = this.follow(userId, conversationId);
    try {
      await this.fill(userId, conversationId);
      const from = positionIn(lastEventId)?.answer;
      const isKnown = from === undefined || channelOf(userId, conversationId).has(from);
      const found = isKnown ? [] : await turns.since(userId, conversationId, from);
      const channel = channelOf(userId, conversationId);
      const next = found[0]?.id === from ? replay(found, channel, subscriber, lastEventId) : lastEventId;
      const unsubscribe = channel.subscribe(subscriber, next);
      return () => {
        stopFollowing();
        unsubscribe();
      };
    } catch (error) {
      stopFollowing();
      throw error;
    }
  }

  /** Before this process writes an answer: puts earlier ones into the channel, if it has subscribers. */
  async catchUp(userId: string, conversationId: string): Promise<void> {
    if (this.followed.has(keyOf(userId, conversationId))) await this.fill(userId, conversationId);
  }

  private follow(userId: string, conversationId: string): () => void {
    const key = keyOf(userId, conversationId);
    const followed = this.followed.get(key) ?? {
      subscribers: 0,
      timer: this.poll(userId, conversationId),
      stopWatching: this.ports.liveText?.()?.watch(userId),
      live: new Map<string, LiveAnswer>(),
    };
    followed.subscribers += 1;
    this.followed.set(key, followed);
    return () => {
      followed.subscribers -= 1;
      if (followed.subscribers > 0) return;
      clearInterval(followed.timer);
      followed.stopWatching?.();
      for (const answer of followed.live.values()) answer.stop();
      this.followed.delete(key);
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
    const live = this.followed.get(keyOf(userId, conversationId))?.live;
    for (const { id, outcome } of found)
      if (outcome === undefined) {
        channel.announce(id);
        if (channel.isOwn(id)) stopLive(id, live);
        else this.showLive(id, channel, live);
      } else {
        stopLive(id, live);
        channel.fill(id, outcome);
      }
  }

  private showLive(id: string, channel: ConversationChannel, live: LiveAnswers | undefined): void {
    const ports = this.ports.liveText?.();
    if (ports !== undefined && !this.ports.turns.isExclusive && live?.has(id) === false)
      live.set(id, ports.show(id, channel.follow(id)));
  }
}

function stopLive(id: string, live: LiveAnswers | undefined): void {
  live?.get(id)?.stop();
  live?.delete(id);
}

function keyOf(userId: string, conversationId: string): string {
  return JSON.stringify([userId, conversationId]);
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
