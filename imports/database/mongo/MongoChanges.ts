/**
 * Notifications of changes in a MongoDB, by change streams, which replica sets and sharded clusters have.
 * https://www.mongodb.com/docs/manual/changeStreams/
 */
import type { ChangeStream, Db, Document } from 'mongodb';

export interface MongoChangesOptions {
  /** The database, by the present client. */
  readonly database: () => Pick<Db, 'watch'>;
  /** Chooses among the changes of the database, and what is reported of them. */
  readonly pipeline: readonly Document[];
  readonly onChange: (change: Document) => void;
  /** From now on, changes are reported. Earlier ones may have been missed. */
  readonly onOpen: () => void;
  readonly onClose?: () => void;
}

/** @throws errors of the driver */
export async function hasChangeStreams(database: Pick<Db, 'command'>): Promise<boolean> {
  const { setName, msg } = (await database.command({ hello: 1 })) as {
    readonly setName?: string;
    readonly msg?: string;
  };
  return setName !== undefined || msg === 'isdbgrid';
}

/** Calls back after documents of the collections were inserted or changed, and when that is known again. */
export function watchCollections(
  database: () => Pick<Db, 'watch'>,
  names: readonly string[],
  callback: (name: string) => void,
): MongoChanges {
  return new MongoChanges({
    database,
    pipeline: [
      { $match: { operationType: { $in: ['insert', 'update', 'replace'] }, 'ns.coll': { $in: [...names] } } },
      { $project: { ns: 1 } },
    ],
    onChange: ({ ns }) => callback((ns as { readonly coll: string }).coll),
    onOpen: () => {
      for (const name of names) callback(name);
    },
  });
}

export class MongoChanges {
  private readonly options: MongoChangesOptions;
  private stream: ChangeStream | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(options: MongoChangesOptions) {
    this.options = options;
    this.listen();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    close(this.stream);
  }

  private listen(): void {
    const { database, pipeline, onChange, onOpen, onClose } = this.options;
    const stream = database().watch([...pipeline]);
    this.stream = stream;
    stream.on('change', onChange);
    // The first answer of the server has a token, too.
    stream.once('resumeTokenChanged', onOpen);
    // The driver resumes a stream by itself where that is possible.
    const reopen = (): void => {
      if (this.stream !== stream || this.isStopped) return;
      close(this.stream);
      this.stream = undefined;
      onClose?.();
      this.timer = setTimeout(() => this.listen(), 1_000);
    };
    stream.on('error', reopen);
    stream.on('close', reopen);
  }
}

/** Not awaited, since the server may not answer. */
function close(stream: ChangeStream | undefined): void {
  stream?.close().catch(() => undefined);
}
