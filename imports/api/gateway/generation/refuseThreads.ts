/** Threads are conversations that Anthropic stores: another vendor would answer without them. */
import { isObject } from '../../../business/ai/domain/util/json';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import type { WireName } from '../../../business/ai/domain/types/VendorTypes';
import { HttpError } from '../../http/HttpError';

/**
 * @param wire of the provider that will serve the request
 * @throws HttpError for a thread that another wire would lose
 */
export function refuseThreads({ vendor }: Pick<GenerateOptions, 'vendor'>, wire: WireName | undefined): void {
  if (wire !== 'anthropic_messages' && isObject(vendor?.anthropic?.thread))
    throw new HttpError(400, NO_THREADS, { errorCode: 'thread_unsupported_request' });
}

const NO_THREADS =
  'The requested model has no threads. Send the entire conversation without "thread", or request a model of Anthropic.';
