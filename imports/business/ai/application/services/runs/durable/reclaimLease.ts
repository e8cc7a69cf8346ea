/**
 * Claims a run again for the owner that it has, so that writes whose outcome is unknown can no longer take effect. The
 * network may deliver such a write long after those that followed it, which would set the stored run back; it names the
 * fencing token of its time, and every claim raises the token.
 */
import { isFinished } from '../../../../domain/entities/Run';
import type { RunStore } from '../../../../domain/interfaces/RunStore';
import type { RunLease } from '../../../../domain/types/RunRecords';

/**
 * @returns the new lease; undefined if the run has ended or another owner
 * @throws what the store throws; the claim may be repeated with the same lease
 */
export async function reclaimLease(store: RunStore, lease: RunLease): Promise<RunLease | undefined> {
  const { executionId, owner } = lease;
  let claimed = await store.claim(lease, owner, 'hold');
  if (claimed === undefined) {
    // An earlier claim of this owner may have succeeded although its response was lost.
    const { run } = (await store.load(executionId)) ?? {};
    if (run === undefined || isFinished(run.state) || run.owner !== owner || run.fence <= lease.fence) return undefined;
    claimed = await store.claim(run, owner, 'hold');
  }
  return claimed?.lease;
}
