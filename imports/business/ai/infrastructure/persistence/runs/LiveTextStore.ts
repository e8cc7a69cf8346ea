/**
 * `ai_deltas`: pieces of live text as documents of their own, kept for a while. Growing one document would send its
 * whole text with every piece.
 */
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { LiveTextReader } from '../../../domain/interfaces/RunViewReader';
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

const KEPT_SECONDS = 3_600;

export interface LiveTextsPorts {
  readonly collection: DocumentCollection<DeltaDocument>;
  /** Brings in what still waits of a run. */
  readonly flush?: (executionId: string) => void;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'warn'>;
}

export class LiveTextStore implements LiveTextReader {
  private readonly ports: LiveTextsPorts;
  /** Writes under way, by run. */
  private readonly writing = new Map<string, Promise<void>>();

  constructor(ports: LiveTextsPorts) {
    this.ports = ports;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.ports.collection.ensureIndex({ createdAt: 1 }, { expireAfterSeconds: KEPT_SECONDS });
    await this.ports.collection.ensureIndex({ executionId: 1, seq: 1 });
  }

  /** Writes a piece down. One that can't be written is lost: the whole text comes with the answer. */
  readonly take = (event: AgentEvent): void => {
    if (event.type !== 'llm:delta') return;
    const { executionId, seq, kind, delta } = event;
    const document = {
      _id: `${executionId}:${seq}`,
      executionId,
      seq,
      kind,
      text: delta,
      createdAt: new Date(event.at),
    };
    // One after another, so that readers see no gap that is filled later.
    const write = (this.writing.get(executionId) ?? Promise.resolve())
      .then(() => this.ports.collection.insert(document))
      .catch((error: unknown) =>
        (this.ports.logger ?? console).warn(`live text of the run ${executionId} could not be kept`, error),
      )
      .finally(() => {
        if (this.writing.get(executionId) === write) this.writing.delete(executionId);
      });
    this.writing.set(executionId, write);
  };

  async deltas(executionId: string, limit: number): Promise<readonly DeltaView[]> {
    this.ports.flush?.(executionId);
    await this.writing.get(executionId);
    return this.ports.collection.find({ executionId }, { sort: { seq: 1 }, limit, fields: DELTA_FIELDS });
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    await Promise.all(this.writing.values());
  }
}
