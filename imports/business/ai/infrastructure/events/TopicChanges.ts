/**
 * Notifies open pages that something has changed, without saying what: they reload it with the caller's rights. Changes
 * of other processes do not pass through it.
 */
import type { Actor } from '../../domain/types/Actor';
import type { Topic } from '../../domain/types/Topics';

export type NotifyOfChange = (topic: Topic, userId?: string) => void;

interface Subscriber {
  readonly actor: Actor;
  readonly pending: Set<Topic>;
  readonly listener: (topics: readonly Topic[]) => void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Milliseconds in which a subscriber's changes are collected. */
const COLLECTING_MS = 200;

export class TopicChanges {
  private readonly subscribers = new Set<Subscriber>();

  /** The number of subscribers. */
  get size(): number {
    return this.subscribers.size;
  }

  /**
   * Call it after the write, so that a reload sees the change.
   * @param userId whose documents changed; admins are notified, too. Absent: the change may concern everyone.
   */
  readonly notify: NotifyOfChange = (topic, userId) => {
    for (const subscriber of this.subscribers) {
      const { actor, pending } = subscriber;
      if (userId !== undefined && userId !== actor.userId && actor.isAdmin !== true) continue;
      pending.add(topic);
      subscriber.timer ??= setTimeout(() => this.send(subscriber), COLLECTING_MS);
    }
  };

  /**
   * @param listener receives the topics that changed for the actor, each once in 200 ms
   * @returns unsubscribes
   */
  subscribe(actor: Actor, listener: (topics: readonly Topic[]) => void): () => void {
    const subscriber: Subscriber = { actor, listener, pending: new Set(), timer: undefined };
    this.subscribers.add(subscriber);
    return () => {
      this.subscribers.delete(subscriber);
      clearTimeout(subscriber.timer);
    };
  }

  private send(subscriber: Subscriber): void {
    const topics = [...subscriber.pending];
    subscriber.pending.clear();
    subscriber.timer = undefined;
    subscriber.listener(topics);
  }
}
