/**
 * The database of plain Node without a database server: one NeDB file per collection, in a directory that one process
 * has to itself.
 */
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isLLMError } from '../../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { LargeTexts } from './LargeTexts';
import { moveLargeTexts } from './moveLargeTexts';
import { repairDataFile } from './repairDataFile';
import { lockDirectory } from './DirectoryLock';
import type { DirectoryLock } from './DirectoryLock';
import { checkCollectionName } from '../DocumentDatabase';
import type { DocumentDatabase } from '../DocumentDatabase';
import { EmbeddedCollection } from './EmbeddedCollection';
import { NedbFile } from './NedbFile';
import { StoreError } from '../databaseErrors';

export interface EmbeddedDatabaseOptions {
  /** Created if it doesn't exist, readable by its owner only. */
  readonly directory: string;
  /** Milliseconds. Default: ten minutes. */
  readonly compactEvery?: number;
  /** Milliseconds between scans for expired documents. Default: a minute, as in MongoDB. */
  readonly expireEvery?: number;
}

const EXTENSION = '.nedb';
/** Of the directory with a collection's long texts. */
const TEXTS_EXTENSION = '.texts';

/**
 * Locks the directory, undoes appends that a crash cut off, and loads the files. Acknowledged writes survive `kill -9`
 * of this process; when they reach the disk is up to the operating system.
 * @throws DirectoryLockedError while another process uses the directory, CorruptDataFileError that names file and
 *   line, StoreError for an unusable directory
 */
export async function openEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const directory = resolve(options.directory);
  const lock = await lockDataDirectory(directory);
  const database = new EmbeddedDatabase(directory, lock);
  try {
    const files = await readdir(directory);
    for (const file of files) if (file.endsWith(EXTENSION)) await database.load(file.slice(0, -EXTENSION.length));
    // A crash came before the first document.
    for (const file of files)
      if (file.endsWith(TEXTS_EXTENSION) && !files.includes(file.slice(0, -TEXTS_EXTENSION.length) + EXTENSION))
        await rm(join(directory, file), { recursive: true });
  } catch (error) {
    await database.close();
    throw error;
  }
  database.startTimers(options);
  return database;
}

async function lockDataDirectory(directory: string): Promise<DirectoryLock> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await lockDirectory(directory);
  } catch (cause) {
    if (isLLMError(cause)) throw cause;
    throw new StoreError(
      `The data directory ${directory} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
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

  /** Checks and loads a collection's file. */
  async load(name: string): Promise<void> {
    const pathOf = this.pathOf(name);
    const texts = this.textsOf(name);
    const { records, hasLongTexts } = await repairDataFile(pathOf);
    if (hasLongTexts) await moveLargeTexts(pathOf, texts);
    const file = new NedbFile(name, pathOf, texts, records);
    await file.ready();
    // NeDB rewrites the file, possibly through an existing temporary file with other permissions.
    await chmod(pathOf, 0o600);
    this.collections.set(name, new EmbeddedCollection(file));
  }

  startTimers({ compactEvery = 600_000, expireEvery = 60_000 }: EmbeddedDatabaseOptions): void {
    this.runEvery(compactEvery, (collection) => collection.compact());
    this.runEvery(expireEvery, (collection) => collection.removeExpired(Date.now()));
  }

  async purge(): Promise<void> {
    for (const collection of this.collections.values()) await collection.compact();
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await Promise.all([...this.collections.values()].map((collection) => collection.close()));
    await this.lock.release();
  }

  private open(name: string): EmbeddedCollection<StoredDocument> {
    const collection = new EmbeddedCollection<StoredDocument>(
      new NedbFile(name, this.pathOf(name), this.textsOf(name)),
    );
    this.collections.set(name, collection);
    return collection;
  }

  private textsOf(name: string): LargeTexts {
    return new LargeTexts(join(this.directory, name + TEXTS_EXTENSION));
  }

  private pathOf(name: string): string {
    return join(this.directory, `${name}${EXTENSION}`);
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
