import { LLMAbortedError } from './LLMErrors';

/** The run has another owner, or the store cannot be reached to prove that it has not. The run continues elsewhere. */
export class LeaseLostError extends LLMAbortedError {}
