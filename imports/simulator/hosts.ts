/**
 * The facts in which the simulated hosts differ: where they live, which key they want, whose error shape they
 * speak, how strict they are.
 */
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
  | 'vertex.generateContent';

export interface Host {
  /** First segment of the path under which the host lives. */
  readonly prefix: string;
  /** What the vendor's SDK takes as base URL, relative to the simulator's. */
  readonly basePath: string;
  readonly keyHeaders: readonly KeyHeader[];
  readonly keyOptional: boolean;
  readonly errors: ErrorShape;
  readonly schemas: Partial<Record<WireName, SchemaName>>;
  /** Refuses top-level fields that its schema doesn't have. */
  readonly refusesUnknownFields: boolean;
  /**
   * Demands that calls and results pair. OpenAI's own hosts do, and compatible ones copied it (DeepSeek, DashScope,
   * Mistral and others answer with the same sentences). For xAI and Groq no such refusal is documented or recorded.
   */
  readonly pairsCalls: boolean;
}

const COMPATIBLE: Host = {
  prefix: 'compatible',
  basePath: '/compatible/v1',
  keyHeaders: ['authorization'],
  keyOptional: true,
  errors: 'openai',
  schemas: { chat_completions: 'openai-compatible.chat-completions', responses: 'openai.responses' },
  refusesUnknownFields: false,
  pairsCalls: true,
};

const HOSTS: Readonly<Partial<Record<VendorName, Host>>> = {
  openai: {
    prefix: 'openai',
    basePath: '/openai/v1',
    keyHeaders: ['authorization'],
    keyOptional: false,
    errors: 'openai',
    schemas: { responses: 'openai.responses', chat_completions: 'openai.chat-completions' },
    refusesUnknownFields: true,
    pairsCalls: true,
  },
  azure_openai: {
    prefix: 'azure',
    basePath: '/azure',
    keyHeaders: ['api-key', 'authorization'],
    keyOptional: false,
    errors: 'azure',
    schemas: { responses: 'openai.responses', chat_completions: 'openai.chat-completions' },
    refusesUnknownFields: true,
    pairsCalls: true,
  },
  anthropic: {
    prefix: 'anthropic',
    basePath: '/anthropic',
    keyHeaders: ['x-api-key', 'authorization'],
    keyOptional: false,
    errors: 'anthropic',
    schemas: { anthropic_messages: 'anthropic.messages' },
    refusesUnknownFields: true,
    pairsCalls: true,
  },
  google: {
    prefix: 'google',
    basePath: '/google',
    keyHeaders: ['x-goog-api-key', 'authorization'],
    keyOptional: false,
    errors: 'google',
    schemas: { gemini: 'gemini.generateContent' },
    refusesUnknownFields: true,
    pairsCalls: true,
  },
  grok: {
    prefix: 'xai',
    basePath: '/xai/v1',
    keyHeaders: ['authorization'],
    keyOptional: false,
    errors: 'xai',
    schemas: { responses: 'openai.responses', chat_completions: 'openai-compatible.chat-completions' },
    refusesUnknownFields: false,
    pairsCalls: false,
  },
  groq: {
    prefix: 'groq',
    basePath: '/groq',
    keyHeaders: ['authorization'],
    keyOptional: false,
    errors: 'groq',
    schemas: { chat_completions: 'groq.chat-completions' },
    refusesUnknownFields: true,
    pairsCalls: false,
  },
  llama: {
    prefix: 'llama',
    basePath: '/llama/v1',
    keyHeaders: ['authorization'],
    keyOptional: false,
    errors: 'openai',
    schemas: { chat_completions: 'openai-compatible.chat-completions' },
    refusesUnknownFields: false,
    pairsCalls: true,
  },
  openai_compatible: COMPATIBLE,
};

/** A vendor without an entry gets an OpenAI-compatible host under its own name. */
export function hostOf(vendor: VendorName): Host {
  return HOSTS[vendor] ?? { ...COMPATIBLE, prefix: vendor, basePath: `/${vendor}/v1`, keyOptional: false };
}
