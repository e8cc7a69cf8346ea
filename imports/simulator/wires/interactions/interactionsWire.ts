/** The simulator's Interactions wire. */
import type { WireSimulator } from '../WireSimulator';
import { checkInteractions, checkThoughts } from './checkInteractions';
import { readInteractions } from './readInteractions';
import { streamInteraction, writeInteraction } from './writeInteractions';

export const interactionsWire: WireSimulator = {
  check: checkInteractions,
  checkSignatures: checkThoughts,
  read: readInteractions,
  write: writeInteraction,
  stream: streamInteraction,
};
