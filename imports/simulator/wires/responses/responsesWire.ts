/** The simulator's Responses wire. */
import type { WireSimulator } from '../WireSimulator';
import { checkReasoningSignatures, checkResponsesInput } from './checkResponsesInput';
import { readResponses } from './readResponses';
import { streamResponses } from './streamResponses';
import { writeResponses } from './writeResponses';

export const responsesWire: WireSimulator = {
  check: checkResponsesInput,
  checkSignatures: checkReasoningSignatures,
  read: readResponses,
  write: writeResponses,
  stream: streamResponses,
};
