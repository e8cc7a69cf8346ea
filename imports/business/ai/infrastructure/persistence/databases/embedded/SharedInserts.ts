/** Single inserts that arrive during a write share the next one, since a write costs more than its documents. */
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';

export interface SharedInsertsPorts {
  /** Runs a write after those before it. */
  readonly enqueue: <Result>(write: () => Promise<Result>) => Promise<Result>;
  /** All of them or none. @throws ConflictError */
  readonly insert: (rows: readonly StoredDocument[]) => Promise<void>;
  /** Whether rows can be inserted at once. */
  readonly canShareWrite: (rows: readonly StoredDocument[]) => boolean;
}

interface Batch {
  readonly rows: StoredDocument[];
  /** The errors of those that could not be inserted. */
  readonly written: Promise<ReadonlyMap<StoredDocument, unknown>>;
}

/** Documents of one write. Together they are one string, whose length is limited. */
const MAX_BATCH = 30;

export class SharedInserts {
  private readonly ports: SharedInsertsPorts;
  /** The last write in the queue, as long as it can take further inserts. */
  private open: Batch | undefined;

  constructor(ports: SharedInsertsPorts) {
    this.ports = ports;
  }

  /** @throws ConflictError, StoreError */
  async insert(row: StoredDocument): Promise<void> {
    const { rows, written } = (this.open ??= this.start());
    rows.push(row);
    if (rows.length === MAX_BATCH) this.close();
    const failures = await written;
    if (failures.has(row)) throw failures.get(row);
  }

  /** Before another write is queued: later inserts come after it. */
  close(): void {
    this.open = undefined;
  }

  private start(): Batch {
    const rows: StoredDocument[] = [];
    const written = this.ports.enqueue(() => {
      if (this.open?.rows === rows) this.close();
      return this.insertAll(rows);
    });
    return { rows, written };
  }

  private async insertAll(rows: readonly StoredDocument[]): Promise<ReadonlyMap<StoredDocument, unknown>> {
    const failures = new Map<StoredDocument, unknown>();
    if (rows.length > 1 && this.ports.canShareWrite(rows)) {
      try {
        await this.ports.insert(rows);
        return failures;
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
    for (const row of rows) {
      try {
        await this.ports.insert([row]);
      } catch (error) {
        failures.set(row, error);
      }
    }
    return failures;
  }
}
