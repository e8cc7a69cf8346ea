/**
 * Moves the long texts of a data file that an earlier version wrote to files of their own, before NeDB reads the data
 * file into memory.
 */
import { checkDataLine, toDataLine } from './dataLine';
import { longTextsIn } from './LargeTexts';
import type { LargeTexts } from './LargeTexts';
import { mapTexts } from './mapTexts';
import { readLines } from './readLines';
import { replaceFile } from './replaceFile';

/**
 * Rewrites the file if it has long texts, with as much memory as its longest line takes. After a crash in between, the
 * next start begins again.
 * @param file checked by `checkDataFile`
 */
export async function moveLargeTexts(file: string, texts: LargeTexts): Promise<void> {
  await replaceFile(file, `${file}.moving`, async (output) => {
    for await (const { bytes } of readLines(file))
      if (bytes.length > 0) await output.appendFile(`${await moved(bytes, texts)}\n`);
  });
}

async function moved(line: Buffer, texts: LargeTexts): Promise<string> {
  const json = checkDataLine(line)?.json ?? '';
  const record: unknown = JSON.parse(json);
  const references = new Map<string, string>();
  for (const long of longTextsIn(record)) references.set(long, await texts.move(long));
  if (references.size === 0) return toDataLine(json);
  return toDataLine(
    JSON.stringify(mapTexts(record, (value) => (typeof value === 'string' ? (references.get(value) ?? value) : value))),
  );
}
