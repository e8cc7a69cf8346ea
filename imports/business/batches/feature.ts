/** Batches of calls that users start. */
import { defineFeature } from '../../host/Feature';
import { BATCH_OPERATIONS } from './application/batchOperations';
import { Batches } from './application/Batches';
import { UserBatches } from './application/UserBatches';
import { BATCH_COLLECTIONS } from './collections';
import { openUserBatches } from './infrastructure/DocumentUserBatches';

export const batches = defineFeature({
  name: 'batches',
  collections: BATCH_COLLECTIONS,
  operations: BATCH_OPERATIONS,
  open: async ({ database }) => ({ store: await openUserBatches(database) }),
  start({ ai, stores, access, logger }, { store }) {
    const running = new UserBatches({
      store,
      provider: ai.manager,
      batchStore: stores.ports.batches,
      loop: ai.loop,
      logger,
    });
    ai.recovery.add(running);
    return {
      services: { batches: new Batches({ batches: running, store, access, providers: ai.providers, logger }) },
      leave: () => running.stop(),
    };
  },
});
