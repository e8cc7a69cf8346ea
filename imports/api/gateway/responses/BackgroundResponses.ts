/** Generates responses after their request has returned. Clients retrieve and cancel them by id. */
import { runDetached } from '../../../business/ai/application/services/runDetached';
import { LLMAbortedError, LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { ResponseStore, StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { CallOrigin } from '../../../business/ai/domain/types/RequestRecords';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { InFlightRequests } from '../../http/InFlightRequests';
import type { VendorCall } from '../vendorCall';
import type { PreparedResponse } from './prepareResponse';
import { unfinishedResponse } from './ResponseService';
import type { ResponseService } from './ResponseService';

export interface BackgroundPorts {
  readonly service: ResponseService;
  readonly store: ResponseStore;
  readonly inFlight: InFlightRequests;
  readonly toError: (thrown: unknown) => LLMError;
  /** No other process shares the store, so an unfinished response that is not running here was lost. */
  readonly isAlone: boolean;
}

/** With several processes, an unfinished response this old counts as lost: longer than all attempts at one can take. */
const LOST_AFTER_MS = 3_600_000;

/** Unfinished background responses that one user may have in this process. */
const MAX_RUNNING_PER_USER = 32;

export class BackgroundResponses {
  private readonly ports: BackgroundPorts;
  private readonly running = new Map<string, { readonly controller: AbortController; readonly ended: Promise<void> }>();
  private readonly counts = new Map<string, number>();

  constructor(ports: BackgroundPorts) {
    this.ports = ports;
  }

  /**
   * @param origin for the request log
   * @returns the response with status `queued`
   * @throws LLMInvalidRequestError if the user has too many unfinished responses
   */
  async start(turn: PreparedResponse, origin: CallOrigin): Promise<JsonObject> {
    const { userId, generatedId } = turn;
    const count = this.counts.get(userId) ?? 0;
    if (count >= MAX_RUNNING_PER_USER)
      throw new LLMInvalidRequestError(
        `You already have ${count} unfinished background responses. Wait for one to finish or cancel one.`,
        {
          path: 'background',
        },
      );
    const queued = unfinishedResponse(turn, 'queued');
    await this.ports.store.save(queued);
    const controller = new AbortController();
    this.counts.set(userId, count + 1);
    this.ports.inFlight.enter(controller, userId);
    const key = keyOf(userId, generatedId);
    const ended = runDetached(() => this.run(turn, { signal: controller.signal, origin })).finally(() => {
      this.running.delete(key);
      this.ports.inFlight.leave(controller);
      const left = (this.counts.get(userId) ?? 1) - 1;
      if (left === 0) this.counts.delete(userId);
      else this.counts.set(userId, left);
    });
    this.running.set(key, { controller, ended });
    return queued.body ?? {};
  }

  /** Resolves when the response is final: cancelled, or finished before that. @returns whether it was running here */
  async cancel(userId: string, id: string): Promise<boolean> {
    const running = this.running.get(keyOf(userId, id));
    if (running === undefined) return false;
    running.controller.abort(new LLMAbortedError('The response was cancelled.'));
    await running.ended;
    return true;
  }

  /** @returns the response as stored, or as failed if the process that was generating it has died */
  async failIfLost(stored: StoredResponse): Promise<StoredResponse> {
    const { store, isAlone } = this.ports;
    if (!isUnfinished(stored) || this.running.has(keyOf(stored.userId, stored.id))) return stored;
    if (!isAlone && Date.now() - stored.response.created_at * 1_000 < LOST_AFTER_MS) return stored;
    // It may have finished since it was read.
    const again = await store.find(stored.userId, stored.id);
    if (again === undefined || !isUnfinished(again)) return again ?? stored;
    const failed = {
      status: 'failed',
      error: { code: 'server_error', message: 'The server stopped before the response was complete.' },
    } as const;
    const lost: StoredResponse = {
      ...stored,
      response: { ...stored.response, ...failed },
      body: { ...stored.body, ...failed },
    };
    await store.replace(lost);
    return lost;
  }

  /** Never rejects: only `cancel` awaits it. */
  private async run(turn: PreparedResponse, call: Pick<VendorCall, 'signal' | 'origin'>): Promise<void> {
    const { service, store, toError } = this.ports;
    try {
      // A response that was deleted meanwhile, perhaps by another process, stays deleted.
      if (!(await store.replace(unfinishedResponse(turn, 'in_progress')))) return;
      await service.generate(turn, {
        call,
        saveTurn: async (stored) => {
          await store.replace(stored);
        },
      });
    } catch (thrown) {
      const error = toError(thrown);
      const ending =
        error instanceof LLMAbortedError
          ? unfinishedResponse(turn, 'cancelled')
          : unfinishedResponse(turn, 'failed', error);
      // If the store fails again, `toError` reports it and the stored response stays unfinished.
      await store.replace(ending).catch(toError);
    }
  }
}

function isUnfinished({ response: { status } }: StoredResponse): boolean {
  return status === 'queued' || status === 'in_progress';
}

function keyOf(userId: string, id: string): string {
  return JSON.stringify([userId, id]);
}
