/**
 * Waits for a response that the vendor generates in the background, and finds it again after a crash.
 * https://developers.openai.com/api/docs/guides/background
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isLLMError, LLMAbortedError, LLMStreamError, LLMTimeoutError } from '../../domain/errors/LLMErrors';
import type { BackgroundTurn } from '../../domain/interfaces/BackgroundCalls';
import { isObject, readJson } from '../../domain/util/json';
import type { JsonObject } from '../../domain/types/VendorTypes';

export interface BackgroundPorts {
  readonly providerId: string;
  /** The run's turn. Undefined for calls that are never resumed. */
  readonly turn: BackgroundTurn | undefined;
  /** Sends the request. @returns the response as it is at its start */
  readonly start: () => Promise<JsonObject>;
  readonly read: (responseId: string) => Promise<JsonObject>;
  readonly cancel: (responseId: string) => Promise<unknown>;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds. Default: none. */
  readonly timeout: number | undefined;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const GROWTH = 1.5;
/** `requires_action`: Gemini's for a response with tool calls. */
const ANSWERED: ReadonlySet<unknown> = new Set(['completed', 'incomplete', 'requires_action']);
/** Failures in a row, after which waiting ends. */
const MAX_FAILURES = 8;

/**
 * @param body of the request
 * @returns the body of the response when it has ended, in whatever way
 * @throws LLMTimeoutError after `timeout`, the signal's reason when aborted, what the requests throw
 */
export async function awaitBackgroundResponse(body: JsonObject, ports: BackgroundPorts): Promise<JsonObject> {
  const { providerId, turn, start, signal } = ports;
  const request = { providerId, digest: createHash('sha256').update(JSON.stringify(body)).digest('base64url') };
  const known = await turn?.find(request);
  const resumed = known === undefined ? undefined : await readKnown(known, ports);
  let response = resumed;
  if (response === undefined) {
    response = await start();
    await turn?.save(request, idOf(response));
  }
  const id = idOf(response);
  try {
    const ended = await untilEnded(response, id, ports);
    // A failed response would be found by the next attempt.
    if (!ANSWERED.has(ended.status)) await turn?.remove(request);
    return ended;
  } catch (error) {
    // Another process waits for it, unless the call was cancelled.
    const isOver = turn === undefined || error instanceof LLMTimeoutError || signal?.reason instanceof LLMAbortedError;
    if (isOver) await ports.cancel(id).catch(() => undefined);
    throw error;
  }
}

/** @returns undefined for a response that the vendor no longer has */
async function readKnown(id: string, { read }: BackgroundPorts): Promise<JsonObject | undefined> {
  try {
    return await read(id);
  } catch (error) {
    if (isLLMError(error) && error.status === 404) return undefined;
    throw error;
  }
}

async function untilEnded(started: JsonObject, id: string, ports: BackgroundPorts): Promise<JsonObject> {
  const { read, signal, timeout = Infinity } = ports;
  const end = performance.now() + timeout;
  let response = started;
  let failures = 0;
  let pause = FIRST_PAUSE_MS;
  while (response.status === 'queued' || response.status === 'in_progress') {
    if (performance.now() >= end)
      throw new LLMTimeoutError(`The response in the background took longer than ${timeout} ms.`);
    await sleep(Math.min(pause, Math.max(1, end - performance.now())), signal);
    pause = Math.min(LONGEST_PAUSE_MS, pause * GROWTH);
    try {
      response = await read(id);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!isLLMError(error) || !error.retryable || failures >= MAX_FAILURES) throw error;
      pause = Math.max(pause, error.retryAfterMs ?? 0);
    }
  }
  return response;
}

/** @throws `signal.reason` */
export async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(milliseconds, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

function idOf({ id }: JsonObject): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new LLMStreamError('The vendor returned no id for a response in the background.');
}

export function parseResponse(text: string): JsonObject {
  const parsed = readJson(text);
  if (isObject(parsed)) return parsed;
  throw new LLMStreamError(`The response in the background is not JSON (${text.length} characters).`);
}
