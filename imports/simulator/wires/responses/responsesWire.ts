/** The Responses wire of the simulator. */
import type { WireSimulator } from '../WireSimulator';
import { checkReasoningSeals, checkResponsesInput } from './checkResponsesInput';
import { readResponses } from './readResponses';
import { streamResponses } from './streamResponses';
import { writeResponses } from './writeResponses';

export const responsesWire: WireSimulator = {
  check: checkResponsesInput,
  checkSeals: checkReasoningSeals,
  read: readResponses,
  write: writeResponses,
  stream: streamResponses,
};
