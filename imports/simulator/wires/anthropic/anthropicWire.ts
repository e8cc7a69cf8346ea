/** The Messages wire of the simulator. */
import type { WireSimulator } from '../WireSimulator';
import { checkAnthropicMessages, checkThinkingSeals } from './checkAnthropicMessages';
import { readAnthropic } from './readAnthropic';
import { streamAnthropic, writeAnthropic } from './writeAnthropic';

export const anthropicWire: WireSimulator = {
  check: checkAnthropicMessages,
  checkSeals: checkThinkingSeals,
  read: readAnthropic,
  write: writeAnthropic,
  stream: streamAnthropic,
};
