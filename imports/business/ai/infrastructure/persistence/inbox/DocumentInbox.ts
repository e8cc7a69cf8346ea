/**
 * Reads what waits from the journal's documents. The state of a call alone shows that it waits for an approval or a
 * review, in documents of older versions as well. Whether it waits for a result from outside is stored in `waiting`,
 * which a call that an older version started receives when its run is taken over after the upgrade.
 */
import { argumentsHash } from '../../../application/services/shared/argumentsHash';
import { ERROR_TABLE } from '../../../domain/errors/LLMErrors';
import type { ErrorCode } from '../../../domain/errors/LLMErrors';
import { isExecuting, needsApproval, needsReview } from '../../../domain/entities/Tool';
import type { CallWait, ToolCallState } from '../../../domain/entities/Tool';
import type { DocumentCollection, Selector } from '../../../../../database/DocumentCollection';
import type { InboxFilter, InboxPosition, InboxRange, InboxReader } from '../../../domain/interfaces/InboxReader';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type {
  CompleteCallView,
  InboxEntry,
  InboxKind,
  RunEntry,
  WaitingCallEntry,
} from '../../../domain/types/InboxViews';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { callDocumentId, fromCallDocument, RUNS, TOOL_CALLS } from '../runs/runDocuments';
import type { RunDocument, ToolCallDocument } from '../runs/runDocuments';

/** `handledAt` is never published. */
type InboxRunDocument = RunDocument & { readonly handledAt?: number };

const MAX_SHOWN_CHARACTERS = 4_000;

const RETRYABLE_CODES = (Object.keys(ERROR_TABLE) as ErrorCode[]).filter((code) => ERROR_TABLE[code].retryable);

const CALL_SELECTORS = {
  approval: { $or: [{ state: 'awaiting_approval' }, { waiting: 'approval', state: 'executing' }] },
  review: { state: 'needs_review' },
  external: { waiting: 'external', state: 'executing' },
} as const satisfies Record<CallWait, Selector>;

const WAITING_STATES = ['awaiting_approval', 'needs_review', 'executing'];

const FAILED: Selector = {
  state: 'failed',
  handledAt: { $exists: false },
  // An older version did not record whether an error may pass.
  $or: [{ 'error.retryable': true }, { 'error.retryable': { $exists: false }, 'error.code': { $in: RETRYABLE_CODES } }],
};

const RUN_SELECTORS = {
  parked: { state: 'waiting', 'parked.at': { $exists: true } },
  tools: { state: { $in: ['queued', 'running', 'waiting'] }, 'awaitedTools.since': { $exists: true } },
  failed: FAILED,
} as const satisfies Record<Exclude<InboxKind, CallWait>, Selector>;

const CALL_FIELDS = {
  executionId: 1,
  userId: 1,
  callId: 1,
  name: 1,
  state: 1,
  createdAt: 1,
  startTime: 1,
  arguments: 1,
  argumentsHash: 1,
  argumentsLength: 1,
  expiresAt: 1,
  note: 1,
  input: 1,
  waiting: 1,
} as const;

const RUN_FIELDS = {
  userId: 1,
  providerId: 1,
  model: 1,
  title: 1,
  conversationId: 1,
  createdAt: 1,
  endedAt: 1,
  error: 1,
  parked: 1,
  awaitedTools: 1,
} as const;

type RunFields = Pick<InboxRunDocument, '_id' | keyof typeof RUN_FIELDS>;

export class DocumentInbox implements InboxReader {
  private readonly runs: DocumentCollection<InboxRunDocument>;
  private readonly calls: DocumentCollection<ToolCallDocument>;

  constructor(database: Pick<DocumentDatabase, 'collection'>) {
    this.runs = database.collection(RUNS);
    this.calls = database.collection(TOOL_CALLS);
  }

  async entries({ kinds, filter, order, after, limit }: InboxRange): Promise<readonly InboxEntry[]> {
    const direction = order === 'asc' ? 1 : -1;
    const options = { sort: { createdAt: direction, _id: direction }, limit } as const;
    const range = after === undefined ? filter : { ...filter, $and: isAfter(after, direction) };
    // One query for each kind, since an index serves only conditions that all results fulfil.
    const [calls, found] = await Promise.all([
      Promise.all(
        kinds.map((kind) =>
          isOfRun(kind)
            ? Promise.resolve([])
            : this.calls.find({ ...range, ...CALL_SELECTORS[kind] }, { ...options, fields: CALL_FIELDS }),
        ),
      ),
      Promise.all(
        kinds.map((kind) =>
          isOfRun(kind)
            ? this.runs.find({ ...range, ...RUN_SELECTORS[kind] }, { ...options, fields: RUN_FIELDS })
            : Promise.resolve([]),
        ),
      ),
    ]);
    const listed = [
      ...calls.flat().map((call) => ({ _id: call._id, createdAt: call.createdAt, call })),
      ...found.flat(),
    ]
      .toSorted((a, b) => direction * compare(a, b))
      .slice(0, limit);
    const runs = await this.runsOf(listed.flatMap((each) => ('call' in each ? [each.call.executionId] : [])));
    return Promise.all(
      listed.map((each) =>
        'call' in each
          ? this.toCallEntry(each.call, runs.get(each.call.executionId))
          : Promise.resolve(toRunEntry(each)),
      ),
    );
  }

  async counts(filter: InboxFilter): Promise<Readonly<Record<InboxKind, number>>> {
    const [rows, parked, tools, failed] = await Promise.all([
      this.calls.aggregate(
        { ...filter, state: { $in: WAITING_STATES } },
        { by: { state: 'state', waiting: 'waiting' } },
      ),
      this.runs.count({ ...filter, ...RUN_SELECTORS.parked }),
      this.runs.count({ ...filter, ...RUN_SELECTORS.tools }),
      this.runs.count({ ...filter, ...RUN_SELECTORS.failed }),
    ]);
    const countOf = (state: ToolCallState, waiting?: CallWait): number =>
      rows
        .filter(({ key }) => key.state === state && (waiting === undefined || key.waiting === waiting))
        .reduce((sum, { count }) => sum + count, 0);
    return {
      approval: countOf('awaiting_approval') + countOf('executing', 'approval'),
      review: countOf('needs_review'),
      external: countOf('executing', 'external'),
      parked,
      tools,
      failed,
    };
  }

  async call(executionId: string, callId: string): Promise<CompleteCallView | undefined> {
    const document = await this.calls.findOne({ _id: callDocumentId(executionId, callId) });
    if (document === undefined) return undefined;
    const call = fromCallDocument(document);
    return {
      executionId,
      callId,
      name: call.name,
      state: call.state,
      arguments: call.arguments,
      argumentsHash: argumentsHash(call.arguments),
      ...('result' in call ? { result: call.result } : {}),
    };
  }

  async markHandled(executionId: string): Promise<boolean> {
    return (await this.runs.update({ _id: executionId, state: 'failed' }, { $set: { handledAt: Date.now() } })) === 1;
  }

  private async runsOf(executionIds: readonly string[]): Promise<ReadonlyMap<string, RunFields>> {
    const runs = await this.runs.find({ _id: { $in: [...new Set(executionIds)] } }, { fields: RUN_FIELDS });
    return new Map(runs.map((run) => [run._id, run]));
  }

  private async toCallEntry(
    document: Pick<ToolCallDocument, '_id' | keyof typeof CALL_FIELDS>,
    run: RunFields | undefined,
  ): Promise<WaitingCallEntry> {
    const { _id, executionId, userId, callId, name, state, createdAt, startTime = createdAt } = document;
    const { expiresAt, note, input, waiting } = document;
    const isApproval = needsApproval({ state }) || (isExecuting({ state }) && waiting === 'approval');
    return omitUndefined({
      _id,
      kind: isApproval ? 'approval' : needsReview({ state }) ? 'review' : 'external',
      executionId,
      userId,
      callId,
      name,
      createdAt,
      since: startTime,
      arguments: document.arguments.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed(),
      ...(await this.argumentFacts(document)),
      expiresAt,
      note,
      input,
      ...describeRun(run),
    });
  }

  /** Documents of older versions lack these fields. */
  private async argumentFacts({
    _id,
    argumentsHash: hash,
    argumentsLength: length,
  }: Pick<ToolCallDocument, '_id' | 'argumentsHash' | 'argumentsLength'>): Promise<
    Pick<WaitingCallEntry, 'argumentsHash' | 'argumentsLength'>
  > {
    if (hash !== undefined && length !== undefined) return { argumentsHash: hash, argumentsLength: length };
    const document = await this.calls.findOne({ _id }, { fields: { call: 1 } });
    const text = document === undefined ? '' : fromCallDocument(document).arguments;
    return { argumentsHash: argumentsHash(text), argumentsLength: text.length };
  }
}

function isOfRun(kind: InboxKind): kind is keyof typeof RUN_SELECTORS {
  return Object.hasOwn(RUN_SELECTORS, kind);
}

function toRunEntry(run: RunFields): RunEntry {
  const { _id, userId, createdAt, endedAt = createdAt, error, parked, awaitedTools } = run;
  const named = { _id, executionId: _id, userId, createdAt, ...describeRun(run) };
  if (parked !== undefined) return { ...named, kind: 'parked', since: parked.at, parked };
  if (awaitedTools !== undefined) return { ...named, kind: 'tools', since: awaitedTools.since, awaitedTools };
  // The selector finds only runs with an error.
  return { ...named, kind: 'failed', since: endedAt, error: error ?? { code: 'vendor-error', message: '' } };
}

/** @param run undefined if it was removed after its call was read */
function describeRun(
  run: RunFields | undefined,
): Pick<InboxEntry, 'providerId' | 'model' | 'title' | 'conversationId'> {
  return omitUndefined({
    providerId: run?.providerId ?? '',
    title: run?.title ?? '',
    model: run?.model,
    conversationId: run?.conversationId,
  });
}

/** The first condition lets an index narrow the search. */
function isAfter({ createdAt, _id }: InboxPosition, direction: 1 | -1): readonly Selector[] {
  const [beyond, from] = direction === 1 ? ['$gt', '$gte'] : ['$lt', '$lte'];
  return [
    { createdAt: { [from]: createdAt } },
    { $or: [{ createdAt: { [beyond]: createdAt } }, { _id: { [beyond]: _id } }] },
  ];
}

function compare(a: InboxPosition, b: InboxPosition): number {
  return a.createdAt - b.createdAt || (a._id < b._id ? -1 : a._id > b._id ? 1 : 0);
}
