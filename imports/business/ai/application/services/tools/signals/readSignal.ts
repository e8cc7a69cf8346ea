/** Checks what a signal is made of before it is stored. */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { MAX_SIGNAL_NAME } from '../signalWait';
import { toStorableResult } from '../toolResult';

/** Characters. */
const MAX_SIGNAL_ID = 128;
/** UTF-8 bytes of JSON text. */
export const MAX_SIGNAL_BYTES = 65_536;

/** @returns the payload as JSON text; undefined if there is none @throws LLMInvalidRequestError */
export function readSignal(name: unknown, payload: unknown, signalId: unknown): string | undefined {
  assertText('name', name, MAX_SIGNAL_NAME);
  assertText('signalId', signalId, MAX_SIGNAL_ID);
  if (payload === undefined) return undefined;
  const storable = toStorableResult({ output: payload });
  const text = 'error' in storable ? undefined : JSON.stringify(storable.output);
  if (text === undefined || Buffer.byteLength(text) > MAX_SIGNAL_BYTES)
    throw new LLMInvalidRequestError(`"payload" must be a JSON value of at most ${MAX_SIGNAL_BYTES} bytes.`, {
      path: 'payload',
    });
  return text;
}

/** @throws LLMInvalidRequestError */
function assertText(path: string, value: unknown, maxLength: number): void {
  if (typeof value === 'string' && value !== '' && value.length <= maxLength && value.isWellFormed()) return;
  throw new LLMInvalidRequestError(`"${path}" must be a text of 1 to ${maxLength} characters.`, { path });
}
