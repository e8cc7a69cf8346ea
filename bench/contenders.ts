/** Who is measured, and in which order the tables show them. */

export interface ContenderRow {
  readonly id: string;
  /** Below `contenders/`; sources in TypeScript are bundled first, peers run as they are. */
  readonly file: string;
  /** Packages whose versions the results name. */
  readonly packages: readonly string[];
}

/** Everything is measured against this one. */
export const REFERENCE = 'raw-sdk';

export const CONTENDERS: readonly ContenderRow[] = [
  { id: REFERENCE, file: 'rawSdk.ts', packages: ['openai', '@anthropic-ai/sdk'] },
  { id: 'floor', file: 'floor.ts', packages: [] },
  { id: 'bolide', file: 'bolide.ts', packages: [] },
  { id: 'ai-sdk', file: 'aiSdk.mjs', packages: ['ai', '@ai-sdk/openai', '@ai-sdk/anthropic'] },
  { id: 'langchain', file: 'langchain.mjs', packages: ['langchain', '@langchain/openai', '@langchain/anthropic'] },
  { id: 'openai-agents', file: 'openaiAgents.mjs', packages: ['@openai/agents'] },
];
