/**
 * Checks a NeDB file before NeDB reads it, since NeDB skips lines that it cannot parse and rewrites the file without
 * them. An append that a crash cut off is undone; any other damage prevents the start.
 */
import { open, readFile } from 'node:fs/promises';
import { isRecord } from '../query/fieldPaths';
import { StoreError } from '../databaseErrors';

/** A data file contains something that this program did not write, or was damaged later. */
export class CorruptDataFileError extends StoreError {
  readonly file: string;
  /** Counted from 1; undefined if the file cannot be read at all. */
  readonly line: number | undefined;

  constructor(file: string, line: number | undefined, cause?: unknown) {
    super(
      `${file}${line === undefined ? '' : `, line ${line},`} is damaged. Restore it from a backup, or remove ${line === undefined ? 'it' : 'the line'} and lose its content.`,
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
 * Terminates the last line, or cuts it off if it is not a complete record.
 * @returns the number of records, outdated ones included
 * @throws CorruptDataFileError for any other line that is not a record
 */
export async function repairDataFile(file: string): Promise<number> {
  const bytes = await readFile(file);
  const endOfLines = bytes.lastIndexOf(NEWLINE) + 1;
  let line = 1;
  let records = 0;
  for (let from = 0; from < endOfLines; line += 1) {
    const to = bytes.indexOf(NEWLINE, from);
    if (to > from) {
      if (!isRecordLine(bytes.subarray(from, to))) throw new CorruptDataFileError(file, line);
      records += 1;
    }
    from = to + 1;
  }
  if (endOfLines === bytes.length) return records;
  // If only the newline is missing, the record itself was written.
  if (isRecordLine(bytes.subarray(endOfLines))) {
    await editFile(file, (handle) => handle.write('\n', bytes.length));
    return records + 1;
  }
  await editFile(file, (handle) => handle.truncate(endOfLines));
  return records;
}

/** NeDB writes documents, deletion marks and index definitions. */
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

async function editFile(
  file: string,
  by: (handle: Awaited<ReturnType<typeof open>>) => Promise<unknown>,
): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await by(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
