/** The run stores that share one contract, each empty and ready. */
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { DATABASES, QUICK_DATABASES } from './documentDatabases';
import type { OpenDatabase } from './documentDatabases';
import { IS_SOAK } from './soak';

export interface TestRunStore {
  readonly store: RunStore;
  close(): Promise<void>;
}

export type OpenRunStore = () => Promise<TestRunStore>;

export const RUN_STORES: Readonly<Record<string, OpenRunStore>> = {
  memory: async () => ({ store: new MemoryRunStore(), close: async () => undefined }),
  ...storesOn(DATABASES),
};

/** For suites that take seconds on each: all of them at full counts, otherwise the default of this Node. */
export const QUICK_RUN_STORES: Readonly<Record<string, OpenRunStore>> = IS_SOAK
  ? RUN_STORES
  : storesOn(QUICK_DATABASES);

function storesOn(databases: Readonly<Record<string, OpenDatabase>>): Record<string, OpenRunStore> {
  return Object.fromEntries(
    Object.entries(databases).map(([name, open]) => [
      name,
      async () => {
        const opened = await open();
        return { store: await openRunStore(opened.database), close: () => opened.close() };
      },
    ]),
  );
}
