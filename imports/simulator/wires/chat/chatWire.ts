/** The simulator's Chat Completions wire. It has no signed reasoning. */
import type { WireSimulator } from '../WireSimulator';
import { failOnMissingArguments, checkChatMessages } from './checkChatMessages';
import { readChat } from './readChat';
import { streamChat, writeChat } from './writeChat';

export const chatWire: WireSimulator = {
  preflight: failOnMissingArguments,
  check: checkChatMessages,
  checkSignatures: () => undefined,
  read: readChat,
  write: writeChat,
  stream: streamChat,
};
