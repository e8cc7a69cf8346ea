/** Waiting for what takes no signal, or may ignore it. */
import { LLMAbortedError } from '../../../domain/errors/LLMErrors';

/**
 * Resolves with the work, whose outcome counts no more once the signal is aborted.
 * @throws LLMAbortedError as soon as the signal is aborted; what the work throws
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(new LLMAbortedError('The run was aborted.', { cause: signal.reason }));
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
