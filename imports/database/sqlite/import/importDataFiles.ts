/**
 * Imports the data files of version 0.2 into SQLite. The new database gets its name when it is complete and on the
 * disk; from then on, it is the one that counts, and the old files are put aside. Whatever interrupts that, a later
 * start completes it or begins again, and no file is lost.
 */
import { mkdir, readdir, rename, rm, readFile } from 'node:fs/promises';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredDocument } from '../../DocumentCollection';
import { CorruptDataFileError } from '../../CorruptDataFileError';
import { UnreadableDocumentError } from '../../databaseErrors';
import { loadTexts } from '../../query/loadTexts';
import { lockDataDirectory } from '../lockDataDirectory';
import { openSqliteFile, removeSqliteFile, SQLITE_FILE } from '../openSqliteFile';
import { SqliteCollection } from '../SqliteCollection';
import { toSqliteError } from '../sqliteErrors';
import type { SqliteFile } from '../SqliteFile';
import { syncDirectory } from '../syncDirectory';
import { DATA_EXTENSION, DataFile, TEXTS_EXTENSION } from './DataFile';
import { OLD_LOCK, refuseOldOwner } from './refuseOldOwner';
import { isRecord } from '../../query/fieldPaths';
import { readDataLine } from './dataLine';

export interface ImportOptions {
  /** Receives sentences about the progress. */
  readonly print: (line: string) => void;
  /** Leaves out what is damaged, and names it. Default: nothing is imported then. */
  readonly acceptLoss?: boolean;
}

/** In the data directory: where the old files are afterwards. */
const ASIDE = 'nedb-before-import';
/** Documents that are written at once. */
const BATCH = 500;
/** Milliseconds between two lines about the progress. */
const PROGRESS_MS = 2_000;
const REMEDY =
  'Put a copy in its place, or import without what is damaged: `npx bolide data import --accept-loss`, or ' +
  '`npm run data -- import --accept-loss` in a checkout.';

/** Whether the directory has data files of version 0.2. */
export function hasDataFiles(files: readonly string[]): boolean {
  return files.some((name) => name.endsWith(DATA_EXTENSION));
}

/**
 * Completes an import whose database has its name already.
 * @throws DirectoryLockedError, CorruptDataFileError for damaged files, StoreError, StorageFullError
 */
export async function importDataFiles(directory: string, options: ImportOptions): Promise<void> {
  const lock = lockDataDirectory(directory);
  const path = join(directory, SQLITE_FILE);
  const incomplete = `${path}.importing`;
  try {
    await refuseOldOwner(directory);
    if (!existsSync(path)) {
      await removeSqliteFile(incomplete);
      await importInto(incomplete, directory, options);
      await rename(incomplete, path);
      await syncDirectory(directory);
    }
    options.print(
      `The old files are in ${await setAside(directory)}. Delete them when you do not need them any more: they contain ` +
        'what users have deleted since.',
    );
  } catch (cause) {
    await removeSqliteFile(incomplete);
    throw toSqliteError(`${directory} could not be imported`, path, cause);
  } finally {
    lock.release();
  }
}

async function importInto(target: string, directory: string, options: ImportOptions): Promise<void> {
  const { print } = options;
  const files = await readDataFiles(directory, options);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  print(`Importing ${total} documents of ${files.length} collections from ${directory} into SQLite.`);
  const file = await openSqliteFile(target);
  let imported = 0;
  let printed = performance.now();
  const onBatch = (documents: number): void => {
    imported += documents;
    if (performance.now() - printed < PROGRESS_MS) return;
    printed = performance.now();
    print(`${imported} of ${total} documents are imported.`);
  };
  try {
    for (const source of files) await copyDocuments(source, file, options, onBatch);
    file.emptyLog();
  } finally {
    await file.close();
  }
  print(`${imported} documents are imported.`);
}

/** Reads all files before anything is written. */
async function readDataFiles(directory: string, { print, acceptLoss }: ImportOptions): Promise<readonly DataFile[]> {
  const lose = (error: CorruptDataFileError): void => {
    if (acceptLoss !== true) throw error;
    print(`${error.file} ${error.problem}.`);
  };
  const sizes = new Map<string, number>();
  try {
    for (const [name, size] of await readFileSizes(directory)) sizes.set(name, size);
  } catch (error) {
    if (!(error instanceof CorruptDataFileError)) throw error;
    lose(error);
  }
  for (const [name, size] of sizes) {
    const file = join(directory, name);
    const found = statSync(file, { throwIfNoEntry: false })?.size;
    if (found === undefined) lose(damage(file, 'is missing'));
    else if (found < size) lose(damage(file, `has lost its last ${size - found} bytes since it was closed`));
  }
  const files: DataFile[] = [];
  for (const name of (await readdir(directory)).filter((each) => each.endsWith(DATA_EXTENSION)).toSorted()) {
    const wasClosed = statSync(join(directory, name)).size === sizes.get(name);
    const file = await DataFile.read(directory, name.slice(0, -DATA_EXTENSION.length), wasClosed);
    if (file.damagedLines.length > 0) lose(damage(file.path, `has damaged lines: ${file.damagedLines.join(', ')}`));
    files.push(file);
  }
  return files;
}

async function copyDocuments(
  source: DataFile,
  file: SqliteFile,
  { print, acceptLoss }: ImportOptions,
  onBatch: (documents: number) => void,
): Promise<void> {
  const collection = new SqliteCollection<StoredDocument>(file, source.collection);
  let batch: StoredDocument[] = [];
  const write = async (): Promise<void> => {
    await collection.insertMany(batch);
    onBatch(batch.length);
    batch = [];
  };
  for await (const document of source.documents()) {
    try {
      batch.push(...(await loadTexts([document])));
    } catch (error) {
      if (acceptLoss !== true || !(error instanceof UnreadableDocumentError)) throw error;
      print(`Left out: ${document._id} of ${source.collection}: ${error.message}`);
    }
    if (batch.length === BATCH) await write();
  }
  await write();
}

/** @returns where the old files are */
async function setAside(directory: string): Promise<string> {
  const names = (await readdir(directory)).filter(
    (name) => name.endsWith(DATA_EXTENSION) || name.endsWith(TEXTS_EXTENSION) || name === SIZES_FILE,
  );
  // The files of an earlier import may be there, if a copy was put into the directory since.
  let aside = join(directory, ASIDE);
  for (let number = 2; names.some((name) => existsSync(join(aside, name))); number += 1)
    aside = join(directory, `${ASIDE}-${number}`);
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const name of names) await rename(join(directory, name), join(aside, name));
  await rm(join(directory, OLD_LOCK), { recursive: true, force: true });
  return aside;
}

function damage(file: string, problem: string): CorruptDataFileError {
  return new CorruptDataFileError(file, problem, { remedy: REMEDY });
}

/**
 * `files.json` of a directory that version 0.2 has closed: the sizes of its data files. A file whose end has been lost
 * since looks like one that a crash cut off; its size tells them apart.
 */
const SIZES_FILE = 'files.json';

/** By name. Empty for a directory that was not closed. @throws CorruptDataFileError */
async function readFileSizes(directory: string): Promise<ReadonlyMap<string, number>> {
  const file = join(directory, SIZES_FILE);
  if (!existsSync(file)) return new Map();
  const content = await readFile(file);
  const line = content.at(-1) === NEWLINE ? readDataLine(content.subarray(0, -1)) : undefined;
  const parsed: unknown = line?.hasChecksum === true ? JSON.parse(line.json) : undefined;
  if (!isRecord(parsed) || !isRecord(parsed['sizes'])) throw new CorruptDataFileError(file, 'is damaged');
  return new Map(
    Object.entries(parsed['sizes']).flatMap(([name, size]) => (typeof size === 'number' ? [[name, size]] : [])),
  );
}

const NEWLINE = 0x0a;
