/** The channels of all conversations in this process. The least recently used idle channels are evicted first. */
import { ConversationChannel, DEFAULT_CHANNEL_LIMITS } from './ConversationChannel';
import type { ReplayBufferLimits } from './ReplayBuffer';

export interface ConversationChannelsLimits extends ReplayBufferLimits {
  readonly channels: number;
}

export const DEFAULT_CHANNELS_LIMITS: ConversationChannelsLimits = { ...DEFAULT_CHANNEL_LIMITS, channels: 2_000 };

export class ConversationChannels {
  /** In order of last use, the least recent first. */
  private readonly channels = new Map<string, ConversationChannel>();
  private readonly limits: ConversationChannelsLimits;

  constructor(limits: Partial<ConversationChannelsLimits> = {}) {
    this.limits = { ...DEFAULT_CHANNELS_LIMITS, ...limits };
  }

  get size(): number {
    return this.channels.size;
  }

  /** Conversation ids are scoped to their user: two users with the same id never share a channel. */
  readonly of = (userId: string, conversationId: string): ConversationChannel => {
    const key = JSON.stringify([userId, conversationId]);
    const channel = this.channels.get(key) ?? new ConversationChannel(this.limits);
    this.channels.delete(key);
    this.channels.set(key, channel);
    this.evictIdle(channel);
    return channel;
  };

  /** Drops a user's channels, with the answers that they buffer. */
  forget(userId: string): void {
    const prefix = `${JSON.stringify([userId]).slice(0, -1)},`;
    for (const key of this.channels.keys()) if (key.startsWith(prefix)) this.channels.delete(key);
  }

  /** Channels with subscribers or an unfinished response stay, even beyond the limit. */
  private evictIdle(current: ConversationChannel): void {
    if (this.channels.size <= this.limits.channels) return;
    for (const [key, channel] of this.channels) {
      if (channel === current || channel.isBusy) continue;
      this.channels.delete(key);
      if (this.channels.size <= this.limits.channels) return;
    }
  }
}
