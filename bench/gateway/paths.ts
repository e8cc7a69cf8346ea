/** Where each API takes requests, and the provider of the gateway that speaks it. */
import type { BenchWire } from '../workloads';

export const PATHS: Readonly<Record<BenchWire, string>> = {
  openai: '/v1/responses',
  anthropic: '/v1/messages',
  chat: '/v1/chat/completions',
};

export const PROVIDERS = { openai: 'openai', anthropic: 'anthropic', chat: 'groq' } as const;
export type BenchProvider = (typeof PROVIDERS)[BenchWire];
