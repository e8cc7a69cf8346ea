/** Adds to the error for an unknown previous response what to configure, so that chains survive a restart. */
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';

/** Where a client's responses are stored: by default in memory, or in the store of the provider's module. */
export type ResponseStorage = 'client-memory' | 'module-memory' | 'store';

const REMEDIES: Readonly<Record<ResponseStorage, string>> = {
  'client-memory':
    'This client stores responses in memory, where they are lost when the process ends. For chains that survive it, pass "responseStore", or the manager of a module that was created with "responses".',
  'module-memory':
    'The module stores responses in memory, where they are lost when the process ends. For chains that survive it, pass "responses" to createAIModule, such as the result of openResponseStore.',
  store: 'It was deleted, has expired, or belongs to another user. Remove its id from the chain to start anew.',
};

/** @returns the error itself unless it is about an unknown response */
export function explainUnknownResponse(error: LLMError, storage: ResponseStorage): LLMError {
  if (!(error instanceof LLMInvalidRequestError) || error.vendorCode !== 'previous_response_not_found') return error;
  const { vendorCode, status, vendor, requestId, path = 'previous_response_id' } = error;
  return new LLMInvalidRequestError(`${error.message} ${REMEDIES[storage]}`, {
    cause: error,
    path,
    vendorCode,
    status,
    vendor,
    requestId,
  });
}
