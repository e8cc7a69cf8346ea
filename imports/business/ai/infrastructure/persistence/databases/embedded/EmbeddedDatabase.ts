/**
 * The database of plain Node without a database server: one NeDB file per collection, in a directory that one process
 * has to itself.
 */
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DocumentCollection, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { LargeTexts } from './LargeTexts';
import { moveLargeTexts } from './moveLargeTexts';
import { checkDataFile, mendCutLine } from './checkDataFile';
import type { DataFileCheck } from './checkDataFile';
import { CorruptDataFileError } from './CorruptDataFileError';
import { DATA_EXTENSION, TEXTS_EXTENSION } from './dataFiles';
import { toFileError } from './fileErrors';
import { missingContent, readFileSizes, removeFileSizes, sizeOf, writeFileSizes } from './FileSizes';
import { lockDirectory } from './DirectoryLock';
import type { DirectoryLock } from './DirectoryLock';
import { checkCollectionName } from '../DocumentDatabase';
import type { DocumentDatabase } from '../DocumentDatabase';
import { EmbeddedCollection } from './EmbeddedCollection';
import { NedbFile } from './NedbFile';
import type { NedbFileOptions } from './NedbFile';
import { StoreError } from '../databaseErrors';

export interface EmbeddedDatabaseOptions {
  /** Created if it doesn't exist, readable by its owner only. */
  readonly directory: string;
  /** Milliseconds. Default: ten minutes. */
  readonly compactEvery?: number;
  /** Milliseconds between scans for expired documents. Default: a minute, as in MongoDB. */
  readonly expireEvery?: number;
  /** Milliseconds between signs of life for processes in other containers or on other hosts. Default: two seconds. */
  readonly heartbeatEvery?: number;
}

/**
 * Locks the directory, undoes appends that a crash cut off, and loads the files. Acknowledged writes survive `kill -9`
 * of this process; when they reach the disk is up to the operating system.
 * @throws DirectoryLockedError while another process uses the directory, CorruptDataFileError that names file and
 *   lines, StoreError for an unusable directory, StorageFullError
 */
export async function openEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const directory = resolve(options.directory);
  const lock = await lockDataDirectory(directory, options.heartbeatEvery);
  const database = new EmbeddedDatabase(directory, lock);
  try {
    await database.loadAll();
  } catch (cause) {
    await database.abandon();
    throw toFileError(`The data directory ${directory} cannot be opened`, cause);
  }
  database.startTimers(options);
  return database;
}

/** @throws DirectoryLockedError, StoreError, StorageFullError */
export async function lockDataDirectory(directory: string, heartbeatMs?: number): Promise<DirectoryLock> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await lockDirectory(directory, heartbeatMs);
  } catch (cause) {
    throw toFileError(`The data directory ${directory} cannot be used`, cause);
  }
}

export class EmbeddedDatabase implements DocumentDatabase {
  readonly isExclusive = true;
  private readonly directory: string;
  private readonly lock: DirectoryLock;
  private readonly collections = new Map<string, EmbeddedCollection<StoredDocument>>();
  private readonly timers: NodeJS.Timeout[] = [];
  private closing: Promise<void> | undefined;

  /** @param lock released by `close` */
  constructor(directory: string, lock: DirectoryLock) {
    this.directory = directory;
    this.lock = lock;
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    checkCollectionName(name);
    if (this.closing !== undefined) throw new StoreError('The database is closed.');
    const collection = this.collections.get(name) ?? this.open(name);
    // Every user of a name agrees on its type of document.
    return collection as DocumentCollection<StoredDocument> as DocumentCollection<T>;
  }

  /** Checks all files before it changes any, and loads them. */
  async loadAll(): Promise<void> {
    const files = await readdir(this.directory);
    const names = files.flatMap((file) => (file.endsWith(DATA_EXTENSION) ? file.slice(0, -DATA_EXTENSION.length) : []));
    const contents = await this.check(names);
    // From here on, a crash may cut off the end of a file.
    await removeFileSizes(this.directory);
    for (const [name, { cutLine }] of contents)
      if (cutLine !== undefined) await mendCutLine(this.pathOf(name), cutLine);
    for (const [name, content] of contents) await this.load(name, content);
    // A crash came before the first document.
    for (const file of files)
      if (file.endsWith(TEXTS_EXTENSION) && !names.includes(file.slice(0, -TEXTS_EXTENSION.length)))
        await rm(join(this.directory, file), { recursive: true });
  }

  startTimers({ compactEvery = 600_000, expireEvery = 60_000 }: EmbeddedDatabaseOptions): void {
    this.runEvery(compactEvery, (collection) => collection.compact());
    this.runEvery(expireEvery, (collection) => collection.removeExpired(Date.now()));
  }

  async purge(): Promise<void> {
    for (const collection of this.collections.values()) await collection.compact();
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown(() => this.writeSizes());
    return this.closing;
  }

  /** Closes a database that was not opened completely. */
  abandon(): Promise<void> {
    this.closing ??= this.shutDown(() => Promise.resolve());
    return this.closing;
  }

  private async shutDown(finish: () => Promise<void>): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    try {
      const closed = await Promise.allSettled([...this.collections.values()].map((collection) => collection.close()));
      const failed = closed.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      await finish();
    } finally {
      await this.lock.release();
    }
  }

  /** Without the sizes, the next start takes the files for those of a process that was killed. */
  private async writeSizes(): Promise<void> {
    try {
      await this.lock.verify();
      await writeFileSizes(this.directory);
    } catch (cause) {
      process.emitWarning(toFileError(`The sizes of the files in ${this.directory} could not be written`, cause));
    }
  }

  private async check(names: readonly string[]): Promise<ReadonlyMap<string, DataFileCheck>> {
    const sizes = await readFileSizes(this.directory);
    for (const [file, problem] of await missingContent(this.directory, sizes ?? new Map()))
      throw new CorruptDataFileError(join(this.directory, file), [], problem);
    const contents = new Map<string, DataFileCheck>();
    for (const name of names) {
      const file = this.pathOf(name);
      const wasClosed = (await sizeOf(file)) === sizes?.get(`${name}${DATA_EXTENSION}`);
      const content = await checkDataFile(file, { wasClosed });
      if (content.damagedLines.length > 0) throw new CorruptDataFileError(file, content.damagedLines);
      contents.set(name, content);
    }
    return contents;
  }

  private async load(name: string, { records, hasUncheckedLines, hasLongTexts }: DataFileCheck): Promise<void> {
    const path = this.pathOf(name);
    if (hasLongTexts) await moveLargeTexts(path, this.textsOf(name));
    const file = this.fileOf(name, { records, isRewritten: hasUncheckedLines && !hasLongTexts });
    await file.ready();
    // The file may have other permissions, and a file of another owner could not be written later.
    await chmod(path, 0o600);
    this.collections.set(name, new EmbeddedCollection(file));
  }

  private open(name: string): EmbeddedCollection<StoredDocument> {
    const collection = new EmbeddedCollection<StoredDocument>(this.fileOf(name));
    this.collections.set(name, collection);
    return collection;
  }

  private fileOf(name: string, options: Pick<NedbFileOptions, 'records' | 'isRewritten'> = {}): NedbFile {
    const verify = (): Promise<void> => this.lock.verify();
    return new NedbFile({ ...options, name, file: this.pathOf(name), texts: this.textsOf(name), verify });
  }

  private textsOf(name: string): LargeTexts {
    return new LargeTexts(join(this.directory, name + TEXTS_EXTENSION));
  }

  private pathOf(name: string): string {
    return join(this.directory, `${name}${DATA_EXTENSION}`);
  }

  /**
   * Background maintenance. It doesn't keep the process alive, and a failure is only a warning, since a failed write
   * also fails the next operation.
   */
  private runEvery(
    milliseconds: number,
    work: (collection: EmbeddedCollection<StoredDocument>) => Promise<unknown>,
  ): void {
    const run = async (): Promise<void> => {
      for (const collection of this.collections.values()) await work(collection);
    };
    const timer = setInterval(() => {
      run().catch((error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)));
    }, milliseconds);
    timer.unref();
    this.timers.push(timer);
  }
}
