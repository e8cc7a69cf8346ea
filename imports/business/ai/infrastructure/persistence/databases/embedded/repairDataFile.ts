/**
 * Checks a NeDB file before NeDB reads it, since NeDB skips lines that it cannot parse and rewrites the file without
 * them. An append that a crash cut off is undone; any other damage prevents the start.
 */
import { open } from 'node:fs/promises';
import { isRecord } from '../query/fieldPaths';
import { StoreError } from '../databaseErrors';
import { LARGE_TEXT_LENGTH, longTextsIn } from './LargeTexts';
import { readLines } from './readLines';

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

export interface DataFileContent {
  /** The number of records, outdated ones included. */
  readonly records: number;
  /** Texts are in it that belong in files of their own. */
  readonly hasLongTexts: boolean;
}

/**
 * Terminates the last line, or cuts it off if it is not a complete record.
 * @throws CorruptDataFileError for any other line that is not a record
 */
export async function repairDataFile(file: string): Promise<DataFileContent> {
  let line = 0;
  let records = 0;
  let hasLongTexts = false;
  for await (const { bytes, start, isComplete } of readLines(file)) {
    line += 1;
    if (bytes.length === 0) continue;
    const record = toRecord(bytes);
    if (record === undefined) {
      if (isComplete) throw new CorruptDataFileError(file, line);
      await editFile(file, (handle) => handle.truncate(start));
      break;
    }
    // If only the newline is missing, the record itself was written.
    if (!isComplete) await editFile(file, (handle) => handle.write('\n', start + bytes.length));
    records += 1;
    hasLongTexts ||= bytes.length > LARGE_TEXT_LENGTH && longTextsIn(record).size > 0;
  }
  return { records, hasLongTexts };
}

/** NeDB writes documents, deletion marks and index definitions. */
function toRecord(bytes: Uint8Array): object | undefined {
  try {
    const record: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isRecord(record) &&
      (isName(record['_id']) || isRecord(record['$$indexCreated']) || isName(record['$$indexRemoved']))
      ? record
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
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
