/**
 * `ai_deltas`: every piece of live text as a document of its own, which expires. A single growing document would be
 * published in full with every piece.
 */
import { consoleLogger } from '../../../../../log/consoleLogger';
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { LiveTextReader } from '../../../domain/interfaces/RunViewReader';
import { RUN_END_EVENTS } from '../../../domain/types/AgentEvents';
import type { AgentEvent } from '../../../domain/types/AgentEvents';
import type { DeltaView } from '../../../domain/types/RunViews';

export interface DeltaDocument extends DeltaView, StoredDocument {
  readonly _id: string;
  readonly createdAt: Date;
}

export const DELTAS_COLLECTION = 'ai_deltas';

/** The published fields. */
export const DELTA_FIELDS = { _id: 1, executionId: 1, seq: 1, kind: 1, text: 1 } as const satisfies Record<
  keyof DeltaView,
  1
>;

const TTL_SECONDS = 3_600;

/** No text follows these. */

export interface LiveTextStoreDependencies {
  readonly collection: DocumentCollection<DeltaDocument>;
  /** The runs. Text that arrives after its run was removed is removed as well. Absent: it stays until it expires. */
  readonly runs?: Pick<DocumentCollection<StoredDocument>, 'findOne'>;
  /** Delivers a run's buffered deltas. */
  readonly flush?: (executionId: string) => void;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'warn'>;
}

export class LiveTextStore implements LiveTextReader {
  private readonly dependencies: LiveTextStoreDependencies;
  /** The last write in progress, by run. */
  private readonly pendingWrites = new Map<string, Promise<void>>();

  constructor(dependencies: LiveTextStoreDependencies) {
    this.dependencies = dependencies;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.dependencies.collection.ensureIndex({ createdAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
    await this.dependencies.collection.ensureIndex({ executionId: 1, seq: 1 });
  }

  /** Stores a piece of text. One that cannot be written is lost; the response still contains the entire text. */
  readonly record = (event: AgentEvent): void => {
    const { executionId } = event;
    if (RUN_END_EVENTS.has(event.type)) this.write(executionId, () => this.removeUnlessStored(executionId));
    if (event.type !== 'llm:delta') return;
    const { seq, kind, delta } = event;
    const document = {
      _id: `${executionId}:${seq}`,
      executionId,
      seq,
      kind,
      text: delta,
      createdAt: new Date(event.at),
    };
    this.write(executionId, () => this.dependencies.collection.insert(document));
  };

  /** Writes in order, so that readers see no gap that is filled later. */
  private write(executionId: string, work: () => Promise<void>): void {
    const write = (this.pendingWrites.get(executionId) ?? Promise.resolve())
      .then(work)
      .catch((error: unknown) =>
        (this.dependencies.logger ?? consoleLogger).warn(`Could not store live text of the run ${executionId}.`, error),
      )
      .finally(() => {
        if (this.pendingWrites.get(executionId) === write) this.pendingWrites.delete(executionId);
      });
    this.pendingWrites.set(executionId, write);
  }

  private async removeUnlessStored(executionId: string): Promise<void> {
    const { runs, collection } = this.dependencies;
    if (runs === undefined) return;
    const run = await runs.findOne({ _id: executionId }, { fields: { _id: 1 } });
    if (run === undefined) await collection.remove({ executionId });
  }

  async deltas(executionId: string, limit: number): Promise<readonly DeltaView[]> {
    this.dependencies.flush?.(executionId);
    await this.pendingWrites.get(executionId);
    return this.dependencies.collection.find({ executionId }, { sort: { seq: 1 }, limit, fields: DELTA_FIELDS });
  }

  /** Waits for pending writes. */
  async close(): Promise<void> {
    await Promise.all(this.pendingWrites.values());
  }
}
