/**
 * A data file of version 0.2: the states of documents one after another, so that the last line with an id counts. A
 * document whose last line were ignored would silently return to an earlier state, so that damaged lines are named.
 */
import { join } from 'node:path';
import type { StoredDocument } from '../../DocumentCollection';
import { decodeDocument } from '../storedText';
import { parseRecord, readDataLine } from './dataLine';
import { readLines } from './readLines';
import type { FileLine } from './readLines';
import { readFileSync } from 'node:fs';
import { codeOf, toFileError } from '../../fileErrors';
import type { TextSource } from '../../query/LargeText';

export const DATA_EXTENSION = '.nedb';
/** The extension of the directory with a collection's long texts. */
export const TEXTS_EXTENSION = '.texts';

export class DataFile {
  readonly collection: string;
  readonly path: string;
  /** Counted from 1. */
  readonly damagedLines: readonly number[];
  private readonly texts: string;
  /** The lines with the last states of documents. */
  private readonly lines: ReadonlySet<number>;

  private constructor(directory: string, collection: string, lines: ReadonlySet<number>, damaged: readonly number[]) {
    this.collection = collection;
    this.path = pathOf(directory, collection);
    this.texts = join(directory, `${collection}${TEXTS_EXTENSION}`);
    this.lines = lines;
    this.damagedLines = damaged;
  }

  /** @param wasClosed the file has the size that it had when it was closed, so that no crash has cut it */
  static async read(directory: string, collection: string, wasClosed: boolean): Promise<DataFile> {
    const lastLines = new Map<string, number>();
    const damaged: number[] = [];
    let at = 0;
    for await (const line of readLines(pathOf(directory, collection))) {
      at += 1;
      if (line.bytes.length === 0) continue;
      const json = readDataLine(line.bytes)?.json;
      const record = json === undefined ? undefined : parseRecord(json);
      if (record === undefined) {
        // What a crash has cut off was not acknowledged.
        if (line.isComplete || wasClosed || !isCut(line)) damaged.push(at);
        continue;
      }
      const id = record['_id'];
      if (typeof id !== 'string') continue;
      if (record['$$deleted'] === true) lastLines.delete(id);
      else lastLines.set(id, at);
    }
    return new DataFile(directory, collection, new Set(lastLines.values()), damaged);
  }

  /** The number of documents. */
  get size(): number {
    return this.lines.size;
  }

  /** Their long texts are in files. */
  async *documents(): AsyncGenerator<StoredDocument> {
    let at = 0;
    for await (const { bytes } of readLines(this.path)) {
      at += 1;
      const json = this.lines.has(at) ? readDataLine(bytes)?.json : undefined;
      if (json === undefined) continue;
      // Version 0.2 has inserted documents only.
      yield decodeDocument(json, (name) => new FileText(join(this.texts, name))) as StoredDocument;
    }
  }
}

function pathOf(directory: string, collection: string): string {
  return join(directory, `${collection}${DATA_EXTENSION}`);
}

/** A line that ends with a checksum and one more byte is complete: its end was changed. */
function isCut({ bytes }: FileLine): boolean {
  return readDataLine(bytes.subarray(0, -1))?.hasChecksum !== true;
}

/** A long text that version 0.2 has kept in a file of its own. */
class FileText implements TextSource {
  readonly place: string;

  /** @param file its path */
  constructor(file: string) {
    this.place = file;
  }

  load(): Promise<Buffer | undefined> {
    return Promise.resolve(this.read());
  }

  read(): Buffer | undefined {
    try {
      return readFileSync(this.place);
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined;
      throw toFileError(`${this.place} could not be read`, cause);
    }
  }
}
