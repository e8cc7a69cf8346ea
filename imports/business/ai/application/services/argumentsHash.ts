/** What a person approves: a decision counts only for the very arguments that were shown. */
import { createHash } from 'node:crypto';

/** SHA-256 of the arguments' text, in hex. */
export function argumentsHash(argumentsText: string): string {
  return createHash('sha256').update(argumentsText).digest('hex');
}
