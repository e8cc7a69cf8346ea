/** The simulator's Anthropic Messages wire. */
import type { WireSimulator } from '../WireSimulator';
import { checkAnthropicMessages, checkThinkingSignatures } from './checkAnthropicMessages';
import { readAnthropic } from './readAnthropic';
import { streamAnthropic, writeAnthropic } from './writeAnthropic';

export const anthropicWire: WireSimulator = {
  check: checkAnthropicMessages,
  checkSignatures: checkThinkingSignatures,
  read: readAnthropic,
  write: writeAnthropic,
  stream: streamAnthropic,
};
