/**
 * `files.json` of a directory that version 0.2 has closed: the sizes of its data files. A file whose end has been lost
 * since looks like one that a crash cut off; its size tells them apart.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CorruptDataFileError } from '../../CorruptDataFileError';
import { isRecord } from '../../query/fieldPaths';
import { readDataLine } from './dataLine';

export const SIZES_FILE = 'files.json';

/** By name. Empty for a directory that was not closed. @throws CorruptDataFileError */
export async function readFileSizes(directory: string): Promise<ReadonlyMap<string, number>> {
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
