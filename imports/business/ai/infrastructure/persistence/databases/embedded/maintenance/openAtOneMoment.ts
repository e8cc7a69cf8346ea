/** Opens the data files of a directory that a server may be writing to, with the sizes that they had at one moment. */
import { closeSync, fstatSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_EXTENSION } from '../dataFiles';

export interface OpenFile {
  readonly name: string;
  readonly descriptor: number;
  readonly size: number;
}

/**
 * Without a pause in between: so the sizes rarely change meanwhile, and are taken again if they do. Under writes that
 * never stop for a millisecond, the files may be some milliseconds apart.
 */
export function openAtOneMoment(directory: string): readonly OpenFile[] {
  for (let attempt = 1; ; attempt += 1) {
    const before = stateOf(directory);
    const files = dataFilesNow(directory).map((name): OpenFile => {
      const descriptor = openSync(join(directory, name), 'r');
      return { name, descriptor, size: fstatSync(descriptor).size };
    });
    const opened = files.map(({ name, descriptor, size }) => `${name} ${fstatSync(descriptor).ino} ${size}`).join();
    if (attempt === MAX_SNAPSHOTS || (opened === before && stateOf(directory) === before)) return files;
    for (const { descriptor } of files) closeSync(descriptor);
  }
}

const MAX_SNAPSHOTS = 1_000;

function stateOf(directory: string): string {
  return dataFilesNow(directory)
    .map((name) => {
      const { ino, size } = statSync(join(directory, name));
      return `${name} ${ino} ${size}`;
    })
    .join();
}

function dataFilesNow(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(DATA_EXTENSION))
    .sort();
}
