/** What an error code means to an operator, and what to do about it. */
import type { ErrorCode } from '../../business/ai/domain/errors/LLMErrors';

export interface ErrorAdvice {
  readonly meaning: string;
  readonly advice: string;
}

export const ERROR_ADVICE: Readonly<Record<ErrorCode, ErrorAdvice>> = {
  'auth-failed': { meaning: 'The vendor refused the credential.', advice: 'Check or replace the key of the provider.' },
  'permission-denied': {
    meaning: 'The account, or the user, may not do this.',
    advice: 'Check who may use the provider, and what its account at the vendor allows.',
  },
  'invalid-request': { meaning: 'Something in the request is wrong.', advice: 'Change what the message names.' },
  'model-not-found': { meaning: 'No provider has this model.', advice: 'Run it again with another model.' },
  'context-too-long': {
    meaning: 'The conversation exceeds the context window of the model.',
    advice: 'Shorten the prompt or the results of tools, or use a model with a larger window.',
  },
  'unsupported-feature': {
    meaning: 'The vendor or the model cannot express the request.',
    advice: 'Use another model, or leave out what the message names.',
  },
  'rate-limited': { meaning: 'Too many requests.', advice: 'Run it again later, or raise the limit.' },
  'quota-exceeded': {
    meaning: 'The account at the vendor has no quota or credit left.',
    advice: 'Add credit at the vendor, or use another provider.',
  },
  overloaded: { meaning: 'The vendor is overloaded.', advice: 'Run it again later, or with another provider.' },
  'vendor-error': {
    meaning: 'The vendor failed.',
    advice: 'Run it again. Give the vendor’s request id to its support.',
  },
  'connection-failed': {
    meaning: 'The vendor could not be reached.',
    advice: 'Check the network and the vendor’s status, then run it again.',
  },
  timeout: { meaning: 'A call or the run took too long.', advice: 'See in the timeline where the time went.' },
  'stream-broken': { meaning: 'The stream of the response ended early.', advice: 'Run it again.' },
  refused: { meaning: 'The model refused to answer.', advice: 'Change the prompt or the instructions.' },
  'content-filtered': {
    meaning: 'A safety filter of the vendor stopped the answer.',
    advice: 'Change the prompt, or use another model.',
  },
  'guardrail-denied': {
    meaning: 'A guardrail of this server denied the request or the response.',
    advice: 'Change the prompt, or the guardrail that the message names.',
  },
  'guardrail-failed': {
    meaning: 'A guardrail of this server failed, so nothing was let through.',
    advice: 'Look in the server’s log for the guardrail’s own error.',
  },
  incomplete: {
    meaning: 'The answer was cut off.',
    advice: 'Raise the limit of output tokens, or shorten the conversation.',
  },
  'invalid-output': {
    meaning: 'The answer does not match the schema, even after a correction.',
    advice: 'Simplify the schema, or use another model.',
  },
  aborted: { meaning: 'The caller cancelled.', advice: 'Nothing is wrong. Run it again if the result is needed.' },
  'budget-exceeded': {
    meaning: 'The next call would have exceeded a budget.',
    advice: 'Raise the budget, or wait until it starts anew.',
  },
  'max-iterations': {
    meaning: 'The run used all its model calls without an answer.',
    advice: 'Look for repetitions in the tool calls, or raise the limit.',
  },
  'tool-loop': {
    meaning: 'Every tool call failed for several turns in a row.',
    advice: 'See the errors of the tool calls.',
  },
  'max-takeovers': {
    meaning: 'The processes that executed the run died again and again.',
    advice: 'See the servers’ logs for crashes at the times of its turns.',
  },
  'missing-package': { meaning: 'An optional package is not installed.', advice: 'Install the package on the server.' },
  'illegal-transition': { meaning: 'A bug in Bolide.', advice: 'Report it with the export of this run.' },
  conflict: { meaning: 'The request contradicts an earlier one.', advice: 'Start it under a new request id.' },
  'store-unavailable': {
    meaning: 'The server cannot reach its database.',
    advice: 'Wait: it goes on by itself once the database is back. See the log of the server for the reason.',
  },
  'tool-failed': { meaning: 'A tool call failed.', advice: 'See the error of the tool call.' },
  'storage-full': {
    meaning: 'You have stored as much as you may, or the disk of the server’s database is full.',
    advice: 'Delete runs that you need no longer. If the disk is full, make room on it; no restart is needed.',
  },
};
