/** The errors that end simulated runs, made once: each costs a stack trace. */
import { LeaseLostError } from '../../../imports/business/ai/domain/errors/LeaseLostError';
import { LLMAbortedError, LLMServerError, LLMTimeoutError } from '../../../imports/business/ai/domain/errors/LLMErrors';

export const ABORTED = new LLMAbortedError('The run was cancelled.');
export const TIMED_OUT = new LLMTimeoutError('The run took too long.');
export const MODEL_FAILED = new LLMServerError('The model failed.');
export const LOST = new LeaseLostError('The run continues in another process.');
