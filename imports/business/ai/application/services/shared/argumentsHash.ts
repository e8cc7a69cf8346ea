/** Identifies the arguments that a person approves: a decision is valid only for exactly those that were shown. */
import { createHash } from 'node:crypto';

/** @returns SHA-256 of the arguments' text, in hexadecimal */
export function argumentsHash(argumentsText: string): string {
  return createHash('sha256').update(argumentsText).digest('hex');
}
