/** How a page learns that something has changed on the server. */
import type { Topic } from '../../../business/ai/domain/types/Topics';

export interface ChangeListener {
  /** From here on changes are reported; whatever was missed before has to be loaded. */
  onOpen(): void;
  /** Changes are not reported. */
  onDisconnected(): void;
  /** Something of the topics that the listener subscribed to has changed. */
  onChange(): void;
}

export interface ChangeSource {
  /** @returns unsubscribes */
  subscribe(topics: readonly Topic[], listener: ChangeListener): () => void;
}
