/** The Chat Completions wire of the simulator. It has no sealed reasoning. */
import type { WireSimulator } from '../WireSimulator';
import { breaksWithoutArguments, checkChatMessages } from './checkChatMessages';
import { readChat } from './readChat';
import { streamChat, writeChat } from './writeChat';

export const chatWire: WireSimulator = {
  stumble: breaksWithoutArguments,
  check: checkChatMessages,
  checkSeals: () => undefined,
  read: readChat,
  write: writeChat,
  stream: streamChat,
};
