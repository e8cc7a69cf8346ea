/**
 * Google's Gemini API. https://ai.google.dev/api/generate-content, https://ai.google.dev/api/interactions-api
 */
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import MODELS from './models/google.json';
import { toModelRows } from './ModelRow';
import type { Vendor } from './Vendor';

export const google: Vendor = {
  name: 'google',
  label: VENDOR_LABELS.google,
  wires: ['gemini', 'interactions'],
  servesAllWires: true,
  defaultModel: 'gemini-3.5-flash',
  currentModels: [
    'gemini-4-argon',
    'gemini-3.8-flash',
    'gemini-3.6-flash',
    'gemini-3.5-flash',
    'gemini-3.5-flash-lite',
    'gemini-3.1-flash-lite',
    'gemini-2.5-pro',
    'gemini-2.5-flash',
    'gemini-2.5-flash-lite',
  ],
  embeddingModel: 'gemini-embedding-001',
  // https://ai.google.dev/api/embeddings#method:-models.batchembedcontents
  embeddingBatch: { inputs: 100 },
  baseURL: 'https://generativelanguage.googleapis.com',
  storesResponses: false,
  quirks: { fetchesImageUrls: false, promptCache: 'stored' },
  modelPatterns: [/^(?:(?:gemini|gemma|learnlm)-|text-embedding-\d{3}$)/i],
  variables: {
    key: 'GOOGLE_API_KEY',
    // https://github.com/googleapis/js-genai: GOOGLE_API_KEY precedes it there, too.
    sdkKey: 'GEMINI_API_KEY',
    model: 'GOOGLE_MODEL',
    baseURL: 'GOOGLE_BASE_URL',
    sdkBaseURL: 'GOOGLE_GEMINI_BASE_URL',
    wire: 'GOOGLE_WIRE',
  },
  models: toModelRows(MODELS),
};
