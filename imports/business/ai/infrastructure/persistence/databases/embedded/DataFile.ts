/** Writes the records of a collection to its file: documents, deletion marks and index definitions, one a line. */
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { AppendedFile } from './AppendedFile';
import { toDataLine } from './dataLine';
import { replaceFile } from './replaceFile';

export const FILE_MODE = 0o600;
/** How many lines are serialized before other tasks get a turn, while an entire file is written. */
const LINES_PER_TICK = 200;
/** Characters of the lines that are written at once, while an entire file is. */
const REWRITTEN_AT_ONCE = 1_024 * 1_024;
const nextTick = promisify(setImmediate);

export class DataFile {
  private readonly file: string;
  private readonly verify: () => Promise<void>;
  private readonly appended: AppendedFile;
  private lines = 0;

  /** @param verify called before each write, which fails with its error */
  constructor(file: string, verify: () => Promise<void>) {
    this.file = file;
    this.verify = verify;
    this.appended = new AppendedFile(file, FILE_MODE);
  }

  /** Whether the file ends with what a failed append has written, because it could not be cut off. */
  get hasRemains(): boolean {
    return this.appended.hasRemains;
  }

  /** Creates the file if it doesn't exist. NeDB would empty one that another process has created meanwhile. */
  async create(): Promise<void> {
    await this.verify();
    await (await open(this.file, 'a', FILE_MODE)).close();
  }

  /** All of the records, or after an error none of them. */
  async append(records: readonly object[]): Promise<void> {
    let lines = '';
    for (const record of records) lines += await this.lineOf(record);
    if (lines === '') return;
    await this.verify();
    await this.appended.append(lines);
  }

  /** Replaces the content at once. After an error, it is as it was before. */
  async rewrite(records: Iterable<object>): Promise<void> {
    await this.verify();
    // The next append opens the file that is there by then.
    await this.appended.close();
    await replaceFile(this.file, `${this.file}~`, async (handle) => {
      let lines = '';
      for (const record of records) {
        lines += await this.lineOf(record);
        if (lines.length < REWRITTEN_AT_ONCE) continue;
        await handle.appendFile(lines);
        lines = '';
      }
      await handle.appendFile(lines);
    });
  }

  /** @throws if the file still ends with what a failed append has written */
  async close(): Promise<void> {
    await this.appended.close();
  }

  private async lineOf(record: object): Promise<string> {
    this.lines += 1;
    if (this.lines % LINES_PER_TICK === 0) await nextTick();
    return `${toDataLine(toJson(record))}\n`;
  }
}

/** JSON as NeDB parses it: with its own form of dates. */
function toJson(record: object): string {
  return JSON.stringify(record, function (this: Readonly<Record<string, unknown>>, key, value: unknown) {
    // By now, `value` is a date's ISO string.
    const given = typeof value === 'string' ? this[key] : undefined;
    return given instanceof Date ? { $$date: given.getTime() } : value;
  });
}
