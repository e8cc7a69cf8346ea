/** Lets the messages of a conversation be answered one after another, whichever processes answer them. */
import { LLMAbortedError } from '../../../domain/errors/LLMErrors';
import type { ChatOutcome, ChatTurn, ChatTurnStore } from '../../../domain/interfaces/ChatTurnStore';
import { sleep } from '../shared/time';

/** How often it is looked whether another process has answered the message before. */
const POLLING_MS = 250;

export class TurnOrder {
  /** Wake those that wait in a conversation. */
  private readonly waiting = new Map<string, Set<() => void>>();

  /**
   * Resolves when all earlier messages of the conversation have been answered.
   * @returns how another process has answered this one meanwhile; undefined if it has no answer
   * @throws LLMAbortedError for a message that was deleted; the signal's reason
   */
  async reach(turn: ChatTurn, turns: ChatTurnStore, signal: AbortSignal): Promise<ChatOutcome | undefined> {
    for (;;) {
      signal.throwIfAborted();
      if ((await turns.next(turn.userId, turn.conversationId)) === turn.id) return undefined;
      const found = await turns.find(turn.id);
      if (found === undefined) throw new LLMAbortedError('The message was deleted.');
      if (found.outcome !== undefined) return found.outcome;
      await this.changed(turn, signal);
    }
  }

  /** A message of the conversation was answered here. */
  advance(turn: ChatTurn): void {
    for (const wake of this.waiting.get(keyOf(turn)) ?? []) wake();
  }

  /** Resolves when the conversation may have advanced. @throws the signal's reason */
  private async changed(turn: ChatTurn, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    const key = keyOf(turn);
    const wakers = this.waiting.get(key) ?? new Set();
    this.waiting.set(key, wakers.add(wake));
    try {
      await sleep(POLLING_MS, AbortSignal.any([signal, woken.signal]));
    } catch (error) {
      if (!woken.signal.aborted) throw error;
    } finally {
      wakers.delete(wake);
      if (wakers.size === 0) this.waiting.delete(key);
    }
  }
}

function keyOf({ userId, conversationId }: ChatTurn): string {
  return JSON.stringify([userId, conversationId]);
}
