/** Jobs of the server's own code. */
import { defineFeature } from '../../host/Feature';
import { ServerJobs } from './application/ServerJobs';
import { JOB_COLLECTIONS } from './collections';
import { openServerJobs } from './infrastructure/DocumentServerJobs';

export const jobs = defineFeature({
  name: 'jobs',
  collections: JOB_COLLECTIONS,
  operations: [],
  open: async ({ database }) => ({ store: await openServerJobs(database) }),
  start({ ai, jobs: queue, logger }, { store }) {
    const serverJobs = new ServerJobs({ store, loop: ai.loop, queueRun: ai.useCases.queueRun, queue, logger });
    ai.recovery.add(serverJobs);
    return { services: {}, serverJobs, leave: () => serverJobs.stop() };
  },
});
