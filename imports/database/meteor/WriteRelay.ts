/**
 * Has the observers of a Meteor app look again when another of its processes has written. Without an oplog, they would
 * notice after ten seconds. While no other process has subscribers, nothing is written.
 */
import { randomBytes } from 'node:crypto';
import type { DocumentCollection, StoredDocument } from '../DocumentCollection';

export const PROCESS_WRITES = 'ai_process_writes';

/** What a process tells the others. */
export interface ProcessWritesDocument extends StoredDocument {
  /** The collections that its subscribers see. */
  readonly published: readonly string[];
  /** The number of its writes by collection, as far as others wanted to know. */
  readonly writes: Readonly<Record<string, number>>;
  readonly expiresAt: Date;
}

export interface WriteRelayPorts {
  readonly collection: DocumentCollection<ProcessWritesDocument>;
  /** The collections that publications of this process have observed so far. */
  readonly published: () => readonly string[];
  /** Has the observers of a collection look again. */
  readonly refresh: (name: string) => void;
  /** Calls back after another process may have written `collection`; undefined if the database does not notify. */
  readonly onChange: (callback: () => void) => Promise<(() => void) | undefined>;
  /** Does work in the context of nobody's method. */
  readonly detached: <T>(work: () => T) => T;
  /** Receives what failed, but outages. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds; see `DEFAULT_TIMES`. */
  readonly times?: Partial<WriteRelayTimes> | undefined;
}

export interface WriteRelayTimes {
  /** Between writes of what this process has written. */
  readonly collect: number;
  /** Between reads of what others wrote, while there are subscribers. Much longer if the database notifies. */
  readonly read: number;
  /** Between reads after another process has written, for as long as `busy`: a run writes again soon. */
  readonly readBusy: number;
  readonly busy: number;
  /** Between looks for other processes with subscribers, while this one writes. */
  readonly look: number;
  /** For how long after the last subscriber has left. */
  readonly linger: number;
  /** How long what a process tells is valid. */
  readonly valid: number;
}

const DEFAULT_TIMES: WriteRelayTimes = {
  collect: 15,
  read: 50,
  readBusy: 15,
  busy: 1_000,
  look: 1_000,
  linger: 10_000,
  valid: 60_000,
};
const SLOWER_WITH_NOTIFICATIONS = 100;

/** Creates the index, too. */
export async function openWriteRelay(ports: WriteRelayPorts): Promise<WriteRelay> {
  await ports.collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return new WriteRelay(ports);
}

export class WriteRelay {
  private readonly self = randomBytes(4).toString('hex');
  private readonly ports: WriteRelayPorts;
  private readonly times: WriteRelayTimes;
  private readonly writes = new Map<string, number>();
  /** Collections with writes that others have not been told of. */
  private readonly pending = new Set<string>();
  /** What other processes want to be told. */
  private wanted: ReadonlySet<string> = new Set();
  /** Milliseconds since the epoch. */
  private lookedAt = 0;
  private flushTimer: NodeJS.Timeout | undefined;
  /** Milliseconds since the epoch. */
  private flushedAt = 0;
  private subscribers = 0;
  /** Milliseconds since the epoch. */
  private leftAt = 0;
  private readTimer: NodeJS.Timeout | undefined;
  private isReadAgain = false;
  /** What was read last, by process and collection. Undefined before the first read. */
  private seen: ReadonlyMap<string, number> | undefined;
  /** Milliseconds since the epoch. */
  private changedAt = 0;
  private announced: { readonly names: string; readonly at: number } = { names: '', at: 0 };
  private notified: Promise<(() => void) | undefined> | undefined;
  private hasNotifications = false;
  private work: Promise<void> = Promise.resolve();
  private isClosed = false;

  constructor(ports: WriteRelayPorts) {
    this.ports = ports;
    this.times = { ...DEFAULT_TIMES, ...ports.times };
  }

  /** Call it after each write. */
  readonly noteWrite = (name: string): void => {
    if (this.isClosed || name === PROCESS_WRITES) return;
    this.pending.add(name);
    const pause = Math.max(0, this.flushedAt + this.times.collect - Date.now());
    this.flushTimer ??= this.ports.detached(() =>
      setTimeout(() => {
        this.flushTimer = undefined;
        this.flushedAt = Date.now();
        this.enqueue(() => this.flush());
      }, pause),
    );
  };

  /** Call it for each subscriber. @returns ends it */
  readonly watch = (): (() => void) => {
    this.subscribers += 1;
    if (this.subscribers === 1) this.begin();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.subscribers -= 1;
      if (this.subscribers === 0) this.leftAt = Date.now();
    };
  };

  /** Tells the others of the last writes. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.readTimer);
    clearTimeout(this.flushTimer);
    (await this.notified)?.();
    this.enqueue(() => this.flush());
    await this.work;
  }

  private get isWatching(): boolean {
    return this.subscribers > 0 || Date.now() - this.leftAt < this.times.linger;
  }

  private begin(): void {
    if (this.isClosed || this.readTimer !== undefined) return;
    this.notified ??= this.ports.detached(async () => {
      const stop = await this.ports.onChange(() => this.readNow());
      this.hasNotifications = stop !== undefined;
      return stop;
    });
    this.notified.catch((error: unknown) => this.ports.onError(error));
    this.seen = undefined;
    this.readNow();
    // Others may have written meanwhile, and not known that somebody here would see it.
    this.ports.detached(() => setTimeout(() => this.refreshAll(), this.times.look + this.times.collect).unref());
  }

  private refreshAll(): void {
    if (!this.isClosed) for (const name of this.ports.published()) this.ports.refresh(name);
  }

  /** After the read in progress, if there is one. */
  private readNow(): void {
    if (this.isClosed || this.isReadAgain) return;
    clearTimeout(this.readTimer);
    this.isReadAgain = true;
    this.enqueue(() => this.read());
  }

  private async read(): Promise<void> {
    this.isReadAgain = false;
    try {
      await this.announce();
      if (this.isWatching) await this.readOthers();
    } finally {
      clearTimeout(this.readTimer);
      this.readTimer = undefined;
      if (this.isWatching && !this.isClosed) this.readTimer = setTimeout(() => this.readNow(), this.pause);
    }
  }

  private get pause(): number {
    const { read, readBusy, busy } = this.times;
    if (this.hasNotifications) return read * SLOWER_WITH_NOTIFICATIONS;
    return Date.now() - this.changedAt < busy ? readBusy : read;
  }

  private async readOthers(): Promise<void> {
    const others = await this.look();
    const seen = new Map(
      others.flatMap(({ _id, writes }) =>
        Object.entries(writes).map(([name, count]) => [`${_id} ${name}`, count] as const),
      ),
    );
    const before = this.seen;
    this.seen = seen;
    if (before === undefined) return;
    const changed = [...seen].filter(([key, count]) => before.get(key) !== count);
    if (changed.length > 0) this.changedAt = Date.now();
    for (const name of new Set(changed.map(([key]) => key.slice(key.indexOf(' ') + 1)))) this.ports.refresh(name);
  }

  private async look(): Promise<readonly ProcessWritesDocument[]> {
    const now = Date.now();
    const others = await this.ports.collection.find({ _id: { $ne: this.self }, expiresAt: { $gt: new Date(now) } });
    this.lookedAt = now;
    this.wanted = new Set(others.flatMap(({ published }) => published));
    return others;
  }

  private async announce(): Promise<void> {
    const names = this.published().join();
    const { names: told, at } = this.announced;
    if (told !== names || (names !== '' && Date.now() - at > this.times.valid / 3)) await this.store();
  }

  private async flush(): Promise<void> {
    const names = [...this.pending];
    this.pending.clear();
    // Subscribers that are known are told before others are looked for.
    const told = await this.tell(names);
    if (Date.now() - this.lookedAt < this.times.look) return;
    await this.look();
    await this.tell(names.filter((name) => !told.includes(name)));
  }

  /** @returns what others want to know of these */
  private async tell(names: readonly string[]): Promise<readonly string[]> {
    const wanted = names.filter((name) => this.wanted.has(name));
    if (wanted.length === 0) return wanted;
    for (const name of wanted) this.writes.set(name, (this.writes.get(name) ?? 0) + 1);
    await this.store();
    return wanted;
  }

  private async store(): Promise<void> {
    const published = this.published();
    const at = Date.now();
    const expiresAt = new Date(at + this.times.valid);
    const $set = { published, writes: Object.fromEntries(this.writes), expiresAt };
    await this.ports.collection.upsertMany([{ _id: this.self, selector: {}, modifier: { $set } }]);
    this.announced = { names: published.join(), at };
  }

  private published(): readonly string[] {
    return this.isWatching && !this.isClosed ? this.ports.published() : [];
  }

  private enqueue(task: () => Promise<void>): void {
    this.work = this.ports.detached(() => this.work.then(task)).catch((error: unknown) => this.ports.onError(error));
  }
}
