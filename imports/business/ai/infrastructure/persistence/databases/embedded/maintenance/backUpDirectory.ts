/**
 * Copies the data files of a directory, also while a server writes to them. Data files are appended to, or replaced by
 * new ones; long texts are written before the lines that refer to them. So open files are copied up to the size that
 * all of them had at one moment, and texts before and after it.
 */
import { closeSync, readSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../databaseErrors';
import { checkDataFile, mendCutLine } from '../checkDataFile';
import { CorruptDataFileError } from '../CorruptDataFileError';
import { DATA_EXTENSION, TEXTS_EXTENSION } from '../dataFiles';
import { codeOf } from '../fileErrors';
import { sizeOf, writeFileSizes } from '../FileSizes';
import { dataFilesIn, inspectDirectory, textsOf } from './inspectDirectory';
import { openAtOneMoment } from './openAtOneMoment';
import type { OpenFile } from './openAtOneMoment';
import { referredTexts } from './referredTexts';

export interface Backup {
  readonly files: number;
  readonly records: number;
  readonly texts: number;
}

const ATTEMPTS = 20;
const CHUNK_BYTES = 1_024 * 1_024;

/**
 * @param target a directory that doesn't exist yet; it appears when it is complete
 * @throws StoreError, StorageFullError; CorruptDataFileError for a damaged file, of which no backup is made
 */
export async function backUpDirectory(directory: string, target: string): Promise<Backup> {
  if ((await sizeOf(target)) !== undefined) throw new StoreError(`${target} exists already. Name a new directory.`);
  if ((await dataFilesIn(directory)).length === 0) throw new StoreError(`${directory} contains no data files.`);
  await mkdir(dirname(target), { recursive: true });
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  try {
    const backup = await copyConsistently(directory, partial);
    await writeFileSizes(partial);
    await rename(partial, target);
    return backup;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function copyConsistently(directory: string, target: string): Promise<Backup> {
  for (let attempt = 1; ; attempt += 1) {
    await copyTexts(directory, target);
    const names = await copyDataFiles(directory, target);
    await copyTexts(directory, target);
    const records = await finishDataFiles(directory, target, names);
    const texts = await keepReferredTexts(target, names);
    if (texts !== undefined) return { files: names.length, records, texts };
    // A text came and went between the two copies, or it is missing for good.
    if (attempt < ATTEMPTS) continue;
    const { files } = await inspectDirectory(directory);
    throw new StoreError(
      files.flatMap(({ damagedTexts }) => damagedTexts)[0]?.problem ??
        `Long texts in ${directory} change faster than they can be copied. Try again.`,
    );
  }
}

async function copyTexts(directory: string, target: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith(TEXTS_EXTENSION)) continue;
    await mkdir(join(target, name), { recursive: true, mode: 0o700 });
    const copied = new Set(await readdir(join(target, name)));
    for (const text of await readdir(join(directory, name)))
      if (TEXT_NAME.test(text) && !copied.has(text))
        await copyIfThere(join(directory, name, text), join(target, name, text));
  }
}

const TEXT_NAME = /^[0-9a-f]{64}$/;

async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

async function copyDataFiles(directory: string, target: string): Promise<readonly string[]> {
  for (const name of await readdir(target)) if (name.endsWith(DATA_EXTENSION)) await rm(join(target, name));
  const files = openAtOneMoment(directory);
  try {
    for (const file of files) await copyStart(file, join(target, file.name));
  } finally {
    for (const { descriptor } of files) closeSync(descriptor);
  }
  return files.map(({ name }) => name);
}

/** Through the descriptor, since another file may have taken its name. */
async function copyStart({ descriptor, size }: OpenFile, to: string): Promise<void> {
  const output = await open(to, 'w', 0o600);
  try {
    for (let at = 0; at < size;) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
      const bytesRead = readSync(descriptor, buffer, 0, buffer.length, at);
      // The end of a failed write has been cut off since.
      if (bytesRead === 0) break;
      await output.appendFile(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    await output.sync();
  } finally {
    await output.close();
  }
}

/** A write that was in progress is left out. @returns the number of records */
async function finishDataFiles(directory: string, target: string, names: readonly string[]): Promise<number> {
  let records = 0;
  for (const name of names) {
    const check = await checkDataFile(join(target, name), { wasClosed: false });
    if (check.damagedLines.length > 0) throw new CorruptDataFileError(join(directory, name), check.damagedLines);
    if (check.cutLine !== undefined) await mendCutLine(join(target, name), check.cutLine);
    records += check.records;
  }
  return records;
}

/** Removes the other texts. @returns the number of texts; undefined if one is missing or damaged */
async function keepReferredTexts(target: string, names: readonly string[]): Promise<number | undefined> {
  let count = 0;
  for (const name of names) {
    const directory = join(target, textsOf(name));
    const texts = new Map((await referredTexts(join(target, name), directory)).map(({ text }) => [text.name, text]));
    for (const text of texts.values()) {
      const [loaded] = await Promise.allSettled([text.load()]);
      if (loaded.status === 'rejected') {
        await rm(join(directory, text.name), { force: true });
        return undefined;
      }
    }
    for (const text of (await sizeOf(directory)) === undefined ? [] : await readdir(directory))
      if (!texts.has(text)) await rm(join(directory, text));
    count += texts.size;
  }
  return count;
}
