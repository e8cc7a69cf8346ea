/** Arguments, results and approvals of tool calls as UI messages represent them. */
import { jsonOrText, readJson } from '../../business/ai/domain/util/json';

/** The arguments as a value; text that is not JSON stays text. */
export function parseInput(text: string): unknown {
  return jsonOrText(text === '' ? '{}' : text);
}

/** A value that a tool returned. The model receives strings as they are and everything else as JSON. */
export function parseOutput(text: string): unknown {
  const value = readJson(text);
  // Other text is what a tool formatted itself, or a number that would lose digits.
  return JSON.stringify(value) === text && typeof value !== 'string' ? value : text;
}

/** @param shown what the approval covers: the hash of the arguments; under review, the `startTime` of the attempt */
export function approvalIdOf(callId: string, shown: string | number): string {
  return `${shown}.${callId}`;
}

/** When the attempt began that is under review; undefined for other approvals. */
export function startTimeIn(approvalId: string): number | undefined {
  const time = /^(?<time>[0-9]{1,16})\./.exec(approvalId)?.groups?.['time'];
  return time === undefined ? undefined : Number(time);
}

/** The hash of the arguments that were shown; undefined for calls under review and other ids. */
export function argumentsHashIn(approvalId: string): string | undefined {
  return /^(?<hash>[0-9a-f]{64})\./.exec(approvalId)?.groups?.['hash'];
}
