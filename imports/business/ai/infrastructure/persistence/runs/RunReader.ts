/** Reads runs with their calls, one or many at once, and says of which one it was that it cannot be read. */
import { isStoreOutage } from '../../../domain/errors/LLMErrors';
import { UnreadableRunError } from '../../../domain/errors/UnreadableRunError';
import type { DocumentCollection, FindOptions } from '../../../../../database/DocumentCollection';
import type { StoredRun } from '../../../domain/interfaces/RunStore';
import type { RunRecord } from '../../../domain/types/RunRecords';
import { UnreadableDocumentError } from '../../../../../database/databaseErrors';
import { fromCallDocuments, fromRunDocument, recordedCalls } from './runDocuments';
import type { RunDocument, ToolCallDocument } from './runDocuments';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { storedMessages } from './DocumentRunMessages';
import { CALL_VERSION_FIELDS, RUN_VERSION_FIELDS, runVersion } from './runVersion';
import { wholeTranscript } from './RunTranscripts';
import type { RunItemsDocument, RunTranscripts } from './RunTranscripts';

const OLDEST_FIRST = { createdAt: 1, _id: 1 } as const;

export class RunReader {
  private readonly runs: DocumentCollection<RunDocument>;
  private readonly calls: DocumentCollection<ToolCallDocument>;
  private readonly transcripts: RunTranscripts;

  constructor(
    runs: DocumentCollection<RunDocument>,
    calls: DocumentCollection<ToolCallDocument>,
    transcripts: RunTranscripts,
  ) {
    this.runs = runs;
    this.calls = calls;
    this.transcripts = transcripts;
  }

  /** @throws UnreadableRunError; what the database throws, which may pass */
  async read(executionId: string, options: Pick<FindOptions, 'fields'> = {}): Promise<StoredRun | undefined> {
    try {
      const run = await this.runs.findOne({ _id: executionId }, options);
      if (run === undefined) return undefined;
      const calls = await this.calls.find({ executionId }, { sort: OLDEST_FIRST });
      return toStoredRun(run, calls, await this.transcripts.partsOf(run));
    } catch (error) {
      throw error instanceof UnreadableDocumentError ? new UnreadableRunError(executionId, error) : error;
    }
  }

  /**
   * @returns by execution id; an error for a run that cannot be read
   * @throws what the database throws when it cannot be reached
   */
  async readAll(executionIds: readonly string[]): Promise<ReadonlyMap<string, StoredRun | Error>> {
    try {
      return await this.readTogether(executionIds);
    } catch (error) {
      if (isStoreOutage(error)) throw error;
      // One of them is why.
      return this.readOneByOne(executionIds);
    }
  }

  async versions(executionIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const [runs, found] = await Promise.all([
      this.runs.find({ _id: { $in: executionIds } }, { fields: RUN_VERSION_FIELDS }),
      this.calls.find({ executionId: { $in: executionIds } }, { sort: OLDEST_FIRST, fields: CALL_VERSION_FIELDS }),
    ]);
    const calls = Map.groupBy(found, ({ executionId }) => executionId);
    return new Map(runs.map((run) => [run._id, runVersion(run, calls.get(run._id) ?? [])]));
  }

  /** @throws UnreadableRunError */
  async toRecord(run: RunDocument): Promise<RunRecord> {
    const parts = await this.transcripts.partsOf(run);
    return readable(run._id, () => toRecord(run, parts));
  }

  private async readTogether(executionIds: readonly string[]): Promise<ReadonlyMap<string, StoredRun | Error>> {
    const runs = await this.runs.find({ _id: { $in: executionIds } });
    const found = await this.calls.find({ executionId: { $in: executionIds } }, { sort: OLDEST_FIRST });
    const calls = Map.groupBy(found, ({ executionId }) => executionId);
    const parts = Map.groupBy(await this.transcripts.partsOfAll(runs), ({ executionId }) => executionId);
    const read = (run: RunDocument): StoredRun | Error =>
      orError(() => toStoredRun(run, calls.get(run._id) ?? [], parts.get(run._id) ?? []));
    return new Map(runs.map((run) => [run._id, read(run)]));
  }

  private async readOneByOne(executionIds: readonly string[]): Promise<ReadonlyMap<string, StoredRun | Error>> {
    const read = new Map<string, StoredRun | Error>();
    for (const executionId of executionIds) {
      const run = await this.read(executionId).catch((error: unknown) => asError(error));
      if (run !== undefined) read.set(executionId, run);
    }
    return read;
  }
}

/** @throws UnreadableRunError */
function toStoredRun(
  run: RunDocument,
  calls: readonly ToolCallDocument[],
  parts: readonly RunItemsDocument[],
): StoredRun {
  return readable(run._id, () => ({
    run: toRecord(run, parts),
    calls: fromCallDocuments(calls, run),
    recorded: recordedCalls(calls, run),
    version: runVersion(run, calls),
    ...omitUndefined({ messages: storedMessages(run) }),
  }));
}

function toRecord(run: RunDocument, parts: readonly RunItemsDocument[]): RunRecord {
  return fromRunDocument({ ...run, transcript: wholeTranscript(run, parts) });
}

/** @throws UnreadableRunError */
function readable<T>(executionId: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UnreadableRunError(executionId, error);
  }
}

function orError<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (error) {
    return asError(error);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The store failed.', { cause: error });
}
