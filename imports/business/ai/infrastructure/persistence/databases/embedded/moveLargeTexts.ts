/**
 * Moves the long texts of a data file that an earlier version wrote to files of their own, before NeDB reads the data
 * file into memory.
 */
import { open, rename } from 'node:fs/promises';
import { escapeLineSeparators } from './escapeLineSeparators';
import { longTextsIn } from './LargeTexts';
import type { LargeTexts } from './LargeTexts';
import { mapTexts } from './mapTexts';
import { readLines } from './readLines';

/**
 * Rewrites the file if it has long texts, with as much memory as its longest line takes. After a crash in between, the
 * next start begins again.
 * @param file checked by `repairDataFile`
 */
export async function moveLargeTexts(file: string, texts: LargeTexts): Promise<void> {
  const temporary = `${file}.moving`;
  const output = await open(temporary, 'w', 0o600);
  try {
    for await (const { bytes } of readLines(file)) await output.appendFile(`${await moved(bytes, texts)}\n`);
    await output.sync();
  } finally {
    await output.close();
  }
  await rename(temporary, file);
}

async function moved(line: Buffer, texts: LargeTexts): Promise<string> {
  const text = line.toString('utf8');
  const record: unknown = JSON.parse(text);
  const references = new Map<string, string>();
  for (const long of longTextsIn(record)) references.set(long, await texts.move(long));
  if (references.size === 0) return text;
  return escapeLineSeparators(
    JSON.stringify(mapTexts(record, (value) => (typeof value === 'string' ? (references.get(value) ?? value) : value))),
  );
}
