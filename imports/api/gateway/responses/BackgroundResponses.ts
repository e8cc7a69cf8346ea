/**
 * Generates responses after their request has returned. Clients retrieve, follow and cancel them by id. A process
 * generates them under the lease of its runs: if it dies, another one begins again, unless a part of the response has
 * been streamed, which no vendor continues; then the response fails.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgenticLoop } from '../../../business/ai/application/services/AgenticLoop';
import { runDetached } from '../../../business/ai/application/services/shared/runDetached';
import type { LeasedWork, LeasedWorkSource, RunRecovery } from '../../../business/ai/application/services/RunRecovery';
import { isStoreOutage, LLMAbortedError, LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { TooLargeToStoreError } from '../../../business/ai/domain/errors/TooLargeToStoreError';
import type {
  LeasedResponse,
  ResponseEventStore,
  ResponseKey,
} from '../../../business/ai/domain/interfaces/ResponseEventStore';
import type { ResponseStore, StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { CallOrigin } from '../../../business/ai/domain/types/RequestRecords';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { RawReasoningName } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { ApiPrincipal } from '../../auth/ApiPrincipal';
import type { InFlightRequests } from '../../http/InFlightRequests';
import type { VendorCall } from '../vendorCall';
import { EventRecorder, isOpeningOnly, isTerminalFrame, terminalFrame } from './EventRecorder';
import type { PreparedResponse } from './prepareResponse';
import { unfinishedResponse } from './ResponseService';
import type { ResponseService } from './ResponseService';

export interface BackgroundPorts {
  readonly service: ResponseService;
  readonly store: ResponseStore;
  readonly events: ResponseEventStore;
  readonly inFlight: InFlightRequests;
  readonly toError: (thrown: unknown) => LLMError;
  readonly loop: Pick<AgenticLoop, 'leasedWork'>;
  /** Finds the responses of processes that have died, if it runs. */
  readonly recovery: Pick<RunRecovery, 'add' | 'isRunning'>;
  /** Prepares a request of another process once more. */
  readonly prepare: (body: unknown, principal: ApiPrincipal) => Promise<PreparedResponse>;
  /**
   * No other process shares the store, so an unfinished response that is not running here was lost. For responses that
   * the recovery does not find.
   */
  readonly isAlone: boolean;
  /** Milliseconds without a sign of life after which another process counts as dead, for the same responses. */
  readonly lostAfter: number;
}

/** What another process needs to generate the response. Survives a round trip through JSON. */
interface StoredRequest {
  readonly body: unknown;
  readonly principal: ApiPrincipal;
  /** For the request log. */
  readonly origin: CallOrigin;
  readonly rawReasoningName: RawReasoningName;
}

export interface BackgroundRequest extends StoredRequest {
  /** The size of the request. */
  readonly bytes?: number;
}

export interface StartedResponse {
  readonly queued: JsonObject;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

interface Running {
  readonly key: ResponseKey;
  readonly controller: AbortController;
  /** The recorder of a response that was requested as a stream. */
  readonly recorder: EventRecorder | undefined;
  readonly ended: Promise<void>;
}

/** Longer than all attempts at a response can take: for those whose record has expired. */
const LOST_WITHOUT_RECORD_MS = 3_600_000;
/** How often this process confirms that it is alive, and learns of what others cancel. */
const CONFIRMING_MS = 1_000;
/** How often the state of a response of another process is read. */
const POLLING_MS = 250;
/** How long the end of a response that another process is to cancel is awaited. */
const CANCEL_PATIENCE_MS = 10_000;

/** How often a response is begun again before it counts as what kills processes. */
const MAX_CLAIMS = 3;

/** Unfinished background responses that one user may have in this process. */
const MAX_RUNNING_PER_USER = 32;
/** Bytes of one user's requests, which stay in memory until they have been answered. A single one may be larger. */
const MAX_BYTES_PER_USER = 64 * 1024 * 1024;

export class BackgroundResponses implements LeasedWorkSource {
  private readonly ports: BackgroundPorts;
  private readonly running = new Map<string, Running>();
  private readonly shares = new Map<string, { readonly count: number; readonly bytes: number }>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(ports: BackgroundPorts) {
    this.ports = ports;
    ports.recovery.add(this);
  }

  /**
   * @returns the response with status `queued`, and a promise that resolves when it has ended, in whatever way
   * @throws LLMInvalidRequestError if the user has too many unfinished responses, or the input is too large to store
   */
  async start(turn: PreparedResponse, request: BackgroundRequest): Promise<StartedResponse> {
    const { userId, generatedId } = turn;
    const { bytes = 0 } = request;
    const { count, bytes: held } = this.shares.get(userId) ?? { count: 0, bytes: 0 };
    if (count >= MAX_RUNNING_PER_USER || (count > 0 && held + bytes > MAX_BYTES_PER_USER))
      throw new LLMInvalidRequestError(
        `You already have ${count} unfinished background responses, with ${held} bytes of requests. Wait for one to finish or cancel one.`,
        {
          path: 'background',
        },
      );
    const { store, events, loop } = this.ports;
    const key = { userId, id: generatedId };
    const queued = unfinishedResponse(turn, 'queued');
    const { body, principal, origin, rawReasoningName } = request;
    const stored: StoredRequest = { body, principal: withoutClient(principal), origin, rawReasoningName };
    return new Promise<StartedResponse>((resolve, reject) => {
      this.underLease(key, async () => {
        await events.open(key, turn.stream, { owner: loop.leasedWork.ownerId, request: JSON.stringify(stored) });
        try {
          await store.save(queued);
        } catch (error) {
          await events.remove(key);
          throw error;
        }
        const ended = this.launch(turn, request);
        resolve({ queued: queued.body ?? {}, ended });
        await ended;
      }).catch(reject);
    });
  }

  /** Responses of other processes, and those that this one could not end. */
  async leased(limit: number, except: readonly string[] = []): Promise<readonly LeasedWork[]> {
    const { events, inFlight, loop } = this.ports;
    if (inFlight.isClosing) return [];
    const found = await events.leased(limit + this.running.size, except);
    return found
      .filter(({ key }) => !loop.leasedWork.has(workOf(key)))
      .map((lost) => ({ owner: lost.owner, recover: () => this.takeOver(lost) }));
  }

  private underLease(key: ResponseKey, work: () => Promise<void>): Promise<void> {
    return runDetached(() => this.ports.loop.leasedWork.run(workOf(key), work));
  }

  private async takeOver(lost: LeasedResponse): Promise<void> {
    const { store, events, loop } = this.ports;
    const { key, owner } = lost;
    await this.underLease(key, async () => {
      if (!(await events.claim(key, owner, loop.leasedWork.ownerId))) return;
      const stored = await store.find(key.userId, key.id);
      const frames = await events.read(key, -1);
      const again = stored === undefined ? undefined : await this.preparedAgain(stored, frames, lost);
      if (again !== undefined) {
        await this.launch(again.turn, again.request, frames.length);
        return;
      }
      if (stored !== undefined) await this.endStream(key, await this.ended(stored, lost.isCancelled));
      await events.release(key, loop.leasedWork.ownerId);
    });
  }

  /** @returns undefined if the response has ended, or must end */
  private async preparedAgain(
    stored: StoredResponse,
    frames: readonly string[],
    { request, isCancelled, claims }: LeasedResponse,
  ): Promise<{ readonly turn: PreparedResponse; readonly request: BackgroundRequest } | undefined> {
    if (!isUnfinished(stored) || isCancelled || request === undefined || claims >= MAX_CLAIMS) return undefined;
    if (!isOpeningOnly(frames)) return undefined;
    // This class wrote it.
    const again = JSON.parse(request) as StoredRequest;
    try {
      const turn = await this.ports.prepare(again.body, again.principal);
      const { id: generatedId, response, conversation } = stored;
      // The response may be what has extended it, which must not happen twice.
      if (turn.conversation?.end !== conversation?.end) return undefined;
      return { turn: { ...turn, generatedId, createdAt: response.created_at }, request: again };
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      // What it continues, or its model, is gone.
      this.ports.toError(error);
      return undefined;
    }
  }

  /** Ends a response whose process has died. @returns the response as stored now */
  private async ended(stored: StoredResponse, isCancelled: boolean): Promise<StoredResponse> {
    if (!isUnfinished(stored)) return stored;
    const change = isCancelled ? ({ status: 'cancelled' } as const) : LOST;
    const ended: StoredResponse = {
      ...stored,
      response: { ...stored.response, ...change },
      body: { ...stored.body, ...change },
    };
    await this.ports.store.replace(ended);
    return ended;
  }

  /** A process stores the response before the end of its stream. */
  private async endStream(key: ResponseKey, { body = {} }: StoredResponse): Promise<void> {
    const { events } = this.ports;
    if ((await events.find(key))?.isStream !== true) return;
    const frames = await events.read(key, -1);
    // Another reader may do so in the meantime.
    if (!isTerminalFrame(frames.at(-1))) await events.append(key, frames.length, [terminalFrame(body, frames.length)]);
  }

  /** @param stored frames of the stream that are stored already, which are its first ones */
  private async launch(turn: PreparedResponse, request: BackgroundRequest, stored = 0): Promise<void> {
    const { events, inFlight, loop, toError } = this.ports;
    const { userId, generatedId } = turn;
    const { bytes = 0 } = request;
    const key = { userId, id: generatedId };
    const controller = new AbortController();
    this.hold(userId, 1, bytes);
    inFlight.enter(controller, { route: 'background /v1/responses', userId });
    const recorder = turn.stream
      ? new EventRecorder(key, { events, onError: toError, owner: loop.leasedWork.ownerId, stored })
      : undefined;
    const name = nameOf(key);
    const ended = this.run(turn, request, controller.signal, recorder).finally(() => {
      this.running.delete(name);
      if (this.running.size === 0) clearInterval(this.timer);
      inFlight.leave(controller);
      this.hold(userId, -1, -bytes);
    });
    if (this.running.size === 0) this.timer = setInterval(() => this.confirm(), CONFIRMING_MS);
    this.running.set(name, { key, controller, recorder, ended });
    await ended;
  }

  private hold(userId: string, count: number, bytes: number): void {
    const share = this.shares.get(userId) ?? { count: 0, bytes: 0 };
    const changed = { count: share.count + count, bytes: share.bytes + bytes };
    if (changed.count === 0) this.shares.delete(userId);
    else this.shares.set(userId, changed);
  }

  /** Resolves when the response is final: cancelled, or finished before that; later if another process is slow. */
  async cancel(userId: string, id: string): Promise<void> {
    const { store, events } = this.ports;
    const key = { userId, id };
    const running = this.running.get(nameOf(key));
    if (running !== undefined) {
      running.controller.abort(cancellation());
      await running.ended;
      return;
    }
    await events.cancel(key);
    for (const until = Date.now() + CANCEL_PATIENCE_MS; Date.now() < until;) {
      const stored = await store.find(userId, id);
      if (stored === undefined || !isUnfinished(await this.failIfLost(stored))) return;
      await sleep(POLLING_MS);
    }
  }

  /** Removes the events. */
  async forget(userId: string, id: string): Promise<void> {
    await this.ports.events.remove({ userId, id });
  }

  /** @returns the response as stored, or as failed if the process that was generating it has died */
  async failIfLost(stored: StoredResponse): Promise<StoredResponse> {
    const { store } = this.ports;
    if (!isUnfinished(stored) || !(await this.isLost(stored))) return stored;
    // It may have finished since it was read.
    const again = await store.find(stored.userId, stored.id);
    if (again === undefined || !isUnfinished(again)) return again ?? stored;
    return this.ended(again, false);
  }

  /** Whether the events of the response are recorded. */
  async isStream({ userId, id }: StoredResponse): Promise<boolean> {
    return (await this.ports.events.find({ userId, id }))?.isStream === true;
  }

  /**
   * The frames of a stream after the one with that number, until the response is final.
   * @throws the signal's reason
   */
  async *follow(userId: string, id: string, after: number, signal: AbortSignal): AsyncGenerator<string> {
    const { events } = this.ports;
    const key = { userId, id };
    let last = after;
    for (;;) {
      const recorder = this.running.get(nameOf(key))?.recorder;
      const hasEnded = recorder?.hasEnded === true;
      const frames = recorder === undefined ? await events.read(key, last) : recorder.after(last);
      yield* frames;
      last += frames.length;
      if (hasEnded || isTerminalFrame(frames.at(-1))) return;
      if (recorder !== undefined) await recorder.changed(last, signal);
      else if (await this.hasSettled(key, last)) return;
      else if (frames.length === 0) await pause(signal);
    }
  }

  /** Ends the stream of a process that has died. @returns whether nothing can follow the frame with that number */
  private async hasSettled(key: ResponseKey, last: number): Promise<boolean> {
    const { store, events } = this.ports;
    const found = await store.find(key.userId, key.id);
    if (found === undefined) return true;
    const stored = await this.failIfLost(found);
    if (isUnfinished(stored)) return false;
    const frames = await events.read(key, -1);
    if (isTerminalFrame(frames.at(-1))) return last >= frames.length - 1;
    if (!(await this.isLost(stored))) return false;
    await this.endStream(key, stored);
    return (await events.find(key)) === undefined;
  }

  private async isLost({ userId, id, response }: StoredResponse): Promise<boolean> {
    const { events, isAlone, lostAfter, recovery } = this.ports;
    const key = { userId, id };
    if (this.running.has(nameOf(key))) return false;
    const record = await events.find(key);
    // The recovery finds it, and may begin it again.
    if (recovery.isRunning && record?.owner !== undefined) return false;
    if (isAlone) return true;
    return record === undefined
      ? Date.now() - response.created_at * 1_000 >= LOST_WITHOUT_RECORD_MS
      : Date.now() - record.aliveAt >= lostAfter;
  }

  private confirm(): void {
    const { events, toError } = this.ports;
    const keys = [...this.running.values()].map(({ key }) => key);
    events.confirm(keys).then((ending) => {
      for (const key of ending) this.running.get(nameOf(key))?.controller.abort(cancellation());
    }, toError);
  }

  /** Never rejects: only `cancel` awaits it. */
  private async run(
    turn: PreparedResponse,
    { origin, rawReasoningName }: StoredRequest,
    signal: AbortSignal,
    recorder: EventRecorder | undefined,
  ): Promise<void> {
    const { service, store, events, loop, toError } = this.ports;
    const call: VendorCall = { origin, signal };
    const key = { userId: turn.userId, id: turn.generatedId };
    const saveTurn = async (stored: StoredResponse): Promise<void> => {
      // Another process, which took this one for dead, generates it.
      const owner = (await events.find(key))?.owner ?? loop.leasedWork.ownerId;
      if (owner === loop.leasedWork.ownerId) await store.replace(stored);
    };
    let isEnded = true;
    try {
      // A response that was deleted meanwhile, perhaps by another process, stays deleted.
      if (!(await store.replace(unfinishedResponse(turn, 'in_progress')))) return;
      if (recorder === undefined) await service.generate(turn, { call, saveTurn, onNotStored });
      else
        await service.stream(turn, recorder, {
          call,
          saveTurn,
          onNotStored,
          rawReasoningName,
          toError,
          hasLeft: () => false,
          keepAliveAfter: NEVER_MS,
        });
    } catch (thrown) {
      const error = toError(thrown);
      const ending =
        error instanceof LLMAbortedError
          ? unfinishedResponse(turn, 'cancelled')
          : unfinishedResponse(turn, 'failed', error);
      // If the store fails again, `toError` reports it, and the recovery ends the response.
      isEnded = await saveTurn(ending).then(
        () => true,
        (failure: unknown) => {
          toError(failure);
          return false;
        },
      );
      recorder?.conclude(ending.body ?? {});
    } finally {
      await recorder?.close();
      if (isEnded) await events.release(key, loop.leasedWork.ownerId).catch(toError);
    }
  }
}

const LOST = {
  status: 'failed',
  error: { code: 'server_error', message: 'The server stopped before the response was complete.' },
} as const;

/** Names the response in the lease of this process's runs. */
function workOf({ id }: ResponseKey): string {
  return `response ${id}`;
}

/** What names the caller's device is not stored. */
function withoutClient({ userId, scopes, token }: ApiPrincipal): ApiPrincipal {
  return omitUndefined({ userId, scopes, token });
}

/** Nobody receives a background response in another way than from the store, so it fails. */
function onNotStored(error: TooLargeToStoreError): never {
  throw error;
}

/** The longest time that a timer can take. */
const NEVER_MS = 2 ** 31 - 1;

function cancellation(): LLMAbortedError {
  return new LLMAbortedError('The response was cancelled.');
}

/** @throws the signal's reason */
async function pause(signal: AbortSignal): Promise<void> {
  await sleep(POLLING_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
}

function isUnfinished({ response: { status } }: StoredResponse): boolean {
  return status === 'queued' || status === 'in_progress';
}

function nameOf({ userId, id }: ResponseKey): string {
  return JSON.stringify([userId, id]);
}
