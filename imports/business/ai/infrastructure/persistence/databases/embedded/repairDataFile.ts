/**
 * A NeDB file before NeDB reads it: NeDB skips lines that it can't read and writes the file anew without them. Here
 * an append that a crash cut off is taken back, and anything else that is wrong stops the start.
 */
import { open, readFile } from 'node:fs/promises';
import { isRecord } from '../query/fieldPaths';
import { StoreError } from '../databaseErrors';

/** A data file holds something that was never written by this program, or was damaged since. */
export class CorruptDataFileError extends StoreError {
  readonly file: string;
  /** Counted from 1; undefined where the file as a whole can't be read. */
  readonly line: number | undefined;

  constructor(file: string, line: number | undefined, cause?: unknown) {
    super(
      `${file}${line === undefined ? '' : `, line ${line},`} is damaged. Restore it from a backup, or remove ${line === undefined ? 'it' : 'the line'} and lose what it holds.`,
      {
        ...(cause === undefined ? {} : { cause }),
      },
    );
    this.file = file;
    this.line = line;
  }
}

const NEWLINE = 0x0a;

/**
 * Ends the last line, or cuts it off when it is not a whole record.
 * @returns how many bytes were cut off
 * @throws CorruptDataFileError for any other line that is not a record
 */
export async function repairDataFile(file: string): Promise<number> {
  const bytes = await readFile(file);
  const wholeLines = bytes.lastIndexOf(NEWLINE) + 1;
  let line = 1;
  for (let from = 0; from < wholeLines; line += 1) {
    const to = bytes.indexOf(NEWLINE, from);
    if (to > from && !isRecordLine(bytes.subarray(from, to))) throw new CorruptDataFileError(file, line);
    from = to + 1;
  }
  if (wholeLines === bytes.length) return 0;
  // Only the newline may be missing, and then the record was written.
  if (isRecordLine(bytes.subarray(wholeLines))) {
    await change(file, (handle) => handle.write('\n', bytes.length));
    return 0;
  }
  await change(file, (handle) => handle.truncate(wholeLines));
  return bytes.length - wholeLines;
}

/** What NeDB writes: a document, the mark of a deleted one, or the note of an index. */
function isRecordLine(bytes: Uint8Array): boolean {
  try {
    const record: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return (
      isRecord(record) &&
      (isName(record['_id']) || isRecord(record['$$indexCreated']) || isName(record['$$indexRemoved']))
    );
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

async function change(file: string, by: (handle: Awaited<ReturnType<typeof open>>) => Promise<unknown>): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await by(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
