/** Reads everything in a data directory and says what is damaged. Changes nothing, and needs no lock. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../databaseErrors';
import { checkDataFile } from '../checkDataFile';
import type { DataFileCheck } from '../checkDataFile';
import { CorruptDataFileError } from '../CorruptDataFileError';
import { DATA_EXTENSION, TEXTS_EXTENSION } from '../dataFiles';
import { codeOf } from '../fileErrors';
import { missingContent, readFileSizes, SIZES_FILE, sizeOf } from '../FileSizes';
import type { FileSizes } from '../FileSizes';
import { referredTexts } from './referredTexts';

export interface DirectoryReport {
  readonly files: readonly FileReport[];
  /** By file, what has been lost of it: `is missing`. */
  readonly missing: ReadonlyMap<string, string>;
  /** `files.json` cannot be read. */
  readonly areSizesDamaged: boolean;
}

export interface FileReport extends DataFileCheck {
  readonly name: string;
  /** Of long texts that can be read. */
  readonly texts: number;
  readonly damagedTexts: readonly { readonly id: string; readonly problem: string }[];
}

/** So many times, what looks damaged is read again: the server may be writing. */
const ATTEMPTS = 3;

export async function inspectDirectory(directory: string): Promise<DirectoryReport> {
  let report = await inspectOnce(directory);
  for (let attempt = 1; attempt < ATTEMPTS && isDamaged(report); attempt += 1) report = await inspectOnce(directory);
  return report;
}

export function isDamaged({ files, missing, areSizesDamaged }: DirectoryReport): boolean {
  return (
    areSizesDamaged ||
    missing.size > 0 ||
    files.some(({ damagedLines, damagedTexts }) => damagedLines.length > 0 || damagedTexts.length > 0)
  );
}

/** @throws StoreError for a directory that doesn't exist */
export async function dataFilesIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).filter((name) => name.endsWith(DATA_EXTENSION)).sort();
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw new StoreError(`There is no directory ${directory}.`, { cause });
    throw cause;
  }
}

export function textsOf(name: string): string {
  return name.slice(0, -DATA_EXTENSION.length) + TEXTS_EXTENSION;
}

async function inspectOnce(directory: string): Promise<DirectoryReport> {
  const names = await dataFilesIn(directory);
  const sizes = await sizesOf(directory);
  const files: FileReport[] = [];
  for (const name of names) {
    const file = join(directory, name);
    const wasClosed = (await sizeOf(file)) === sizes.found.get(name);
    const check = await checkDataFile(file, { wasClosed });
    files.push({ name, ...check, ...(await checkTexts(file, join(directory, textsOf(name)))) });
  }
  return { files, missing: await missingContent(directory, sizes.found), areSizesDamaged: sizes.areDamaged };
}

async function sizesOf(directory: string): Promise<{ readonly found: FileSizes; readonly areDamaged: boolean }> {
  try {
    return { found: (await readFileSizes(directory)) ?? new Map<string, number>(), areDamaged: false };
  } catch (error) {
    if (!(error instanceof CorruptDataFileError) || !error.file.endsWith(SIZES_FILE)) throw error;
    return { found: new Map(), areDamaged: true };
  }
}

async function checkTexts(file: string, directory: string): Promise<Pick<FileReport, 'texts' | 'damagedTexts'>> {
  const problems = new Map<string, string | undefined>();
  const damagedTexts: FileReport['damagedTexts'][number][] = [];
  for (const { id, text } of await referredTexts(file, directory)) {
    if (!problems.has(text.name)) problems.set(text.name, await problemOf(text));
    const problem = problems.get(text.name);
    if (problem !== undefined) damagedTexts.push({ id, problem });
  }
  const texts = [...problems.values()].filter((problem) => problem === undefined).length;
  return { texts, damagedTexts };
}

async function problemOf(text: { load(): Promise<string> }): Promise<string | undefined> {
  try {
    await text.load();
    return undefined;
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    throw error;
  }
}
