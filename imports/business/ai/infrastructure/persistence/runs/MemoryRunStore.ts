/** A run store in memory: runs are lost when the process ends. Saves store the given objects as they are. */
import { initialProgress } from '../../../domain/entities/initialProgress';
import { isFinished, UNOWNED } from '../../../domain/entities/Run';
import { FairLruMap } from '../../../domain/util/FairLruMap';
import { applyToolEvent, isSettled, waitOf } from '../../../domain/entities/Tool';
import type { ToolCall } from '../../../domain/entities/Tool';
import { ConflictError } from '../../../domain/errors/LLMErrors';
import type {
  ChildRun,
  ClaimedStoredRun,
  MessageProgress,
  OpenCalls,
  OrphanClaim,
  QueueTurn,
  RunStore,
  StoredRun,
  ToolWaits,
  TranscriptItems,
} from '../../../domain/interfaces/RunStore';
import type {
  ClaimReason,
  LeasedRun,
  QueuedRunHead,
  RunCommand,
  RunHead,
  RunLease,
  RunProgress,
  RunRequest,
  RunRecord,
  RunSuspicion,
  ToolNeeds,
  WorkingRun,
} from '../../../domain/types/RunRecords';
import type { AwaitedTools, ParkedRun } from '../../../domain/types/RunViews';
import { MemoryRunMessages } from '../../../domain/entities/MemoryRunMessages';
import type { RunMessageStore } from '../../../domain/interfaces/RunMessageStore';
import { MemoryRunSignals } from '../../../domain/entities/MemoryRunSignals';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { Writable } from '../../../domain/types/Writable';
import { isAsNew } from './isAsNew';
import { runVersion } from './runVersion';

interface Entry {
  readonly request: RunRequest;
  /** Changed in place, so readers get copies. */
  readonly progress: Writable<RunProgress>;
  owner: string;
  fence: number;
  readonly calls: Map<string, StoredCall>;
}

/** A call as each kind of write has it. */
interface StoredCall {
  readonly saved?: ToolCall | undefined;
  /** Recorded with the run: see `OpenCalls`. */
  readonly open?: ToolCall | undefined;
}

const DEFAULT_MAX_ENDED_RUNS = 1_000;

export class MemoryRunStore implements RunStore {
  readonly isExclusive = true;
  readonly signals = new MemoryRunSignals();
  private readonly queues = new MemoryRunMessages();
  readonly messages: RunMessageStore = {
    add: (executionId, message) => {
      const state = this.entries.get(executionId)?.progress.state;
      return state === undefined
        ? Promise.resolve('unknown')
        : this.queues.add(executionId, message, isFinished(state));
    },
    replace: (...change) => this.queues.replace(...change),
    list: (executionId) => this.queues.list(executionId),
    take: (lease, isAfterAnswer) =>
      this.writable(lease) === undefined ? Promise.resolve(undefined) : this.queues.take(lease, isAfterAnswer),
  };
  /** In the order in which they were created. */
  private readonly entries = new Map<string, Entry>();
  /** Execution ids by user id and request id. */
  private readonly requests = new Map<string, string>();
  /** Ids of ended runs, in the order in which they ended. */
  private readonly endedRuns: FairLruMap<string>;
  private readonly owners = new Map<string, number>();
  private readonly pendingCommands = new Map<string, RunCommand>();

  /** @param maxEndedRuns how many ended runs are retained; of the user who has most, the oldest go first */
  constructor(maxEndedRuns: number = DEFAULT_MAX_ENDED_RUNS) {
    this.endedRuns = new FairLruMap({ entries: maxEndedRuns }, { onEvict: (executionId) => this.forget(executionId) });
  }

  create(request: RunRequest, state: 'queued' | 'running', owner: string): Promise<RunLease> {
    const { executionId, userId, requestId } = request;
    const key = requestKey(userId, requestId);
    if (this.entries.has(executionId) || this.requests.has(key))
      return Promise.reject(
        new ConflictError(`A run "${executionId}", or a run for the same request, already exists.`),
      );
    this.requests.set(key, executionId);
    this.entries.set(executionId, {
      request,
      progress: initialProgress(request, state),
      owner,
      fence: 1,
      calls: new Map(),
    });
    return Promise.resolve({ executionId, userId, owner, fence: 1 });
  }

  claim(
    { executionId, fence }: Pick<RunLease, 'executionId' | 'fence'>,
    owner: string,
    reason: ClaimReason = 'requested',
    suspicion?: RunSuspicion,
  ): Promise<ClaimedStoredRun | undefined> {
    const entry = this.writable({ executionId, fence });
    if (entry === undefined) return Promise.resolve(undefined);
    entry.owner = owner;
    entry.fence = fence + 1;
    delete entry.progress.parked;
    delete entry.progress.awaitedTools;
    if (suspicion !== undefined) Object.assign(entry.progress, suspicion);
    else if (reason === 'orphaned') entry.progress.takeovers += 1;
    const { run, calls, messages } = this.toStoredRun(entry);
    return Promise.resolve({
      run: reason === 'end' || reason === 'hold' ? withoutTranscript(run) : run,
      calls,
      ...omitUndefined({ messages }),
      lease: { executionId, userId: run.userId, owner, fence: fence + 1 },
    });
  }

  async claimOrphans(claims: readonly OrphanClaim[], owner: string): Promise<ReadonlyMap<string, ClaimedStoredRun>> {
    const claimed = new Map<string, ClaimedStoredRun>();
    for (const { lease, suspicion } of claims) {
      const run = await this.claim(lease, owner, 'orphaned', suspicion);
      if (run !== undefined) claimed.set(lease.executionId, run);
    }
    return claimed;
  }

  clearTakeovers(leases: readonly RunLease[]): Promise<void> {
    for (const lease of leases) {
      const entry = this.writable(lease);
      if (entry !== undefined) entry.progress.takeovers = 0;
    }
    return Promise.resolve();
  }

  saveRun(
    lease: RunLease,
    change: Partial<RunProgress>,
    open?: OpenCalls,
    _items?: TranscriptItems,
    { delivered, sent }: MessageProgress = { delivered: [], sent: 0 },
  ): Promise<boolean | 'addressed'> {
    const entry = this.writable(lease);
    if (entry === undefined) return Promise.resolve(false);
    if (change.state === 'completed' && !this.queues.end(lease.executionId, sent)) return Promise.resolve('addressed');
    this.queues.deliver(lease.executionId, delivered);
    Object.assign(entry.progress, change);
    for (const id of open?.settled ?? []) entry.calls.set(id, { saved: entry.calls.get(id)?.saved });
    for (const call of open?.changed ?? [])
      entry.calls.set(call.id, { saved: entry.calls.get(call.id)?.saved, open: call });
    if (isFinished(entry.progress.state)) this.endedRuns.set(lease.userId, lease.executionId, lease.executionId);
    return Promise.resolve(true);
  }

  saveCalls({ executionId, fence }: RunLease, calls: readonly ToolCall[]): Promise<boolean> {
    const entry = this.entries.get(executionId);
    if (entry?.fence !== fence) return Promise.resolve(false);
    for (const call of calls) entry.calls.set(call.id, { saved: call, open: entry.calls.get(call.id)?.open });
    return Promise.resolve(true);
  }

  release(lease: Pick<RunLease, 'executionId' | 'fence' | 'owner'>): Promise<boolean> {
    const entry = this.writable(lease);
    if (entry?.owner !== lease.owner) return Promise.resolve(false);
    entry.owner = UNOWNED;
    return Promise.resolve(true);
  }

  awaitTools(lease: Pick<RunLease, 'executionId' | 'fence' | 'owner'>, awaitedTools: AwaitedTools): Promise<boolean> {
    const entry = this.writable(lease);
    if (entry?.owner !== lease.owner) return Promise.resolve(false);
    const { progress } = entry;
    progress.awaitedTools = awaitedTools;
    if (lease.owner === '') {
      entry.owner = UNOWNED;
      progress.takeovers = 0;
      delete progress.parked;
    }
    return Promise.resolve(true);
  }

  park(lease: Pick<RunLease, 'executionId' | 'fence'>, parked: ParkedRun): Promise<boolean> {
    const entry = this.writable(lease);
    if (entry === undefined) return Promise.resolve(false);
    entry.owner = '';
    entry.fence += 1;
    Object.assign(entry.progress, { state: 'waiting', parked });
    return Promise.resolve(true);
  }

  end(
    lease: Pick<RunLease, 'executionId' | 'fence'>,
    end: Required<Pick<RunProgress, 'state' | 'endedAt' | 'error'>>,
  ): Promise<boolean> {
    const entry = this.writable(lease);
    if (entry === undefined) return Promise.resolve(false);
    const error = { failure: 'cancelled', message: end.error.message } as const;
    for (const call of callsOf(entry))
      if (!isSettled(call))
        entry.calls.set(call.id, { saved: applyToolEvent(call, { type: 'tool:cancelled', at: end.endedAt, error }) });
    entry.fence += 1;
    delete entry.progress.parked;
    delete entry.progress.awaitedTools;
    Object.assign(entry.progress, end);
    this.endedRuns.set(entry.request.userId, lease.executionId, lease.executionId);
    return Promise.resolve(true);
  }

  head(executionId: string): Promise<RunHead | undefined> {
    const entry = this.entries.get(executionId);
    if (entry === undefined) return Promise.resolve(undefined);
    const { owner, fence } = entry;
    const { state, seq, parked } = entry.progress;
    const { userId } = entry.request;
    return Promise.resolve({
      ...{ executionId, userId, owner, fence, state, seq, ...toolNeeds(entry) },
      ...omitUndefined({ parked: parked && { reason: parked.reason } }),
    });
  }

  load(executionId: string): Promise<StoredRun | undefined> {
    const entry = this.entries.get(executionId);
    return Promise.resolve(entry === undefined ? undefined : this.toStoredRun(entry));
  }

  versions(executionIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = executionIds.flatMap((id) => this.entries.get(id) ?? []);
    return Promise.resolve(new Map(found.map((entry) => [entry.request.executionId, versionOf(entry)])));
  }

  findRequest(userId: string, requestId: string): Promise<RunRecord | undefined> {
    const entry = this.entries.get(this.requests.get(requestKey(userId, requestId)) ?? '');
    return Promise.resolve(entry === undefined ? undefined : toRecord(entry));
  }

  unfinishedOf(userId: string, limit: number): Promise<readonly string[]> {
    const unfinished = [...this.entries.values()].filter(
      ({ request, progress }) => request.userId === userId && !isFinished(progress.state),
    );
    return Promise.resolve(unfinished.slice(0, limit).map(({ request }) => request.executionId));
  }

  leased(limit: number, except: readonly string[] = [], others?: ToolWaits): Promise<readonly LeasedRun[]> {
    const leased: LeasedRun[] = [];
    for (const entry of this.entries.values()) {
      const { request, progress, owner, fence } = entry;
      if (leased.length >= limit) break;
      if (isAmong(progress.awaitedTools, others)) continue;
      const { executionId, userId, isQueued } = request;
      const { takeovers } = progress;
      if (owner !== '' && !except.includes(owner) && !isFinished(progress.state))
        leased.push({
          ...{ executionId, userId, owner, fence, takeovers, ...toolNeeds(entry) },
          ...omitUndefined({ isQueued }),
        });
    }
    return Promise.resolve(leased);
  }

  queued(limit: number): Promise<readonly Pick<RunRecord, 'executionId' | 'dueAt'>[]> {
    const waiting = [...this.entries.values()].filter(
      ({ progress, owner }) => progress.state === 'queued' && owner === '',
    );
    return Promise.resolve(
      waiting.slice(0, limit).map(({ request: { executionId, dueAt } }) => omitUndefined({ executionId, dueAt })),
    );
  }

  unfinishedAmong(executionIds: readonly string[]): Promise<readonly string[]> {
    const isUnfinished = (executionId: string): boolean => {
      const entry = this.entries.get(executionId);
      return entry !== undefined && !isFinished(entry.progress.state);
    };
    return Promise.resolve(executionIds.filter(isUnfinished));
  }

  childrenOf(executionId: string): Promise<readonly ChildRun[]> {
    const children = [...this.entries.values()].filter(({ request }) => request.parentExecutionId === executionId);
    return Promise.resolve(
      children.map(({ request, progress: { state, iterations, usage, cost = 0 } }) => ({
        executionId: request.executionId,
        isFinished: isFinished(state),
        spent: { calls: iterations, tokens: usage.total_tokens, money: cost },
      })),
    );
  }

  nextQueued({ now, after = '', except, fullUsers, keys }: QueueTurn): Promise<QueuedRunHead | undefined> {
    const left = new Set(except);
    const full = new Set(fullUsers);
    const mayStart = ({ request, progress, owner }: Entry): boolean => {
      const { executionId, userId, dueAt = 0, concurrencyKey, concurrencyLimit = 1 } = request;
      if (progress.state !== 'queued' || owner !== '' || dueAt > now) return false;
      if (left.has(executionId) || full.has(userId)) return false;
      return keys.every(
        ({ userId: other, key, working }) => userId !== other || key !== concurrencyKey || working < concurrencyLimit,
      );
    };
    const isLater = (userId: string): number => (userId > after ? 0 : 1);
    const compare = ({ request: one }: Entry, { request: other }: Entry): number =>
      (other.globalPriority ?? 0) - (one.globalPriority ?? 0) ||
      isLater(one.userId) - isLater(other.userId) ||
      (one.userId < other.userId ? -1 : one.userId > other.userId ? 1 : 0) ||
      (other.priority ?? 0) - (one.priority ?? 0) ||
      one.createdAt - other.createdAt;
    let first: Entry | undefined;
    for (const entry of this.entries.values())
      if (mayStart(entry) && (first === undefined || compare(entry, first) < 0)) first = entry;
    return Promise.resolve(first === undefined ? undefined : { ...toWorking(first), fence: first.fence });
  }

  working(): Promise<readonly WorkingRun[]> {
    const isWorking = (entry: Entry): boolean => {
      const { request, progress, owner } = entry;
      const { state, isCalling } = progress;
      if (request.isQueued !== true || owner === '' || (state !== 'queued' && state !== 'running')) return false;
      const open = callsOf(entry).filter((call) => !isSettled(call));
      return isCalling || open.length === 0 || open.some((call) => waitOf(call) === undefined);
    };
    return Promise.resolve([...this.entries.values()].filter(isWorking).map(toWorking));
  }

  heartbeat(owner: string): Promise<void> {
    this.owners.set(owner, (this.owners.get(owner) ?? 0) + 1);
    return Promise.resolve();
  }

  heartbeats(): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(new Map(this.owners));
  }

  removeOwner(owner: string): Promise<void> {
    this.owners.delete(owner);
    return Promise.resolve();
  }

  addCommand(command: RunCommand): Promise<boolean> {
    if (this.pendingCommands.has(command.id)) return Promise.resolve(false);
    this.pendingCommands.set(command.id, command);
    return Promise.resolve(true);
  }

  commands(limit: number): Promise<readonly RunCommand[]> {
    return Promise.resolve([...this.pendingCommands.values()].slice(0, limit));
  }

  removeCommand(commandId: string): Promise<void> {
    this.pendingCommands.delete(commandId);
    return Promise.resolve();
  }

  private writable({ executionId, fence }: Pick<RunLease, 'executionId' | 'fence'>): Entry | undefined {
    const entry = this.entries.get(executionId);
    return entry !== undefined && entry.fence === fence && !isFinished(entry.progress.state) ? entry : undefined;
  }

  private toStoredRun(entry: Entry): StoredRun {
    const messages = this.queues.stored(entry.request.executionId);
    return { run: toRecord(entry), calls: callsOf(entry), version: versionOf(entry), ...omitUndefined({ messages }) };
  }

  private forget(executionId: string): void {
    const entry = this.entries.get(executionId);
    if (entry === undefined) return;
    this.entries.delete(executionId);
    void this.signals.remove([executionId]);
    this.queues.remove(executionId);
    this.requests.delete(requestKey(entry.request.userId, entry.request.requestId));
  }
}

function toolNeeds({ request: { neededTools }, progress: { awaitedTools, missingTools } }: Entry): ToolNeeds {
  return omitUndefined({ neededTools, awaitedTools, missingTools });
}

function isAmong(awaited: AwaitedTools | undefined, others: ToolWaits | undefined): boolean {
  if (awaited === undefined || others === undefined || awaited.since < others.since) return false;
  return awaited.names.some((name) => others.tools.includes(name));
}

function toRecord({ request, progress, owner, fence }: Entry): RunRecord {
  return { ...request, ...progress, owner, fence };
}

function versionOf(entry: Entry): string {
  return runVersion({ ...entry.progress, fence: entry.fence }, callsOf(entry));
}

function callsOf({ calls }: Entry): readonly ToolCall[] {
  return [...calls.values()].flatMap(
    ({ saved, open }) => (saved !== undefined && isAsNew(saved, open) ? saved : open) ?? [],
  );
}

function toWorking({ request: { executionId, userId, concurrencyKey } }: Entry): WorkingRun {
  return omitUndefined({ executionId, userId, concurrencyKey });
}

function withoutTranscript({ response: _response, ...run }: RunRecord): RunRecord {
  return { ...run, input: [], transcript: [] };
}

function requestKey(userId: string, requestId: string): string {
  return JSON.stringify([userId, requestId]);
}
