/**
 * `files.json` of a data directory that was closed: the sizes of its data files. A file whose end has been lost since
 * looks like one that a crash cut off; its size tells them apart. The file is removed as long as the database is open.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../query/fieldPaths';
import { CorruptDataFileError } from './CorruptDataFileError';
import { DATA_EXTENSION } from './dataFiles';
import { jsonOfLine, toDataLine } from './dataLine';
import { codeOf } from './fileErrors';
import { replaceFile } from './replaceFile';

export type FileSizes = ReadonlyMap<string, number>;

export const SIZES_FILE = 'files.json';

/** After the last write. */
export async function writeFileSizes(directory: string): Promise<void> {
  const sizes: Record<string, number> = {};
  for (const name of (await readdir(directory)).filter((file) => file.endsWith(DATA_EXTENSION)))
    sizes[name] = (await stat(join(directory, name))).size;
  const file = join(directory, SIZES_FILE);
  await replaceFile(file, `${file}~`, (handle) => handle.writeFile(`${toDataLine(JSON.stringify({ sizes }))}\n`));
}

/**
 * Undefined for a directory that was not closed, or was written by an earlier version.
 * @throws CorruptDataFileError
 */
export async function readFileSizes(directory: string): Promise<FileSizes | undefined> {
  const file = join(directory, SIZES_FILE);
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const sizes = parseSizes(content);
  if (sizes === undefined) throw new CorruptDataFileError(file, []);
  return sizes;
}

export async function removeFileSizes(directory: string): Promise<void> {
  await rm(join(directory, SIZES_FILE), { force: true });
}

/**
 * What is missing, by file: `is missing`. A file that has grown was written by something else, and is judged by its
 * lines alone.
 */
export async function missingContent(directory: string, sizes: FileSizes): Promise<ReadonlyMap<string, string>> {
  const missing = new Map<string, string>();
  for (const [name, size] of sizes) {
    const found = await sizeOf(join(directory, name));
    if (found === undefined) missing.set(name, 'is missing');
    else if (found < size) missing.set(name, `has lost its last ${size - found} bytes since it was closed`);
  }
  return missing;
}

export async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parseSizes(content: string): FileSizes | undefined {
  const line = content.slice(0, -1);
  const json = jsonOfLine(line);
  if (content !== `${line}\n` || json === line || toDataLine(json) !== line) return undefined;
  const parsed: unknown = JSON.parse(json);
  if (!isRecord(parsed) || !isRecord(parsed['sizes'])) return undefined;
  const sizes = Object.entries(parsed['sizes']);
  return new Map(sizes.flatMap(([name, size]) => (typeof size === 'number' ? [[name, size]] : [])));
}
