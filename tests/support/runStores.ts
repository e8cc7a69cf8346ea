/** The run stores that share one contract, each empty and ready. */
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { DATABASES } from './documentDatabases';

export interface TestRunStore {
  readonly store: RunStore;
  close(): Promise<void>;
}

export const RUN_STORES: Readonly<Record<string, () => Promise<TestRunStore>>> = {
  memory: async () => ({ store: new MemoryRunStore(), close: async () => undefined }),
  ...Object.fromEntries(
    Object.entries(DATABASES).map(([name, open]) => [
      name,
      async () => {
        const opened = await open();
        return { store: await openRunStore(opened.database), close: () => opened.close() };
      },
    ]),
  ),
};
