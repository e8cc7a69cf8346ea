/**
 * Notifications of changes in a MongoDB, by change streams, which replica sets and sharded clusters have.
 * https://www.mongodb.com/docs/manual/changeStreams/
 */
import type { ChangeStream, Document, MongoClient } from 'mongodb';

export interface MongoChangesOptions {
  /** The present client. */
  readonly client: () => MongoClient;
  readonly names: readonly string[];
  readonly callback: (name: string) => void;
  /** Milliseconds before a stream that has ended is opened again. Default: 1,000. */
  readonly reopenAfter?: number;
}

export class MongoChanges {
  private readonly options: MongoChangesOptions;
  private stream: ChangeStream | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  private constructor(options: MongoChangesOptions) {
    this.options = options;
  }

  /** @returns undefined for a server that has no change streams @throws errors of the driver */
  static async open(options: MongoChangesOptions): Promise<MongoChanges | undefined> {
    const { setName, msg } = (await options.client().db().command({ hello: 1 })) as {
      readonly setName?: string;
      readonly msg?: string;
    };
    if (setName === undefined && msg !== 'isdbgrid') return undefined;
    const changes = new MongoChanges(options);
    changes.listen();
    return changes;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    close(this.stream);
  }

  private listen(): void {
    const { client, names, callback } = this.options;
    const stream = client()
      .db()
      .watch<Document, Document & { readonly ns?: { readonly coll?: string } }>([
        { $match: { operationType: { $in: ['insert', 'update', 'replace'] }, 'ns.coll': { $in: [...names] } } },
        { $project: { ns: 1 } },
      ]);
    this.stream = stream as unknown as ChangeStream;
    stream.on('change', (change) => callback((change as { readonly ns?: { readonly coll?: string } }).ns?.coll ?? ''));
    // The driver resumes a stream by itself where that is possible.
    const reopen = (): void => {
      if (this.stream !== (stream as unknown as ChangeStream) || this.isStopped) return;
      close(this.stream);
      this.stream = undefined;
      this.timer = setTimeout(() => {
        this.listen();
        // Whatever has changed meanwhile.
        for (const name of names) callback(name);
      }, this.options.reopenAfter ?? 1_000);
    };
    stream.on('error', reopen);
    stream.on('close', reopen);
  }
}

/** Not awaited, since the server may not answer. */
function close(stream: ChangeStream | undefined): void {
  stream?.close().catch(() => undefined);
}
