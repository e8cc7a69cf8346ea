/** Llama and other open models: on Groq by default, or behind any Chat Completions API that the base URL names. */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import { groq } from './groq';
import { openAICompatible } from './openAICompatible';
import { OPEN_MODELS } from './openModels';
import type { Vendor } from './Vendor';

export const llama: Vendor = {
  name: 'llama',
  label: VENDOR_LABELS.llama,
  wires: ['chat_completions'],
  defaultModel: 'llama-3.3-70b-versatile',
  storesResponses: false,
  quirks: groq.quirks,
  quirksAtOtherBaseURLs: openAICompatible.quirks,
  reasoningField: 'reasoning',
  models: [],
  foreignModels: [...groq.models, ...OPEN_MODELS],
  modelPatterns: [/^(?:meta-)?llama/i],
  variables: { key: 'LLAMA_API_KEY', model: 'LLAMA_MODEL', baseURL: 'LLAMA_BASE_URL', keyIsOptional: true },
};
