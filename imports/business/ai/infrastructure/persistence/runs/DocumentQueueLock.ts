/**
 * The lock under which processes choose queued runs, in the document `admission` of `ai_job_states`. It expires, since
 * its holder may die. Whoever takes an expired lock first invalidates the fence of the run that was chosen under it, so
 * that a holder that was only slow cannot claim that run any more. So limits hold whatever the clocks say.
 */
import type { DocumentCollection } from '../../../../../database/DocumentCollection';
import type { HeldQueueLock, QueueLock } from '../../../domain/interfaces/RunStore';
import type { JobStateDocument } from '../jobs/DocumentJobStates';
import type { RunDocument } from './runDocuments';
import { insertNew } from '../../../../../database/insertNew';

const _id = 'admission';
/** Milliseconds, by the clock of the process that takes the lock. */
const LIFETIME_MS = 10_000;

export class DocumentQueueLock implements QueueLock {
  private readonly states: DocumentCollection<JobStateDocument>;
  private readonly runs: DocumentCollection<RunDocument>;

  constructor(states: DocumentCollection<JobStateDocument>, runs: DocumentCollection<RunDocument>) {
    this.states = states;
    this.runs = runs;
  }

  async acquire(owner: string): Promise<HeldQueueLock | undefined> {
    const now = Date.now();
    const found = await this.states.findOne({ _id });
    const { lockedBy, lockedUntil = 0, chosen, revision = 0 } = found ?? {};
    if (lockedBy !== undefined && lockedUntil > now) return undefined;
    const lock = { lockedBy: owner, lockedUntil: now + LIFETIME_MS, revision: revision + 1 };
    if (found === undefined) {
      // Another process may be faster.
      if (!(await insertNew(this.states, { _id, ...lock }))) return undefined;
    } else {
      if (chosen !== undefined)
        await this.runs.update(
          { _id: chosen.executionId, fence: chosen.fence, state: 'queued', owner: '' },
          { $set: { fence: chosen.fence + 1 } },
        );
      const taken = { $set: lock, $unset: { chosen: true } } as const;
      if ((await this.states.update({ _id, revision }, taken)) === 0) return undefined;
    }
    const own = { _id, revision: lock.revision };
    return {
      choose: async ({ executionId, fence }) =>
        (await this.states.update(own, { $set: { chosen: { executionId, fence } } })) === 1,
      release: async () => {
        await this.states.update(own, { $unset: { lockedBy: true, lockedUntil: true, chosen: true } });
      },
    };
  }
}
