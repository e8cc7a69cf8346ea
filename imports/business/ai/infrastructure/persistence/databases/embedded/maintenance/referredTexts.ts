/** The long texts that the documents of a data file refer to. */
import type { LargeText } from '../../query/LargeText';
import { isRecord } from '../../query/fieldPaths';
import { checkDataLine, parseRecord } from '../dataLine';
import { LargeTexts } from '../LargeTexts';
import { largeTextsIn } from '../mapTexts';
import { readLines } from '../readLines';

export interface Reference {
  /** Of the document. */
  readonly id: string;
  readonly text: LargeText;
}

/**
 * Ignores damaged lines.
 * @param texts the directory of the texts
 */
export async function referredTexts(file: string, texts: string): Promise<readonly Reference[]> {
  const decoder = new LargeTexts(texts);
  const byId = new Map<string, readonly LargeText[]>();
  for await (const { bytes } of readLines(file)) {
    const json = checkDataLine(bytes)?.json;
    const record = json === undefined ? undefined : parseRecord(json);
    if (!isRecord(record) || typeof record['_id'] !== 'string') continue;
    const id = record['_id'];
    const found = record['$$deleted'] === true ? [] : largeTextsIn(decoder.decode({ ...record, _id: id }));
    if (found.length === 0) byId.delete(id);
    else byId.set(id, found);
  }
  return [...byId].flatMap(([id, found]) => found.map((text) => ({ id, text })));
}
