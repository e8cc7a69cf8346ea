/** The generateContent wire of the simulator. */
import type { WireSimulator } from '../WireSimulator';
import { checkGeminiContents, checkThoughtSeals } from './checkGeminiContents';
import { withCapitalTypes } from './geminiBody';
import { readGemini } from './readGemini';
import { streamGemini, writeGemini } from './writeGemini';

export const geminiWire: WireSimulator = {
  canonical: withCapitalTypes,
  check: checkGeminiContents,
  checkSeals: checkThoughtSeals,
  read: readGemini,
  write: writeGemini,
  stream: streamGemini,
};
