/** The journal of runs in any database. Every write is one compare-and-set on the fence of the run or of the call. */
import { initialProgress } from '../../../domain/entities/initialProgress';
import { isFinished, UNOWNED } from '../../../domain/entities/Run';
import { isSettled, TOOL_CALL_TRANSITIONS } from '../../../domain/entities/Tool';
import type { ToolCall, ToolCallState } from '../../../domain/entities/Tool';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import { UnreadableRunError } from '../../../domain/errors/UnreadableRunError';
import type { DocumentCollection, Modifier, Selector, Upsert } from '../../../../../database/DocumentCollection';
import type {
  ChildRun,
  ClaimedStoredRun,
  MessageProgress,
  OpenCalls,
  OrphanClaim,
  QueueLock,
  QueueTurn,
  RunStore,
  StoredRun,
  ToolWaits,
  TranscriptItems,
} from '../../../domain/interfaces/RunStore';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type {
  ClaimReason,
  LeasedRun,
  QueuedRunHead,
  RunCommand,
  RunHead,
  RunLease,
  RunAction,
  RunProgress,
  RunRequest,
  RunRecord,
  RunSuspicion,
  ToolNeeds,
  WorkingRun,
} from '../../../domain/types/RunRecords';
import type { AwaitedTools, ParkedRun } from '../../../domain/types/RunViews';
import { JOB_STATES } from '../jobs/DocumentJobStates';
import { DocumentRunMessages, deliveryModifier } from './DocumentRunMessages';
import { DocumentRunSignals, RUN_SIGNALS } from './DocumentRunSignals';
import { DocumentQueueLock } from './DocumentQueueLock';
import { QueuedRunTurns } from './QueuedRunTurns';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import {
  callDocumentId,
  RUN_COMMANDS,
  RUN_OWNERS,
  RUNS,
  toCallModifier,
  TOOL_CALLS,
  toOpenCallsModifier,
  toRunDocument,
  toRunFields,
  transcriptFields,
  WAIT_FIELDS,
  WITHOUT_TRANSCRIPT,
} from './runDocuments';
import { OrphanedRuns } from './OrphanedRuns';
import { claimModifier, UNFINISHED } from './runClaims';
import { RunReader } from './RunReader';
import { RUN_ITEMS, RunTranscripts } from './RunTranscripts';
import type { CommandDocument, OwnerDocument, RunDocument, ToolCallDocument } from './runDocuments';
import { insertNew } from '../../../../../database/insertNew';

const OPEN_CALLS = (Object.keys(TOOL_CALL_TRANSITIONS) as ToolCallState[]).filter((state) => !isSettled({ state }));
const TOOL_NEEDS = { neededTools: 1, awaitedTools: 1, missingTools: 1 } as const satisfies Record<keyof ToolNeeds, 1>;
/** A command that was not applied within a week was for a run that had ended. */
const COMMAND_TTL_SECONDS = 7 * 24 * 3600;
/** Longer than any lease. */
const OWNER_TTL_SECONDS = 24 * 3600;

export async function openRunStore(database: DocumentDatabase): Promise<DocumentRunStore> {
  const store = new DocumentRunStore(database);
  await store.ensureIndexes();
  return store;
}

export class DocumentRunStore implements RunStore {
  readonly isExclusive: boolean;
  readonly queueLock: QueueLock | undefined;
  readonly signals: DocumentRunSignals;
  readonly messages: DocumentRunMessages;
  private readonly sealsContent: boolean;
  private readonly runs: DocumentCollection<RunDocument>;
  private readonly calls: DocumentCollection<ToolCallDocument>;
  private readonly transcripts: RunTranscripts;
  private readonly reader: RunReader;
  private readonly orphans: OrphanedRuns;
  private readonly turns: QueuedRunTurns;
  private readonly owners: DocumentCollection<OwnerDocument>;
  private readonly pendingCommands: DocumentCollection<CommandDocument>;

  constructor(database: DocumentDatabase) {
    this.isExclusive = database.isExclusive;
    this.sealsContent = database.sealsContent ?? false;
    this.runs = database.collection(RUNS);
    this.calls = database.collection(TOOL_CALLS);
    this.transcripts = new RunTranscripts(database.collection(RUN_ITEMS));
    this.reader = new RunReader(this.runs, this.calls, this.transcripts);
    this.orphans = new OrphanedRuns(this.runs, this.calls, this.reader);
    this.turns = new QueuedRunTurns(this.runs, this.calls);
    this.queueLock = database.isExclusive
      ? undefined
      : new DocumentQueueLock(database.collection(JOB_STATES), this.runs);
    this.signals = new DocumentRunSignals(database.collection(RUN_SIGNALS));
    this.messages = new DocumentRunMessages(this.runs);
    this.owners = database.collection(RUN_OWNERS);
    this.pendingCommands = database.collection(RUN_COMMANDS);
  }

  /** Safe to call again. */
  async ensureIndexes(): Promise<void> {
    await this.runs.ensureIndex({ userId: 1, requestId: 1 }, { unique: true });
    // Each filter of the views, followed by the order in which they list.
    await this.runs.ensureIndex({ createdAt: -1 });
    await this.runs.ensureIndex({ state: 1, createdAt: -1 });
    // The runs of owners, and those that are queued.
    await this.runs.ensureIndex({ state: 1, owner: 1, createdAt: 1 });
    await this.runs.ensureIndex({ userId: 1, createdAt: -1 });
    await this.runs.ensureIndex({ userId: 1, state: 1, createdAt: -1 });
    await this.runs.ensureIndex({ conversationId: 1, createdAt: -1 });
    // The children of runs, of which most have none.
    await this.runs.ensureIndex({ parentExecutionId: 1 }, { sparse: true });
    await this.calls.ensureIndex({ executionId: 1, createdAt: 1 });
    await this.calls.ensureIndex({ createdAt: -1 });
    await this.calls.ensureIndex({ state: 1, createdAt: -1 });
    await this.calls.ensureIndex({ userId: 1, createdAt: -1 });
    await this.calls.ensureIndex({ userId: 1, state: 1, createdAt: -1 });
    await this.calls.ensureIndex({ waiting: 1, createdAt: 1 });
    await this.calls.ensureIndex({ userId: 1, waiting: 1, createdAt: 1 });
    await this.turns.ensureIndexes();
    await this.signals.ensureIndexes();
    if (this.isExclusive) await this.transcripts.ready();
    await this.owners.ensureIndex({ seenAt: 1 }, { expireAfterSeconds: OWNER_TTL_SECONDS });
    await this.pendingCommands.ensureIndex({ createdAt: 1 }, { expireAfterSeconds: COMMAND_TTL_SECONDS });
  }

  async create(request: RunRequest, state: 'queued' | 'running', owner: string): Promise<RunLease> {
    await this.runs.insert(toRunDocument(request, initialProgress(request, state), owner, !this.sealsContent));
    return { executionId: request.executionId, userId: request.userId, owner, fence: 1 };
  }

  async claim(
    { executionId, fence }: Pick<RunLease, 'executionId' | 'fence'>,
    owner: string,
    reason: ClaimReason = 'requested',
    suspicion?: RunSuspicion,
  ): Promise<ClaimedStoredRun | undefined> {
    const next = fence + 1;
    const claimed = await this.runs.update(
      { _id: executionId, fence, state: { $in: UNFINISHED } },
      claimModifier({ owner, fence: next }, reason, suspicion),
    );
    if (claimed === 0) return undefined;
    // Read the calls only after the old owner can no longer write to them.
    await this.fenceCalls(executionId, next);
    const found = await this.reader.read(
      executionId,
      reason === 'end' || reason === 'hold' ? { fields: WITHOUT_TRANSCRIPT } : {},
    );
    // It was removed since, or the key of its content was.
    if (found === undefined) throw new UnreadableRunError(executionId, undefined);
    return { ...found, lease: { executionId, userId: found.run.userId, owner, fence: next } };
  }

  claimOrphans(claims: readonly OrphanClaim[], owner: string): Promise<ReadonlyMap<string, ClaimedStoredRun | Error>> {
    return this.orphans.claim(claims, owner);
  }

  clearTakeovers(leases: readonly RunLease[]): Promise<void> {
    return this.orphans.clearTakeovers(leases);
  }

  async saveRun(
    lease: RunLease,
    change: Partial<RunProgress>,
    calls: OpenCalls = { changed: [], settled: [] },
    items: TranscriptItems = {},
    { delivered, sent }: MessageProgress = { delivered: [], sent: 0 },
  ): Promise<boolean | 'addressed'> {
    const isEnding = change.state !== undefined && isFinished(change.state);
    const seen = change.state === 'completed' ? { messagesSent: sent === 0 ? { $exists: false } : sent } : {};
    const open = joined(toOpenCallsModifier(calls, isEnding), deliveryModifier(delivered));
    if (await this.save({ lease, seen }, change, open, items)) return true;
    return change.state === 'completed' && (await this.runs.count(unfinished(lease))) === 1 && 'addressed';
  }

  /** @param own selects the run */
  private async save(
    own: OwnRun,
    change: Partial<RunProgress>,
    open: Modifier,
    { stored = 0, input = 0 }: TranscriptItems,
  ): Promise<boolean> {
    const { lease } = own;
    const isEnding = change.state !== undefined && isFinished(change.state);
    const { transcript, ...others } = change;
    const isGrown = transcript !== undefined && stored > 0;
    // Elsewhere, two writes cost a round trip more than one.
    const saveWhole = (): Promise<boolean> =>
      this.update(own, others, open, transcript && wholeModifier(transcript, input));
    if (!this.isExclusive || !isGrown) return saveWhole();
    const saveGrowth = async (): Promise<boolean> => {
      await this.transcripts.add(lease, transcript.slice(stored), stored);
      return this.update(own, others, open, { $set: { transcriptItems: transcript.length } });
    };
    if (!isEnding) return saveGrowth();
    try {
      if (!(await saveWhole())) return false;
    } catch (error) {
      // A transcript that is too long for one document stays in its parts.
      if (isLLMError(error) && error.code === 'invalid-request') return saveGrowth();
      throw error;
    }
    await this.transcripts.remove([lease.executionId]);
    return true;
  }

  async saveCalls({ executionId, userId, fence }: RunLease, calls: readonly ToolCall[]): Promise<boolean> {
    const changes = calls.map((call): Upsert => {
      const { $set, ...modifier } = toCallModifier(executionId, userId, call);
      // An old owner may have inserted the call after it lost the run.
      return {
        _id: callDocumentId(executionId, call.id),
        selector: { fence: { $lte: fence } },
        modifier: { ...modifier, $set: { ...$set, fence } },
      };
    });
    const { written, inserted } = await this.calls.upsertMany(changes);
    if (written < changes.length) return false;
    if (inserted === 0) return true;
    // An insert cannot be conditional on the run's fence, so the fence is checked afterwards.
    const run = await this.runs.findOne({ _id: executionId }, { fields: { fence: 1 } });
    // The run was removed in the meantime, with all its calls but these.
    if (run === undefined) await this.calls.remove({ _id: { $in: changes.map(({ _id }) => _id) } });
    return run?.fence === fence;
  }

  async release({ executionId, fence, owner }: Pick<RunLease, 'executionId' | 'fence' | 'owner'>): Promise<boolean> {
    const selector = { _id: executionId, fence, owner, state: { $in: UNFINISHED } };
    return (await this.runs.update(selector, { $set: { owner: UNOWNED } })) === 1;
  }

  async awaitTools(
    { executionId, fence, owner }: Pick<RunLease, 'executionId' | 'fence' | 'owner'>,
    awaitedTools: AwaitedTools,
  ): Promise<boolean> {
    const selector = { _id: executionId, fence, owner, state: { $in: UNFINISHED } };
    const unowned = { $set: { awaitedTools, owner: UNOWNED, takeovers: 0 }, $unset: { parked: true } } as const;
    return (await this.runs.update(selector, owner === '' ? unowned : { $set: { awaitedTools } })) === 1;
  }

  async park({ executionId, fence }: Pick<RunLease, 'executionId' | 'fence'>, parked: ParkedRun): Promise<boolean> {
    const $set = { owner: '', fence: fence + 1, state: 'waiting', parked };
    const selector = { _id: executionId, fence, state: { $in: UNFINISHED } };
    if ((await this.runs.update(selector, { $set })) === 0) return false;
    await this.fenceCalls(executionId, fence + 1);
    return true;
  }

  async end(
    { executionId, fence }: Pick<RunLease, 'executionId' | 'fence'>,
    end: Required<Pick<RunProgress, 'state' | 'endedAt' | 'error'>>,
  ): Promise<boolean> {
    const selector = { _id: executionId, fence, state: { $in: UNFINISHED } };
    const $unset = { parked: true, awaitedTools: true, openCalls: true } as const;
    const ended = { $set: { ...end, fence: fence + 1 }, $unset };
    if ((await this.runs.update(selector, ended)) === 0) return false;
    await this.fenceCalls(executionId, fence + 1);
    await this.calls.update(
      { executionId, state: { $in: OPEN_CALLS } },
      { $set: { state: 'cancelled', endTime: end.endedAt }, $unset: WAIT_FIELDS },
      { multi: true },
    );
    return true;
  }

  load(executionId: string): Promise<StoredRun | undefined> {
    return this.reader.read(executionId);
  }

  versions(executionIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.reader.versions(executionIds);
  }

  async head(executionId: string): Promise<RunHead | undefined> {
    const fields = { userId: 1, owner: 1, fence: 1, state: 1, seq: 1, 'parked.reason': 1, ...TOOL_NEEDS } as const;
    const found = await this.runs.findOne({ _id: executionId }, { fields });
    if (found === undefined) return undefined;
    const { _id, ...head } = found;
    return { executionId, ...head };
  }

  async findRequest(userId: string, requestId: string): Promise<RunRecord | undefined> {
    const run = await this.runs.findOne({ userId, requestId });
    return run === undefined ? undefined : this.reader.toRecord(run);
  }

  async unfinishedOf(userId: string, limit: number): Promise<readonly string[]> {
    const found = await this.runs.find(
      { userId, state: { $in: UNFINISHED } },
      { sort: { createdAt: 1 }, limit, fields: { _id: 1 } },
    );
    return found.map(({ _id }) => _id);
  }

  async leased(limit: number, except: readonly string[] = [], others?: ToolWaits): Promise<readonly LeasedRun[]> {
    const fields = { userId: 1, owner: 1, fence: 1, takeovers: 1, isQueued: 1, ...TOOL_NEEDS } as const;
    const found = await this.runs.find(
      {
        state: { $in: UNFINISHED },
        owner: { $nin: ['', ...except] },
        ...(others === undefined || others.tools.length === 0 ? {} : notAmong(others)),
      },
      { sort: { createdAt: 1 }, limit, fields },
    );
    return found.map(({ _id: executionId, ...lease }) => ({ executionId, ...lease }));
  }

  async queued(limit: number): Promise<readonly Pick<RunRecord, 'executionId' | 'dueAt'>[]> {
    const found = await this.runs.find(
      { state: 'queued', owner: '' },
      { sort: { createdAt: 1 }, limit, fields: { dueAt: 1 } },
    );
    return found.map(({ _id: executionId, dueAt }) => omitUndefined({ executionId, dueAt }));
  }

  async unfinishedAmong(executionIds: readonly string[]): Promise<readonly string[]> {
    const selector = { _id: { $in: executionIds }, state: { $in: UNFINISHED } };
    return (await this.runs.find(selector, { fields: { _id: 1 } })).map(({ _id }) => _id);
  }

  async childrenOf(executionId: string): Promise<readonly ChildRun[]> {
    const fields = { state: 1, iterations: 1, usage: 1, cost: 1 } as const;
    const found = await this.runs.find({ parentExecutionId: executionId }, { sort: { createdAt: 1 }, fields });
    return found.map(({ _id, state, iterations, usage, cost = 0 }) => ({
      executionId: _id,
      isFinished: isFinished(state),
      spent: { calls: iterations, tokens: usage.total_tokens, money: cost },
    }));
  }

  nextQueued(turn: QueueTurn): Promise<QueuedRunHead | undefined> {
    return this.turns.next(turn);
  }

  working(): Promise<readonly WorkingRun[]> {
    return this.turns.working();
  }

  async heartbeat(owner: string): Promise<void> {
    const seenAt = new Date();
    if ((await this.owners.update({ _id: owner }, { $inc: { beats: 1 }, $set: { seenAt } })) === 0)
      await this.owners.insert({ _id: owner, beats: 1, seenAt });
  }

  async heartbeats(): Promise<ReadonlyMap<string, number>> {
    return new Map((await this.owners.find({})).map(({ _id, beats }) => [_id, beats]));
  }

  async removeOwner(owner: string): Promise<void> {
    await this.owners.remove({ _id: owner });
  }

  addCommand({ id, executionId, action }: RunCommand): Promise<boolean> {
    const order = JSON.stringify(action);
    return insertNew(this.pendingCommands, { _id: id, executionId, order, createdAt: new Date() });
  }

  async commands(limit: number): Promise<readonly RunCommand[]> {
    const found = await this.pendingCommands.find({}, { sort: { createdAt: 1 }, limit });
    // This store wrote the field.
    return found.map(({ _id, executionId, order }) => ({
      id: _id,
      executionId,
      action: JSON.parse(order) as RunAction,
    }));
  }

  async removeCommand(commandId: string): Promise<void> {
    await this.pendingCommands.remove({ _id: commandId });
  }

  private async update(
    { lease, seen }: OwnRun,
    change: Partial<Omit<RunProgress, 'transcript'>>,
    calls: Modifier,
    transcript: Modifier = {},
  ): Promise<boolean> {
    const gone = { ...calls.$unset, ...transcript.$unset };
    const updated = await this.runs.update(
      { ...unfinished(lease), ...seen },
      {
        $set: { ...toRunFields(change), ...transcript.$set, ...calls.$set },
        ...(Object.keys(gone).length === 0 ? {} : { $unset: gone }),
      },
    );
    return updated === 1;
  }

  /** From here on nobody with an older lease can write to the run's calls. */
  private async fenceCalls(executionId: string, fence: number): Promise<void> {
    await this.calls.update({ executionId, fence: { $lt: fence } }, { $set: { fence } }, { multi: true });
  }
}

/** A run to be written, if it was sent no more messages than it has `seen`. */
interface OwnRun {
  readonly lease: RunLease;
  readonly seen: Selector;
}

function unfinished({ executionId, fence }: Pick<RunLease, 'executionId' | 'fence'>): Selector {
  return { _id: executionId, fence, state: { $in: UNFINISHED } };
}

function joined(one: Modifier, other: Modifier): Modifier {
  return { $set: { ...one.$set, ...other.$set }, $unset: { ...one.$unset, ...other.$unset } };
}

/** The whole transcript in one document, in place of its parts and of what an earlier version wrote. */
function wholeModifier(transcript: readonly Item[], inputItems: number): Modifier {
  const $set = transcriptFields(transcript, inputItems);
  return { $set, $unset: { transcriptItems: true, ...('output' in $set ? { transcript: true } : { output: true }) } };
}

function notAmong({ tools, since }: ToolWaits): Selector {
  return { $or: [{ 'awaitedTools.names': { $nin: tools } }, { 'awaitedTools.since': { $lt: since } }] };
}
