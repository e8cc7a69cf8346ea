/** The contenders, in the order of the tables. */
import path from 'node:path';
import type { BenchSection } from './workloads';

export interface ContenderRow {
  readonly id: string;
  /** Relative to `contenders/`. TypeScript sources are bundled first unless `loads` says otherwise. */
  readonly file: string;
  /** The packages whose versions are listed in the results. */
  readonly packages: readonly string[];
  /**
   * `package`: from the built package, as CommonJS or as ES modules. `tsx`: from the sources, compiled while they are
   * loaded.
   */
  readonly loads?: 'package' | 'package, ESM' | 'tsx';
  /** Absent: takes part in all. */
  readonly sections?: readonly BenchSection[];
  /** The root of another checkout whose contender this is. */
  readonly checkout?: string;
}

/** The contender that all others are compared with. */
export const REFERENCE = 'raw-sdk';

export const OWN = 'bolide';

/** What other frameworks take part in: growth is measured against the SDK alone, and they have no runs that wait. */
const PEERS: readonly BenchSection[] = ['Calls, streams and loops', 'Import'];

export const CONTENDERS: readonly ContenderRow[] = [
  { id: REFERENCE, file: 'rawSdk.ts', packages: ['openai', '@anthropic-ai/sdk'] },
  { id: 'floor', file: 'floor.ts', packages: [] },
  { id: OWN, file: 'bolide.ts', packages: [] },
  { id: `${OWN}-package`, file: 'bolidePackage.ts', packages: [], loads: 'package' },
  { id: `${OWN}-esm`, file: 'bolidePackage.ts', packages: [], loads: 'package, ESM', sections: ['Import'] },
  { id: `${OWN}-tsx`, file: 'bolide.ts', packages: [], loads: 'tsx', sections: ['Import'] },
  { id: 'ai-sdk', file: 'aiSdk.mjs', packages: ['ai', '@ai-sdk/openai', '@ai-sdk/anthropic'], sections: PEERS },
  {
    id: 'langchain',
    file: 'langchain.mjs',
    packages: ['langchain', '@langchain/openai', '@langchain/anthropic'],
    sections: PEERS,
  },
  { id: 'openai-agents', file: 'openaiAgents.mjs', packages: ['@openai/agents'], sections: PEERS },
];

/** Bolide's contender as another checkout of the repository has it. */
export function contenderOf(checkout: string): ContenderRow {
  return { id: `${OWN}@${path.basename(checkout)}`, file: 'bolide.ts', packages: [], checkout };
}
