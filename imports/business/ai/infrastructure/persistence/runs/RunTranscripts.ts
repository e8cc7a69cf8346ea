/**
 * `ai_run_items`: what a run's transcript has grown by, a document for each write, until the run ends. A database that
 * rewrites a whole document with each change would otherwise write the transcript again in every turn. A part counts
 * once the run records a length that includes it, so it is added before that write, and one that was added by an owner
 * that had lost the run counts for nothing.
 */
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import { joinJsonArrays } from '../../../domain/util/joinJsonArrays';
import type { RunLease } from '../../../domain/types/RunRecords';

export const RUN_ITEMS = 'ai_run_items';

export interface RunItemsDocument extends StoredDocument {
  readonly executionId: string;
  readonly userId: string;
  /** The fence of the owner that added the items. */
  readonly fence: number;
  /** The place of the first item in the transcript. */
  readonly from: number;
  /** JSON. */
  readonly items: string;
}

/** What a run's document says of its transcript. */
export interface TranscriptFields {
  readonly _id: string;
  /** JSON of the first items, which are the run's input. Absent: it was not read. */
  readonly input?: string;
  /** JSON of the items after the input. Absent: it was not read, or there are none. */
  readonly output?: string;
  /** JSON of the input and the items after it, as earlier versions wrote them. It takes precedence over `output`. */
  readonly transcript?: string;
  /** How many items the transcript has, with its parts. Absent: there are no parts. */
  readonly transcriptItems?: number;
}

export class RunTranscripts {
  private readonly parts: DocumentCollection<RunItemsDocument>;

  constructor(parts: DocumentCollection<RunItemsDocument>) {
    this.parts = parts;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.parts.ensureIndex({ executionId: 1 });
    await this.parts.ensureIndex({ userId: 1 });
  }

  /** Repeated after a failure, with perhaps more items, it replaces what the first attempt added. */
  async add({ executionId, userId, fence }: RunLease, items: readonly Item[], from: number): Promise<void> {
    const part = { executionId, userId, fence, from, items: JSON.stringify(items) };
    await this.parts.upsertMany([{ _id: `${executionId}:${fence}:${from}`, selector: {}, modifier: { $set: part } }]);
  }

  /** @returns JSON of the entire transcript */
  async read(run: TranscriptFields): Promise<string> {
    return wholeTranscript(run, await this.partsOf(run));
  }

  /** @returns none of a run that has its transcript in one piece */
  partsOf({ _id, transcriptItems }: TranscriptFields): Promise<readonly RunItemsDocument[]> {
    return transcriptItems === undefined ? Promise.resolve([]) : this.parts.find({ executionId: _id });
  }

  /** @returns those of all these runs */
  partsOfAll(runs: readonly TranscriptFields[]): Promise<readonly RunItemsDocument[]> {
    const ids = runs.flatMap(({ _id, transcriptItems }) => (transcriptItems === undefined ? [] : [_id]));
    return ids.length === 0 ? Promise.resolve([]) : this.parts.find({ executionId: { $in: ids } });
  }

  async remove(executionIds: readonly string[]): Promise<void> {
    await this.parts.remove({ executionId: { $in: executionIds } });
  }
}

/** @returns JSON. @throws SyntaxError if a part is none */
export function wholeTranscript(
  { input = '[]', output = '[]', transcript = joinJsonArrays(input, output), transcriptItems }: TranscriptFields,
  parts: readonly RunItemsDocument[],
): string {
  if (transcriptItems === undefined) return transcript;
  // This store wrote the fields.
  const items = JSON.parse(transcript) as Item[];
  const first = items.length;
  for (const part of parts.toSorted((left, right) => left.fence - right.fence || left.from - right.from)) {
    // Written before the transcript was written as a whole.
    if (part.from < first) continue;
    // What follows is of an owner that lost the run before it could record it.
    items.length = Math.min(items.length, part.from);
    items.push(...(JSON.parse(part.items) as Item[]));
  }
  return JSON.stringify(items.slice(0, transcriptItems));
}
