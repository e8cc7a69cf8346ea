/**
 * Ids of what a run adds to a thread. They begin with the run's execution id, so that a server that holds no state of
 * the thread finds the run that a tool result or an answer to an interrupt belongs to.
 */

import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

export interface CallReference {
  readonly executionId: string;
  readonly callId: string;
}

/** Returns the id of the assistant message that holds the text and the calls of one model call. */
export function turnMessageId(executionId: string, iteration: number): string {
  return `${executionId}:turn-${iteration}`;
}

export function toWireCallId({ executionId, callId }: CallReference): string {
  return `${executionId}:${callId}`;
}

/** @returns undefined for a call that none of Bolide's runs made */
export function parseWireCallId(id: string): CallReference | undefined {
  const match = /^([0-9a-f-]{36}(?:-\d+)?):(.+)$/su.exec(id);
  const [, executionId, callId] = match ?? [];
  return executionId === undefined || callId === undefined ? undefined : { executionId, callId };
}

export interface InterruptReference extends CallReference {
  /** SHA-256 of the arguments that were shown, in hexadecimal: an answer covers these and no others. */
  readonly argumentsHash: string;
  /** For a call under review: when the attempt began, in milliseconds since the epoch. */
  readonly startTime?: number | undefined;
}

export function toInterruptId({ argumentsHash, startTime, ...call }: InterruptReference): string {
  return `${toWireCallId(call)}:${argumentsHash}${startTime === undefined ? '' : `:${startTime}`}`;
}

export function parseInterruptId(id: string): InterruptReference | undefined {
  const [, wireId, argumentsHash, startTime] = /^(.+):([0-9a-f]{64})(?::([0-9]{1,16}))?$/su.exec(id) ?? [];
  const call = wireId === undefined ? undefined : parseWireCallId(wireId);
  if (call === undefined || argumentsHash === undefined) return undefined;
  return {
    ...call,
    argumentsHash,
    ...omitUndefined({ startTime: startTime === undefined ? undefined : Number(startTime) }),
  };
}
