/**
 * Repairs the data files of a directory that no process uses. A flipped bit is corrected. A line that cannot be
 * corrected may be the last state of a document, or its removal, and no kind of document can do without: a run would
 * repeat a tool call, a revoked token would be valid again. So it is left out only if that is asked for.
 */
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkDataLine } from '../dataLine';
import { lockDataDirectory } from '../EmbeddedDatabase';
import { removeFileSizes, SIZES_FILE, sizeOf } from '../FileSizes';
import { readLines } from '../readLines';
import { replaceFile } from '../replaceFile';
import { correctLine } from './correctLine';
import { dataFilesIn, inspectDirectory, isDamaged } from './inspectDirectory';
import type { DirectoryReport, FileReport } from './inspectDirectory';

export interface RepairOptions {
  /** Leaves out lines that cannot be corrected, and accepts what is missing. */
  readonly acceptLoss: boolean;
  /** Names the directory of the copies. */
  readonly now: Date;
}

export interface Repair {
  /** Of the files before they were changed; undefined if none was. */
  readonly copies: string | undefined;
  readonly files: readonly RepairedFile[];
  /** What is still damaged. */
  readonly remaining: DirectoryReport;
}

export interface RepairedFile {
  readonly name: string;
  readonly corrected: readonly number[];
  /** Lines that cannot be corrected: left out with `acceptLoss`. */
  readonly lost: readonly number[];
}

/** @throws DirectoryLockedError, StoreError, StorageFullError */
export async function repairDirectory(directory: string, options: RepairOptions): Promise<Repair> {
  // The lock would create the directory.
  await dataFilesIn(directory);
  const lock = await lockDataDirectory(directory);
  try {
    const report = await inspectDirectory(directory);
    const copies = join(directory, `before-repair-${timestamp(options.now)}`);
    const files: RepairedFile[] = [];
    for (const file of report.files)
      if (file.damagedLines.length > 0) files.push(await repairFile(directory, copies, file, options));
    if (report.areSizesDamaged || (options.acceptLoss && isDamaged(report))) {
      await copy(directory, copies, SIZES_FILE);
      await removeFileSizes(directory);
    }
    const remaining = await inspectDirectory(directory);
    return { copies: (await sizeOf(copies)) === undefined ? undefined : copies, files, remaining };
  } finally {
    await lock.release();
  }
}

/** For the name of a file. */
export function timestamp(now: Date): string {
  return now.toISOString().replaceAll(':', '-');
}

async function repairFile(
  directory: string,
  copies: string,
  { name, damagedLines }: FileReport,
  { acceptLoss }: RepairOptions,
): Promise<RepairedFile> {
  const path = join(directory, name);
  const corrected = new Map<number, Buffer>();
  const lost: number[] = [];
  const damaged = new Set(damagedLines);
  for await (const { line, bytes } of numberedLines(path)) {
    if (!damaged.has(line)) continue;
    const correction = correctLine(bytes);
    if (correction === undefined) lost.push(line);
    else corrected.set(line, correction);
  }
  const result = { name, corrected: [...corrected.keys()], lost };
  if (lost.length > 0 && !acceptLoss) return { ...result, corrected: [] };
  await copy(directory, copies, name);
  await replaceFile(path, `${path}~`, async (handle) => {
    for await (const { line, bytes } of numberedLines(path)) {
      const content = corrected.get(line) ?? (checkDataLine(bytes) === undefined ? undefined : bytes);
      if (content !== undefined) await handle.appendFile(Buffer.concat([content, Buffer.from('\n')]));
    }
  });
  return result;
}

async function* numberedLines(file: string): AsyncGenerator<{ readonly line: number; readonly bytes: Buffer }> {
  let line = 0;
  for await (const { bytes } of readLines(file)) {
    line += 1;
    yield { line, bytes };
  }
}

async function copy(directory: string, copies: string, name: string): Promise<void> {
  await mkdir(copies, { recursive: true, mode: 0o700 });
  if ((await sizeOf(join(directory, name))) !== undefined) await cp(join(directory, name), join(copies, name));
}
