/**
 * Checks a data file before NeDB reads it, since NeDB skips lines that it cannot parse. An append that a crash cut off
 * is undone; any other damage prevents the start: the lines are states of documents one after another, so a document
 * whose last line is ignored would silently return to an earlier state.
 */
import { open } from 'node:fs/promises';
import { checkDataLine, parseRecord } from './dataLine';
import { LARGE_TEXT_LENGTH, longTextsIn } from './LargeTexts';
import { readLines } from './readLines';
import type { FileLine } from './readLines';

export interface DataFileCheck {
  /** The number of records, outdated ones included. */
  readonly records: number;
  /** Records of earlier versions have no checksum. */
  readonly hasUncheckedLines: boolean;
  /** Texts are in it that belong in files of their own. */
  readonly hasLongTexts: boolean;
  /** Counted from 1. */
  readonly damagedLines: readonly number[];
  /** The last line, if a crash cut it off: where it begins, and whether only its end is missing. */
  readonly cutLine: { readonly start: number; readonly end: number; readonly isComplete: boolean } | undefined;
}

export interface CheckOptions {
  /** The file has the size that it had when it was closed, so that no crash has cut it. */
  readonly wasClosed: boolean;
}

/** Reads the file, and changes nothing. */
export async function checkDataFile(file: string, { wasClosed }: CheckOptions): Promise<DataFileCheck> {
  let line = 0;
  let records = 0;
  let hasUncheckedLines = false;
  let hasLongTexts = false;
  let cutLine: DataFileCheck['cutLine'];
  const damagedLines: number[] = [];
  for await (const read of readLines(file)) {
    line += 1;
    const { bytes, start, isComplete } = read;
    if (bytes.length === 0) continue;
    const checked = checkDataLine(bytes);
    if (!isComplete && !wasClosed && (checked !== undefined || isCut(read)))
      cutLine = { start, end: start + bytes.length, isComplete: checked !== undefined };
    if (checked === undefined) {
      if (cutLine === undefined) damagedLines.push(line);
      continue;
    }
    records += 1;
    if (checked.checksum !== undefined) continue;
    hasUncheckedLines = true;
    hasLongTexts ||= bytes.length > LARGE_TEXT_LENGTH && longTextsIn(parseRecord(checked.json)).size > 0;
  }
  return { records, hasUncheckedLines, hasLongTexts, damagedLines, cutLine };
}

/** Terminates a line that a crash cut off, or removes it. */
export async function mendCutLine(
  file: string,
  { start, end, isComplete }: NonNullable<DataFileCheck['cutLine']>,
): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    // If only the end is missing, the record itself was written.
    if (isComplete) await handle.write('\n', end);
    else await handle.truncate(start);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A line that ends with a checksum and one more byte is complete: its end was changed. */
function isCut({ bytes }: FileLine): boolean {
  return checkDataLine(bytes.subarray(0, -1))?.checksum === undefined;
}
