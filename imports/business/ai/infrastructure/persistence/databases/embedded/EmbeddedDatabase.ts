/**
 * The store of plain Node without a database server: one NeDB file for each collection in a directory that one
 * process has for itself.
 */
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isLLMError } from '../../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { repairDataFile } from './repairDataFile';
import { lockDirectory } from './DirectoryLock';
import type { DirectoryLock } from './DirectoryLock';
import { checkCollectionName } from '../DocumentDatabase';
import type { DocumentDatabase } from '../DocumentDatabase';
import { EmbeddedCollection } from './EmbeddedCollection';
import { NedbFile } from './NedbFile';
import { StoreError } from '../databaseErrors';

export interface EmbeddedOptions {
  /** Made, for its owner alone, if it isn't there. */
  readonly directory: string;
  /** Milliseconds; ten minutes by default. */
  readonly compactEvery?: number;
  /** Milliseconds between looks for expired documents; a minute by default, as in MongoDB. */
  readonly expireEvery?: number;
}

const EXTENSION = '.nedb';

/**
 * Takes the directory's lock, takes back an append that a crash cut off at the end of a file, and loads the files.
 * Survives `kill -9` of this process: what was acknowledged is in the file. Appends are left to the operating
 * system to write to the disk.
 * @throws DirectoryLockedError while another process has the directory, CorruptDataFileError that names file and
 *   line, StoreError for a directory that can't be used
 */
export async function openEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const directory = resolve(options.directory);
  const lock = await claim(directory);
  const database = new EmbeddedDatabase(directory, lock);
  try {
    for (const file of await readdir(directory)) {
      if (file.endsWith(EXTENSION)) await database.load(file.slice(0, -EXTENSION.length));
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  database.startTimers(options);
  return database;
}

async function claim(directory: string): Promise<DirectoryLock> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await lockDirectory(directory);
  } catch (cause) {
    if (isLLMError(cause)) throw cause;
    throw new StoreError(
      `the data directory ${directory} can't be used: ${cause instanceof Error ? cause.message : String(cause)}`,
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

  /** @param lock is held, and released by `close` */
  constructor(directory: string, lock: DirectoryLock) {
    this.directory = directory;
    this.lock = lock;
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    checkCollectionName(name);
    if (this.closing !== undefined) throw new StoreError('the database is closed');
    const known = this.collections.get(name) ?? this.add(name);
    // A name stands for one type of document, which only its users know.
    return known as DocumentCollection<StoredDocument> as DocumentCollection<T>;
  }

  /** Checks and loads the file of a collection. */
  async load(name: string): Promise<void> {
    const path = this.path(name);
    await repairDataFile(path);
    const file = new NedbFile(name, path);
    await file.ready();
    // NeDB writes the file anew, and may do so into one that it finds.
    await chmod(path, 0o600);
    this.collections.set(name, new EmbeddedCollection(file));
  }

  startTimers({ compactEvery = 600_000, expireEvery = 60_000 }: EmbeddedOptions): void {
    this.every(compactEvery, (collection) => collection.compact());
    this.every(expireEvery, (collection) => collection.removeExpired(Date.now()));
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

  private add(name: string): EmbeddedCollection<StoredDocument> {
    const collection = new EmbeddedCollection<StoredDocument>(new NedbFile(name, this.path(name)));
    this.collections.set(name, collection);
    return collection;
  }

  private path(name: string): string {
    return join(this.directory, `${name}${EXTENSION}`);
  }

  /**
   * Housekeeping in the background: it keeps no process alive, and its failure is a warning, since a failed write
   * also fails the next operation.
   */
  private every(
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
