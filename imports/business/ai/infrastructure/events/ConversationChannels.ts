/**
 * The channels of all conversations in this process. The least recently used idle channels are evicted first, of a user
 * who has too many, or has most.
 */
import { FairLruMap } from '../../domain/util/FairLruMap';
import { ConversationChannel, DEFAULT_CHANNEL_LIMITS } from './ConversationChannel';
import type { ReplayBufferLimits } from './ReplayBuffer';

export interface ConversationChannelsLimits extends ReplayBufferLimits {
  readonly channels: number;
  readonly channelsPerUser: number;
}

export const DEFAULT_CHANNELS_LIMITS: ConversationChannelsLimits = {
  ...DEFAULT_CHANNEL_LIMITS,
  channels: 2_000,
  channelsPerUser: 100,
};

export class ConversationChannels {
  private readonly channels: FairLruMap<ConversationChannel>;
  private readonly limits: ConversationChannelsLimits;

  constructor(limits: Partial<ConversationChannelsLimits> = {}) {
    this.limits = { ...DEFAULT_CHANNELS_LIMITS, ...limits };
    const { channels: entries, channelsPerUser: entriesPerUser } = this.limits;
    // Channels with subscribers or an unfinished response stay, even beyond the limits.
    this.channels = new FairLruMap({ entries, entriesPerUser }, { canEvict: (channel) => !channel.isBusy });
  }

  get size(): number {
    return this.channels.size;
  }

  /** Conversation ids are scoped to their user: two users with the same id never share a channel. */
  readonly of = (userId: string, conversationId: string): ConversationChannel => {
    const known = this.channels.get(userId, conversationId);
    const channel = known ?? new ConversationChannel(this.limits);
    // Each insertion evicts channels beyond the limits that have become idle.
    this.channels.set(userId, conversationId, channel);
    return channel;
  };

  /** Drops a user's channels, with the answers that they buffer. */
  forget(userId: string): void {
    this.channels.forget(userId);
  }
}
