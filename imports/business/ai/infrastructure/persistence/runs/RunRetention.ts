/**
 * Periodically compacts runs that ended a while ago and removes those that ended long ago. Live text, commands, budgets
 * and heartbeats carry an expiry date, by which the database itself removes them.
 */
import { consoleLogger } from '../../../../../log/consoleLogger';
import { textOfContent } from '../../../domain/entities/Content';
import { isFinished } from '../../../domain/entities/Run';
import type { AnsweredInput, ToolCall } from '../../../domain/entities/Tool';
import type {
  DocumentCollection,
  FindOptions,
  Selector,
  StoredDocument,
} from '../../../../../database/DocumentCollection';
import type { Logger } from '../../../domain/interfaces/Logger';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { Item, LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { StoredCollection } from '../../../../../database/StoredCollection';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { withTexts } from '../../../domain/util/sharedTexts';
import { DocumentRunStore } from './DocumentRunStore';
import { fromCallDocument, RUNS, toCallModifier, TOOL_CALLS } from './runDocuments';
import type { RunDocument, ToolCallDocument } from './runDocuments';
import { RUN_ITEMS, RunTranscripts } from './RunTranscripts';

/** Milliseconds after a run's end. */
export interface RetentionTimes {
  readonly compactAfter: number;
  /** Also ends runs that have been parked for so long. */
  readonly removeAfter: number;
}

export interface RunRetentionOptions {
  /**
   * Ends a parked run, and the runs that its calls have started. Default: ends only the run itself.
   * @param reason the message of its error
   */
  readonly endParked?: ((executionId: string, reason: string) => Promise<unknown>) | undefined;
  readonly times?: Partial<RetentionTimes> | undefined;
  /** The collections whose documents may refer to texts of runs, which they get back first. Default: none. */
  readonly collections?: readonly Pick<StoredCollection, 'name' | 'sharesTexts'>[] | undefined;
  /** Milliseconds between two sweeps. Default: an hour. */
  readonly intervalMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface SweepResult {
  readonly compacted: number;
  readonly removed: number;
}

const DAY = 86_400_000;
export const DEFAULT_RETENTION: RetentionTimes = { compactAfter: 7 * DAY, removeAfter: 30 * DAY };
const HOUR = 3_600_000;
/** Runs that are removed together: each write to an index of SQLite costs a page, which they share. */
const REMOVED_TOGETHER = 200;
/** Runs whose messages are in memory at a time. */
const COMPACTED_TOGETHER = 50;
const WITHOUT_FIELDS = { _id: 1 } as const;

type RetainedRun = RunDocument & { readonly compactedAt?: number };

export class RunRetention {
  private readonly database: DocumentDatabase;
  private readonly runs: DocumentCollection<RetainedRun>;
  private readonly calls: DocumentCollection<ToolCallDocument>;
  private readonly store: DocumentRunStore;
  private readonly transcripts: RunTranscripts;
  private readonly times: RetentionTimes;
  private readonly options: RunRetentionOptions;
  private readonly now: () => number;
  private timer: ReturnType<typeof setInterval> | undefined;
  private lastSweep: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(database: DocumentDatabase, options: RunRetentionOptions = {}) {
    this.database = database;
    this.runs = database.collection(RUNS);
    this.calls = database.collection(TOOL_CALLS);
    this.store = new DocumentRunStore(database);
    this.transcripts = new RunTranscripts(database.collection(RUN_ITEMS));
    this.times = { ...DEFAULT_RETENTION, ...options.times };
    this.options = options;
    this.now = options.now ?? Date.now;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.runs.ensureIndex({ endedAt: 1 });
    // Runs that are not compacted yet come first.
    await this.runs.ensureIndex({ compactedAt: 1, endedAt: 1 });
  }

  /** Sweeps now and periodically. Several processes may do so at the same time. */
  start(): void {
    this.isStopped = false;
    const sweep = (): void => {
      this.lastSweep = this.lastSweep
        .then(() => this.sweep())
        .then(
          () => undefined,
          (error: unknown) =>
            (this.options.logger ?? consoleLogger).error('Could not compact or remove old runs.', error),
        );
    };
    sweep();
    this.timer = setInterval(sweep, this.options.intervalMs ?? HOUR);
    this.timer.unref();
  }

  /** Resolves once a sweep in progress has stopped. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isStopped = true;
    await this.lastSweep;
  }

  async sweep(): Promise<SweepResult> {
    const now = this.now();
    await this.endParked(now);
    const removed = await this.forEachBatch(
      { endedAt: { $lt: now - this.times.removeAfter } },
      { limit: REMOVED_TOGETHER, fields: WITHOUT_FIELDS },
      (runs) => this.remove(runs.map(({ _id }) => _id)),
    );
    const compacted = await this.forEachBatch(
      { endedAt: { $lt: now - this.times.compactAfter }, compactedAt: { $exists: false } },
      { limit: COMPACTED_TOGETHER, fields: { input: 1, response: 1 } },
      (runs) => this.compact(runs, now),
    );
    return { compacted, removed };
  }

  /**
   * Removes a run that has ended.
   * @returns false for one that has not, or whose result the run that called it has yet to take
   */
  async removeEnded(executionId: string): Promise<boolean> {
    const run = await this.runs.findOne({ _id: executionId }, { fields: { state: 1 } });
    if (run === undefined) return true;
    return isFinished(run.state) && (await this.remove([executionId])).length === 0;
  }

  /** Ends runs that nobody resumed. */
  private async endParked(now: number): Promise<void> {
    const selector = { state: 'waiting', 'parked.at': { $lt: now - this.times.removeAfter } };
    const days = Math.round(this.times.removeAfter / DAY);
    const message = `The run was parked, and nobody resumed it within ${days} days.`;
    const { endParked } = this.options;
    for (const { _id: executionId, fence } of await this.runs.find(selector, { fields: { fence: 1 } })) {
      const end = { state: 'cancelled', endedAt: now, error: { code: 'aborted', message } } as const;
      if (endParked === undefined) await this.store.end({ executionId, fence }, end);
      else await endParked(executionId, message);
    }
  }

  /** @param work returns ids of runs that it left as they were; the selector must not find the others again */
  private async forEachBatch(
    selector: Selector,
    options: Pick<FindOptions, 'limit' | 'fields'>,
    work: (runs: readonly RetainedRun[]) => Promise<readonly string[]>,
  ): Promise<number> {
    let count = 0;
    const left: string[] = [];
    for (;;) {
      const runs = await this.runs.find(left.length === 0 ? selector : { ...selector, _id: { $nin: left } }, {
        sort: { endedAt: 1 },
        ...options,
      });
      if (runs.length === 0 || this.isStopped) return count;
      const leftOfBatch = await work(runs);
      left.push(...leftOfBatch);
      count += runs.length - leftOfBatch.length;
    }
  }

  /** Removes the calls first, so that the next sweep finds the run again if this one is interrupted. */
  private async remove(old: readonly string[]): Promise<readonly string[]> {
    const left = await this.awaitedAmong(old);
    const ids = old.filter((id) => !left.includes(id));
    await this.returnTexts(ids);
    await this.calls.remove({ executionId: { $in: ids } });
    await this.transcripts.remove(ids);
    await this.store.signals.remove(ids);
    await this.runs.remove({ _id: { $in: ids } });
    return left;
  }

  /** Runs that a call has started which may not have taken its result yet: it would start another one. */
  private async awaitedAmong(ids: readonly string[]): Promise<readonly string[]> {
    const runs = await this.runs.find(
      { _id: { $in: ids }, parentExecutionId: { $gt: '' } },
      { fields: { parentExecutionId: 1 } },
    );
    const parents = [...new Set(runs.flatMap(({ parentExecutionId }) => parentExecutionId ?? []))];
    if (parents.length === 0) return [];
    const unfinished = new Set(await this.store.unfinishedAmong(parents));
    return runs.flatMap(({ _id, parentExecutionId = '' }) => (unfinished.has(parentExecutionId) ? _id : []));
  }

  /** Gives the documents that refer to texts of these runs their own. */
  private async returnTexts(ids: readonly string[]): Promise<void> {
    for (const { name, sharesTexts } of this.options.collections ?? []) {
      if (sharesTexts === undefined) continue;
      const { field, run } = sharesTexts;
      const documents = this.database.collection<StoredDocument & Readonly<Record<string, string>>>(name);
      for (const document of await documents.find({ [run]: { $in: ids } })) {
        const { _id, [field]: json = 'null', [run]: executionId = '' } = document;
        const found = await this.runs.findOne({ _id: executionId }, { fields: { input: 1 } });
        // The store wrote the field.
        const whole = withTexts(json, JSON.parse(found?.input ?? '[]'));
        await documents.update({ _id, [run]: executionId }, { $set: { [field]: whole }, $unset: { [run]: true } });
      }
    }
  }

  private async compact(runs: readonly RetainedRun[], now: number): Promise<readonly string[]> {
    const ids = runs.map(({ _id }) => _id);
    await this.returnTexts(ids);
    for (const document of await this.calls.find({ executionId: { $in: ids } })) {
      const call = compactCall(fromCallDocument(document));
      if (call !== undefined)
        await this.calls.update({ _id: document._id }, toCallModifier(document.executionId, document.userId, call));
    }
    for (const run of runs)
      await this.runs.update(
        { _id: run._id },
        { $set: { ...compactRun(run), compactedAt: now }, $unset: { transcript: true, transcriptItems: true } },
      );
    await this.transcripts.remove(ids);
    return [];
  }
}

/** Limits on what remains of a compacted run's question, and of each call's arguments and result. */
const MAX_QUESTION_CHARACTERS = 4_096;
const MAX_CALL_CHARACTERS = 256;

type CompactedFields = Pick<RunDocument, 'input' | 'output' | 'turnStart' | 'response'>;

/** Retains the question and the answer. */
function compactRun(run: Pick<RunDocument, 'input' | 'response'>): CompactedFields {
  // The store wrote these fields.
  const question = (JSON.parse(run.input) as readonly Item[]).findLast(
    (item) => item.type === 'message' && item.role === 'user',
  );
  const response = run.response === undefined ? undefined : (JSON.parse(run.response) as LLMResponse);
  const input = question === undefined ? [] : [truncateMessage(question, MAX_QUESTION_CHARACTERS)];
  // Reasoning, calls and encrypted content are needed only to continue a run.
  const messages = (response?.output ?? []).filter(({ type }) => type === 'message');
  return omitUndefined({
    input: JSON.stringify(input),
    output: JSON.stringify(messages),
    turnStart: input.length,
    response: response && JSON.stringify({ ...response, output: messages }),
  });
}

/**
 * Retains the call's state and the beginnings of its arguments and result, and drops a late result.
 * @returns undefined for a call that stays as it is
 */
function compactCall(call: ToolCall): ToolCall | undefined {
  const { lateResult, ...retained } = { lateResult: undefined, ...call };
  const isLong = (text: string): boolean => text.length > MAX_CALL_CHARACTERS;
  const isShort = !isLong(call.arguments) && !('result' in call && isLong(call.result));
  if (lateResult === undefined && isShort && call.answers === undefined) return undefined;
  return {
    ...retained,
    ...omitUndefined({ answers: call.answers?.map(compactAnswer) }),
    arguments: truncate(call.arguments, MAX_CALL_CHARACTERS),
    ...('result' in call ? { result: truncate(call.result, MAX_CALL_CHARACTERS) } : {}),
  };
}

/** Retains the beginnings of the question and of the answer. */
function compactAnswer({ input: { id, message, schema }, answer, ...times }: AnsweredInput): AnsweredInput {
  const input = omitUndefined({ id, message: truncate(message, MAX_CALL_CHARACTERS), schema: schema && {} });
  return {
    ...times,
    input,
    answer:
      answer.action === 'accept'
        ? { ...answer, values: truncate(answer.values, MAX_CALL_CHARACTERS) }
        : { ...answer, reason: truncate(answer.reason, MAX_CALL_CHARACTERS) },
  };
}

function truncateMessage(item: Item, maxCharacters: number): Item {
  if (item.type !== 'message') return item;
  return {
    type: 'message',
    role: item.role,
    content: [{ type: 'input_text', text: truncate(textOfContent(item.content), maxCharacters) }],
  };
}

function truncate(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).toWellFormed()}…`;
}
