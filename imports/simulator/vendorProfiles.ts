/** What differs between the simulated vendors: their paths, keys, error formats, schemas and strictness. */
import type { VendorName, WireName } from '../business/ai/domain/types/VendorTypes';

export type KeyHeader = 'authorization' | 'x-api-key' | 'api-key' | 'x-goog-api-key';
export type ErrorShape = 'openai' | 'azure' | 'groq' | 'xai' | 'anthropic' | 'google';
export type SchemaName =
  | 'openai.responses'
  | 'openai.chat-completions'
  | 'groq.chat-completions'
  | 'openai-compatible.chat-completions'
  | 'anthropic.messages'
  | 'gemini.generateContent'
  | 'vertex.generateContent'
  | 'gemini.interactions';

export interface VendorProfile {
  /** The first segment of the vendor's paths at the simulator. */
  readonly prefix: string;
  /** The base URL for the vendor's SDK, relative to the simulator's. */
  readonly basePath: string;
  readonly keyHeaders: readonly KeyHeader[];
  readonly keyOptional: boolean;
  readonly errors: ErrorShape;
  readonly schemas: Partial<Record<WireName, SchemaName>>;
  /** Rejects top-level fields that are not in its schema. */
  readonly rejectsUnknownFields: boolean;
  /**
   * Requires every call to have a result and every result a call. OpenAI does, and compatible vendors copied it
   * (DeepSeek, DashScope, Mistral and others respond with the same sentences). For xAI and Groq, no such rejection
   * is documented or recorded.
   */
  readonly requiresPairedCalls: boolean;
  readonly hasEmbeddings: boolean;
  /** Groups of endpoints beyond models: `files` includes batches. */
  readonly offers: readonly string[];
}

const COMPATIBLE: VendorProfile = {
  prefix: 'compatible',
  basePath: '/compatible/v1',
  keyHeaders: ['authorization'],
  keyOptional: true,
  errors: 'openai',
  schemas: { chat_completions: 'openai-compatible.chat-completions', responses: 'openai.responses' },
  rejectsUnknownFields: false,
  requiresPairedCalls: true,
  hasEmbeddings: true,
  offers: ['images', 'audio', 'moderations'],
};

const VENDOR_PROFILES = {
  openai: {
    prefix: 'openai',
    basePath: '/openai/v1',
    keyHeaders: ['authorization'],
    keyOptional: false,
    errors: 'openai',
    schemas: { responses: 'openai.responses', chat_completions: 'openai.chat-completions' },
    rejectsUnknownFields: true,
    requiresPairedCalls: true,
    hasEmbeddings: true,
    offers: ['files', 'images', 'audio', 'moderations'],
  },
  azure_openai: {
    prefix: 'azure',
    basePath: '/azure',
    keyHeaders: ['api-key', 'authorization'],
    keyOptional: false,
    errors: 'azure',
    schemas: { responses: 'openai.responses', chat_completions: 'openai.chat-completions' },
    rejectsUnknownFields: true,
    requiresPairedCalls: true,
    hasEmbeddings: true,
    offers: ['files', 'images', 'audio'],
  },
  anthropic: {
    prefix: 'anthropic',
    basePath: '/anthropic',
    keyHeaders: ['x-api-key', 'authorization'],
    keyOptional: false,
    errors: 'anthropic',
    schemas: { anthropic_messages: 'anthropic.messages' },
    rejectsUnknownFields: true,
    requiresPairedCalls: true,
    hasEmbeddings: false,
    offers: ['files'],
  },
  google: {
    prefix: 'google',
    basePath: '/google',
    keyHeaders: ['x-goog-api-key', 'authorization'],
    keyOptional: false,
    errors: 'google',
    schemas: { gemini: 'gemini.generateContent', interactions: 'gemini.interactions' },
    rejectsUnknownFields: true,
    requiresPairedCalls: true,
    hasEmbeddings: true,
    offers: [],
  },
  grok: {
    prefix: 'xai',
    basePath: '/xai/v1',
    keyHeaders: ['authorization'],
    keyOptional: false,
    errors: 'xai',
    schemas: { responses: 'openai.responses', chat_completions: 'openai-compatible.chat-completions' },
    rejectsUnknownFields: false,
    requiresPairedCalls: false,
    hasEmbeddings: false,
    offers: ['images'],
  },
  groq: {
    prefix: 'groq',
    basePath: '/groq',
    keyHeaders: ['authorization'],
    keyOptional: false,
    errors: 'groq',
    schemas: { chat_completions: 'groq.chat-completions' },
    rejectsUnknownFields: true,
    requiresPairedCalls: false,
    hasEmbeddings: false,
    offers: ['files', 'audio'],
  },
  llama: {
    prefix: 'llama',
    basePath: '/llama/v1',
    keyHeaders: ['authorization'],
    keyOptional: false,
    errors: 'openai',
    schemas: { chat_completions: 'openai-compatible.chat-completions' },
    rejectsUnknownFields: false,
    requiresPairedCalls: true,
    hasEmbeddings: true,
    offers: [],
  },
  openai_compatible: COMPATIBLE,
} as const satisfies Partial<Record<VendorName, VendorProfile>>;

export type ProfileName = keyof typeof VENDOR_PROFILES;

/** A vendor without a profile of its own is simulated as an OpenAI-compatible one. */
export function profileName(vendor: VendorName): ProfileName {
  return Object.hasOwn(VENDOR_PROFILES, vendor) ? vendor : 'openai_compatible';
}

export function vendorProfile(vendor: VendorName): VendorProfile {
  const profile = VENDOR_PROFILES[profileName(vendor)];
  if (profileName(vendor) === vendor) return profile;
  return { ...profile, prefix: vendor, basePath: `/${vendor}/v1`, keyOptional: false };
}
