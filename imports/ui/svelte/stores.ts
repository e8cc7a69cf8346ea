/**
 * Stores for Svelte: objects that fulfil its contract for stores, so that no version of Svelte is imported.
 * https://svelte.dev/docs/svelte/stores#Store-contract
 */
import { follow } from '../conversations/follow';
import { newRequestId } from '../conversations/newRequestId';
import { observeConversation } from '../conversations/observeConversation';
import type { Conversation, ConversationOptions } from '../conversations/observeConversation';
import { observeRun } from '../conversations/observeRun';
import type { LiveRun } from '../conversations/observeRun';
import type { RunData } from '../data/DashboardData';
import type { ReadonlyObservable } from '../data/Observable';

/** A store of Svelte's: `$store` in a component, or `get(store)`. */
export interface Readable<T> {
  readonly subscribe: (run: (value: T) => void) => () => void;
}

/**
 * Follows a conversation while the store has subscribers.
 * @param options read with each message, so that getters return what applies to it; the `id` is read once
 */
export function createConversation(data: RunData, options: ConversationOptions): Readable<Conversation> {
  return toStore(observeConversation(data, options.id ?? newRequestId(), () => options));
}

/**
 * Follows a run while the store has subscribers.
 * @param executionId undefined as long as no run has been started
 */
export function createRun(data: RunData, executionId: string | undefined): Readable<LiveRun> {
  return toStore(observeRun(data, executionId));
}

function toStore<T>(observable: ReadonlyObservable<T>): Readable<T> {
  return { subscribe: (run) => follow(observable, run) };
}
