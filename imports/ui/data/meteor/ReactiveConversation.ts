/** A conversation for Tracker computations: Blaze helpers, `Tracker.autorun`. */
import { newRequestId } from '../../conversations/newRequestId';
import { observeConversation } from '../../conversations/observeConversation';
import type { Conversation, ConversationOptions } from '../../conversations/observeConversation';
import type { RunData } from '../DashboardData';
import type { ReadonlyObservable } from '../Observable';
import type { MeteorSource } from './MeteorSource';
import { SharedSource } from './SharedSource';

/** It is followed while computations read it. */
export class ReactiveConversation extends SharedSource<Conversation> {
  private readonly conversation: ReadonlyObservable<Conversation>;
  private unsubscribe: (() => void) | undefined;

  /** @param options read with each message, so that getters return what applies to it; the `id` is read once */
  constructor(source: MeteorSource, data: RunData, options: ConversationOptions) {
    super(source, `conversation ${newRequestId()}`);
    this.conversation = observeConversation(data, options.id ?? newRequestId(), () => options);
  }

  /** Returns the conversation as it is, with its commands. A computation runs again when it changes. */
  get(): Conversation {
    return this.read();
  }

  protected start(): void {
    this.unsubscribe = this.conversation.subscribe(() => this.set(this.conversation.get()));
  }

  protected stop(): void {
    this.unsubscribe?.();
    this.unsubscribe = undefined;
  }

  protected peek(): Conversation {
    return this.source.Tracker.nonreactive(this.conversation.get);
  }
}
