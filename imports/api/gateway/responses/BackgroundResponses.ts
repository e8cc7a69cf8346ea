/** Generates responses after their request has returned. Clients retrieve, follow and cancel them by id. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runDetached } from '../../../business/ai/application/services/runDetached';
import { LLMAbortedError, LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { TooLargeToStoreError } from '../../../business/ai/domain/errors/TooLargeToStoreError';
import type { ResponseEventStore, ResponseKey } from '../../../business/ai/domain/interfaces/ResponseEventStore';
import type { ResponseStore, StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { CallOrigin } from '../../../business/ai/domain/types/RequestRecords';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { RawReasoningName } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { InFlightRequests } from '../../http/InFlightRequests';
import type { VendorCall } from '../vendorCall';
import { EventRecorder, isTerminalFrame, terminalFrame } from './EventRecorder';
import type { PreparedResponse } from './prepareResponse';
import { unfinishedResponse } from './ResponseService';
import type { ResponseService } from './ResponseService';

export interface BackgroundPorts {
  readonly service: ResponseService;
  readonly store: ResponseStore;
  readonly events: ResponseEventStore;
  readonly inFlight: InFlightRequests;
  readonly toError: (thrown: unknown) => LLMError;
  /** No other process shares the store, so an unfinished response that is not running here was lost. */
  readonly isAlone: boolean;
  /** Milliseconds without a sign of life after which another process counts as dead. */
  readonly lostAfter: number;
}

export interface BackgroundRequest {
  /** For the request log. */
  readonly origin: CallOrigin;
  readonly rawReasoningName: RawReasoningName;
  /** The size of the request. */
  readonly bytes?: number;
}

interface Running {
  readonly key: ResponseKey;
  readonly controller: AbortController;
  /** Of responses that were requested as streams. */
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

/** Unfinished background responses that one user may have in this process. */
const MAX_RUNNING_PER_USER = 32;
/** Of their requests together, which stay in memory until they have been answered. One may be larger. */
const MAX_BYTES_PER_USER = 64 * 1024 * 1024;

export class BackgroundResponses {
  private readonly ports: BackgroundPorts;
  private readonly running = new Map<string, Running>();
  private readonly shares = new Map<string, { readonly count: number; readonly bytes: number }>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(ports: BackgroundPorts) {
    this.ports = ports;
  }

  /**
   * @returns the response with status `queued`
   * @throws LLMInvalidRequestError if the user has too many unfinished responses, or the input is too large to store
   */
  async start(turn: PreparedResponse, request: BackgroundRequest): Promise<JsonObject> {
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
    const { store, events, inFlight, toError } = this.ports;
    const key = { userId, id: generatedId };
    const queued = unfinishedResponse(turn, 'queued');
    await events.open(key, turn.stream);
    try {
      await store.save(queued);
    } catch (error) {
      await events.remove(key);
      throw error;
    }
    const controller = new AbortController();
    this.hold(userId, 1, bytes);
    inFlight.enter(controller, { route: 'background /v1/responses', userId });
    const recorder = turn.stream ? new EventRecorder(key, { events, onError: toError }) : undefined;
    const name = nameOf(key);
    const ended = runDetached(() => this.run(turn, request, controller.signal, recorder)).finally(() => {
      this.running.delete(name);
      if (this.running.size === 0) clearInterval(this.timer);
      inFlight.leave(controller);
      this.hold(userId, -1, -bytes);
    });
    if (this.running.size === 0) this.timer = setInterval(() => this.confirm(), CONFIRMING_MS);
    this.running.set(name, { key, controller, recorder, ended });
    return queued.body ?? {};
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
    // A process stores the response before the end of its stream.
    if (!(await this.isLost(stored))) return false;
    // Another reader may have done so in the meantime.
    const isStored = await events.append(key, frames.length, [terminalFrame(stored.body ?? {}, frames.length)]);
    return !isStored && (await events.find(key)) === undefined;
  }

  private async isLost({ userId, id, response }: StoredResponse): Promise<boolean> {
    const { events, isAlone, lostAfter } = this.ports;
    const key = { userId, id };
    if (this.running.has(nameOf(key))) return false;
    if (isAlone) return true;
    const record = await events.find(key);
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
    { origin, rawReasoningName }: BackgroundRequest,
    signal: AbortSignal,
    recorder: EventRecorder | undefined,
  ): Promise<void> {
    const { service, store, toError } = this.ports;
    const call: VendorCall = { origin, signal };
    const saveTurn = async (stored: StoredResponse): Promise<void> => {
      await store.replace(stored);
    };
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
      // If the store fails again, `toError` reports it and the stored response stays unfinished.
      await store.replace(ending).catch(toError);
      recorder?.conclude(ending.body ?? {});
    } finally {
      await recorder?.close();
    }
  }
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
