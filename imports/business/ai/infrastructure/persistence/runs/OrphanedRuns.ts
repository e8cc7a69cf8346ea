/**
 * Claims many orphaned runs with as few commands as a few runs need. Each document still changes by a compare-and-set
 * of its own; a token that no other claim has says afterwards which of them did.
 */
import { randomUUID } from 'node:crypto';
import { UnreadableRunError } from '../../../domain/errors/UnreadableRunError';
import type { DocumentCollection } from '../../../../../database/DocumentCollection';
import type { ClaimedStoredRun, OrphanClaim } from '../../../domain/interfaces/RunStore';
import type { RunLease } from '../../../domain/types/RunRecords';
import { claimModifier, UNFINISHED } from './runClaims';
import type { RunDocument, ToolCallDocument } from './runDocuments';
import type { RunReader } from './RunReader';

export class OrphanedRuns {
  private readonly runs: DocumentCollection<RunDocument>;
  private readonly calls: DocumentCollection<ToolCallDocument>;
  private readonly reader: RunReader;

  constructor(runs: DocumentCollection<RunDocument>, calls: DocumentCollection<ToolCallDocument>, reader: RunReader) {
    this.runs = runs;
    this.calls = calls;
    this.reader = reader;
  }

  /** @returns as `RunStore.claimOrphans` does */
  async claim(claims: readonly OrphanClaim[], owner: string): Promise<ReadonlyMap<string, ClaimedStoredRun | Error>> {
    const claimed = new Map<string, ClaimedStoredRun | Error>();
    const alike = Map.groupBy(claims, ({ lease, suspicion }) => JSON.stringify([lease.fence, suspicion]));
    for (const group of alike.values())
      for (const [executionId, run] of await this.claimAlike(group, owner)) claimed.set(executionId, run);
    return claimed;
  }

  async clearTakeovers(leases: readonly RunLease[]): Promise<void> {
    for (const group of Map.groupBy(leases, ({ fence, owner }) => `${fence} ${owner}`).values()) {
      const [{ fence, owner } = { fence: 0, owner: '' }] = group;
      const _id = { $in: group.map(({ executionId }) => executionId) };
      const selector = { _id, fence, owner, state: { $in: UNFINISHED } };
      await this.runs.update(selector, { $set: { takeovers: 0 } }, { multi: true });
    }
  }

  /** @param claims with the same fence and suspicion */
  private async claimAlike(
    claims: readonly OrphanClaim[],
    owner: string,
  ): Promise<ReadonlyMap<string, ClaimedStoredRun | Error>> {
    const [first] = claims;
    if (first === undefined) return new Map();
    const fence = first.lease.fence + 1;
    const executionIds = await this.own(claims, owner, fence);
    // Read the calls only after the old owners can no longer write to them.
    await this.calls.update(
      { executionId: { $in: executionIds }, fence: { $lt: fence } },
      { $set: { fence } },
      { multi: true },
    );
    const read = await this.reader.readAll(executionIds);
    return new Map(
      executionIds.flatMap((executionId): [string, ClaimedStoredRun | Error][] => {
        // It was removed since, or the key of its content was.
        const stored = read.get(executionId) ?? new UnreadableRunError(executionId, undefined);
        if (stored instanceof Error) return [[executionId, stored]];
        const { run } = stored;
        // Another process was faster.
        if (run.owner !== owner || run.fence !== fence) return [];
        return [[executionId, { ...stored, lease: { executionId, userId: run.userId, owner, fence } }]];
      }),
    );
  }

  /** @returns the ids of the runs that have this owner and fence now because of this claim */
  private async own(claims: readonly OrphanClaim[], owner: string, fence: number): Promise<readonly string[]> {
    const executionIds = claims.map(({ lease }) => lease.executionId);
    const { $set, ...modifier } = claimModifier({ owner, fence }, 'orphaned', claims[0]?.suspicion);
    const claimToken = randomUUID();
    const claimed = await this.runs.update(
      { _id: { $in: executionIds }, fence: fence - 1, state: { $in: UNFINISHED } },
      { ...modifier, $set: { ...$set, claimToken } },
      { multi: true },
    );
    if (claimed === executionIds.length || claimed === 0) return claimed === 0 ? [] : executionIds;
    const found = await this.runs.find({ _id: { $in: executionIds }, claimToken }, { fields: { _id: 1 } });
    return found.map(({ _id }) => _id);
  }
}
