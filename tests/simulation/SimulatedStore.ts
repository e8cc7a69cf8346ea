/** What is stored, as processes reach it by the network, and as an observer sees it who asks nobody. */
import { isFinished, UNOWNED } from '../../imports/business/ai/domain/entities/Run';
import type { Upsert } from '../../imports/database/DocumentCollection';
import type { RunMessageStore } from '../../imports/business/ai/domain/interfaces/RunMessageStore';
import type { RunStore, StoredRun } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { RunHead, RunLease } from '../../imports/business/ai/domain/types/RunRecords';
import { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import {
  callDocumentId,
  RUN_OWNERS,
  TOOL_CALLS,
} from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import type { Network, NetworkedProcess } from './Network';
import type { Plan } from './Plan';
import type { ProcessHost, Reply } from './ProcessHost';
import { SimulatedDatabase } from './SimulatedDatabase';

export interface StoreObserver {
  /** After a write. @param before undefined for a new run */
  onRunChanged(before: RunHead | undefined, after: RunHead): void;
  /** A run was taken from an owner that nobody could know to be gone. @param silence milliseconds */
  onStolen(run: RunHead, owner: string, silence: number): void;
  /** A call was stored that the run's transcript does not contain. */
  onUnknownCall(executionId: string, callId: string): void;
}

/** Methods of the port that change runs or commands. */
const STORE_WRITES = new Set<string>([
  'create',
  'claim',
  'claimOrphans',
  'clearTakeovers',
  'saveRun',
  'saveCalls',
  'release',
  'awaitTools',
  'park',
  'end',
  'addCommand',
  'removeCommand',
  'add',
  'take',
] satisfies readonly (keyof RunStore | keyof RunMessageStore)[]);
const COLLECTION_WRITES = new Set<string>(['insert', 'insertMany', 'update', 'upsertMany', 'remove']);
/**
 * The part of a lease that a watcher may count too much, for a reading that was delayed and for each outage, in which
 * owners could not be heard.
 */
const MISCOUNTED = 0.2;

/** A takeover follows from one of so many last readings of the heartbeats: there are fifteen per lease and more. */
const RECENT_READINGS = 12;

/** A method that is called by its name. */
type Method = (...args: readonly unknown[]) => Promise<unknown>;

export class SimulatedStore {
  /** Without the network. */
  readonly truth: RunStore;
  private readonly database = new SimulatedDatabase();
  private readonly network: Network;
  private readonly plan: Pick<Plan, 'lease' | 'runs' | 'faults'>;
  private readonly observer: StoreObserver;
  private readonly heads = new Map<string, RunHead>();
  /** When each owner has sent its last heartbeat, by the time for which the store could be reached. */
  private readonly beats = new Map<string, number>();
  /** How long owners had been silent when a process read their heartbeats last. Infinity: they had left. */
  private readonly readings = new Map<NetworkedProcess, ReadonlyMap<string, number>[]>();
  private readonly processes = new Map<string, NetworkedProcess>();

  constructor(plan: Plan, network: Network, observer: StoreObserver) {
    this.plan = plan;
    this.network = network;
    this.observer = observer;
    this.truth = plan.store === 'memory' ? new MemoryRunStore() : new DocumentRunStore(this.database);
  }

  /** Returns the head of a run as of its last write. */
  head(executionId: string): RunHead | undefined {
    return this.heads.get(executionId);
  }

  hasEnded(executionId: string): boolean {
    const head = this.heads.get(executionId);
    return head !== undefined && isFinished(head.state);
  }

  load(executionId: string): Promise<StoredRun | undefined> {
    return this.truth.load(executionId);
  }

  register(process: NetworkedProcess, ownerId: string): void {
    this.processes.set(ownerId, process);
  }

  processOf(ownerId: string): NetworkedProcess | undefined {
    return this.processes.get(ownerId);
  }

  /** What the process has of the store. */
  connect(
    process: NetworkedProcess,
  ): Pick<ProcessHost, 'callStore' | 'callSignals' | 'callMessages' | 'callCollection'> {
    return {
      callStore: (method, args) => this.call(process, this.truth, method, args),
      callSignals: (method, args) => this.call(process, this.truth.signals, method, args),
      callMessages: (method, args) => this.call(process, this.truth.messages, method, args),
      callCollection: (name, method, args) => this.callCollection(process, name, method, args),
    };
  }

  private call(process: NetworkedProcess, target: object, name: string, sent: readonly unknown[]): Promise<Reply> {
    const args = structuredClone(sent);
    const isWrite = STORE_WRITES.has(name);
    const work = async (): Promise<unknown> => {
      if (name === 'heartbeat') this.beats.set(String(args[0]), this.network.upTime);
      if (name === 'removeOwner') this.beats.delete(String(args[0]));
      if (name === 'heartbeats') this.noteSilences(process);
      const result = await methodOf(target, name)(...args);
      if (isWrite) await this.observeRuns();
      if (name === 'saveCalls') await this.observeCalls((args[0] as RunLease).executionId);
      return result;
    };
    // It keeps a call in one place, whether it was written with the run or by itself: the last one to arrive counts,
    // which in the process that it is made for is the last one that was made.
    return this.network.callStore(process, isWrite, work, isWrite ? process.name : undefined);
  }

  private callCollection(
    process: NetworkedProcess,
    collection: string,
    name: string,
    sent: readonly unknown[],
  ): Promise<Reply> {
    const args = structuredClone(sent);
    const areOwners = collection === RUN_OWNERS;
    const isWrite = COLLECTION_WRITES.has(name);
    return this.network.callStore(process, isWrite && !areOwners, async () => {
      const result = await methodOf(this.database.collection(collection), name)(...args);
      if (areOwners) this.noteOwner(process, name, args, result);
      else if (isWrite) await this.observeRuns();
      if (collection === TOOL_CALLS && name === 'upsertMany')
        for (const { id } of this.plan.runs)
          if ((args[0] as readonly Upsert[])[0]?._id.startsWith(callDocumentId(id, '')) === true)
            await this.observeCalls(id);
      return result;
    });
  }

  private noteOwner(process: NetworkedProcess, name: string, [subject]: readonly unknown[], result: unknown): void {
    const { _id } = subject as { readonly _id?: string };
    if (name === 'find') this.noteSilences(process);
    else if (_id !== undefined && name === 'remove') this.beats.delete(_id);
    else if (_id !== undefined && result !== 0) this.beats.set(_id, this.network.upTime);
  }

  private noteSilences(process: NetworkedProcess): void {
    const reading = new Map<string, number>();
    for (const owner of this.processes.keys())
      reading.set(owner, this.network.upTime - (this.beats.get(owner) ?? -Infinity));
    this.readings.set(process, [...(this.readings.get(process) ?? []), reading].slice(-RECENT_READINGS));
  }

  private async observeRuns(): Promise<void> {
    for (const { id } of this.plan.runs) {
      const after = await this.truth.head(id);
      const before = this.heads.get(id);
      if (after === undefined || (before !== undefined && isSameHead(before, after))) continue;
      this.heads.set(id, after);
      this.checkTakeover(before, after);
      this.observer.onRunChanged(before, after);
    }
  }

  /** A call is never stored before the transcript that it is in: whoever takes the run over would not know it. */
  private async observeCalls(id: string): Promise<void> {
    const { run, calls } = (await this.truth.load(id)) ?? {};
    const named = new Set(run?.transcript.map((item) => (item.type === 'function_call' ? item.call_id : undefined)));
    for (const call of calls ?? []) if (!named.has(call.id)) this.observer.onUnknownCall(id, call.id);
  }

  private checkTakeover(before: RunHead | undefined, after: RunHead): void {
    if (before === undefined || before.owner === after.owner || isFinished(after.state)) return;
    if ([before.owner, after.owner].some((owner) => owner === '' || owner === UNOWNED)) return;
    const claimer = this.processes.get(after.owner);
    const readings = claimer === undefined ? [] : (this.readings.get(claimer) ?? []);
    const silence = Math.max(0, ...readings.map((reading) => reading.get(before.owner) ?? 0));
    const outages = this.plan.faults.filter(({ kind }) => kind === 'outage').length;
    if (silence < this.plan.lease * (1 - MISCOUNTED * (1 + outages)))
      this.observer.onStolen(after, before.owner, silence);
  }
}

function isSameHead(one: RunHead, other: RunHead): boolean {
  return one.owner === other.owner && one.fence === other.fence && one.state === other.state && one.seq === other.seq;
}

/** @throws TypeError if there is no such method */
function methodOf(target: object, name: string): Method {
  const method: unknown = Reflect.get(target, name);
  if (typeof method !== 'function') throw new TypeError(`There is no method ${name}.`);
  // Boundary: the names and arguments are those that the engine calls the port with.
  return method.bind(target) as Method;
}
