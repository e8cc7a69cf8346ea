/** The simulator's generateContent wire. */
import type { WireSimulator } from '../WireSimulator';
import { checkGeminiContents, checkThoughtSignatures } from './checkGeminiContents';
import { upperCaseTypes } from './geminiBody';
import { readGemini } from './readGemini';
import { streamGemini, writeGemini } from './writeGemini';

export const geminiWire: WireSimulator = {
  normalize: upperCaseTypes,
  check: checkGeminiContents,
  checkSignatures: checkThoughtSignatures,
  read: readGemini,
  write: writeGemini,
  stream: streamGemini,
};
