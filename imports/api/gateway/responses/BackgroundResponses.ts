/** Answers that are made after their request was answered: fetched, and cancelled, by their id. */
import { LLMAbortedError, LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { ResponseStore, StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { InFlightRequests } from '../../http/InFlightRequests';
import type { PreparedResponse } from './prepareResponse';
import { unfinishedTurn } from './ResponseService';
import type { ResponseService } from './ResponseService';

export interface BackgroundPorts {
  readonly turns: ResponseService;
  readonly store: ResponseStore;
  readonly inFlight: InFlightRequests;
  readonly toError: (thrown: unknown) => LLMError;
  /** No other process answers from this store: what is not in the making here is in the making nowhere. */
  readonly isAlone: boolean;
}

/**
 * Milliseconds after which an answer that another process may have been making is lost: longer than all attempts at
 * one take.
 */
const LOST_AFTER = 3_600_000;

/** How many answers one user may have in the making. */
const MOST_OF_A_USER = 32;

export class BackgroundResponses {
  private readonly ports: BackgroundPorts;
  private readonly running = new Map<string, { readonly controller: AbortController; readonly ended: Promise<void> }>();
  private readonly counts = new Map<string, number>();

  constructor(ports: BackgroundPorts) {
    this.ports = ports;
  }

  /**
   * @returns the response as it stands now: queued
   * @throws LLMInvalidRequestError when the user has too many in the making
   */
  async start(turn: PreparedResponse): Promise<JsonObject> {
    const { userId, mintedId } = turn;
    const count = this.counts.get(userId) ?? 0;
    if (count >= MOST_OF_A_USER)
      throw new LLMInvalidRequestError(`You have ${count} responses in the making; wait for one of them.`, {
        path: 'background',
      });
    const queued = unfinishedTurn(turn, 'queued');
    await this.ports.store.save(queued);
    const controller = new AbortController();
    this.counts.set(userId, count + 1);
    this.ports.inFlight.enter(controller);
    const key = keyOf(userId, mintedId);
    const ended = this.run(turn, controller.signal).finally(() => {
      this.running.delete(key);
      this.ports.inFlight.leave(controller);
      const left = (this.counts.get(userId) ?? 1) - 1;
      if (left === 0) this.counts.delete(userId);
      else this.counts.set(userId, left);
    });
    this.running.set(key, { controller, ended });
    return queued.body ?? {};
  }

  /** Resolves when the response is final: cancelled, or finished before that. @returns whether it was in the making */
  async cancel(userId: string, id: string): Promise<boolean> {
    const running = this.running.get(keyOf(userId, id));
    if (running === undefined) return false;
    running.controller.abort(new LLMAbortedError('the response was cancelled'));
    await running.ended;
    return true;
  }

  /** The response as it is by now: one that was in the making when its server died has failed. */
  async settled(stored: StoredResponse): Promise<StoredResponse> {
    const { store, isAlone } = this.ports;
    if (!isUnfinished(stored) || this.running.has(keyOf(stored.userId, stored.id))) return stored;
    if (!isAlone && Date.now() - stored.response.created_at * 1_000 < LOST_AFTER) return stored;
    // It may have been finished since it was read.
    const again = await store.find(stored.userId, stored.id);
    if (again === undefined || !isUnfinished(again)) return again ?? stored;
    const failed = {
      status: 'failed',
      error: { code: 'server_error', message: 'The server stopped before the answer was made.' },
    } as const;
    const lost: StoredResponse = {
      ...stored,
      response: { ...stored.response, ...failed },
      body: { ...stored.body, ...failed },
    };
    await store.save(lost);
    return lost;
  }

  /** Never rejects: nobody waits for it but who cancels. */
  private async run(turn: PreparedResponse, signal: AbortSignal): Promise<void> {
    const { turns, store, toError } = this.ports;
    try {
      await store.save(unfinishedTurn(turn, 'in_progress'));
      await turns.generate(turn, { signal, remember: (stored) => store.save(stored) });
    } catch (thrown) {
      const error = toError(thrown);
      const ending =
        error instanceof LLMAbortedError ? unfinishedTurn(turn, 'cancelled') : unfinishedTurn(turn, 'failed', error);
      // A store that fails again has been told of; what it holds stays unfinished.
      await store.save(ending).catch(toError);
    }
  }
}

function isUnfinished({ response: { status } }: StoredResponse): boolean {
  return status === 'queued' || status === 'in_progress';
}

function keyOf(userId: string, id: string): string {
  return JSON.stringify([userId, id]);
}
