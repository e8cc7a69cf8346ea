/** Everything there is in a schedule: processes, one store, one run, people, and what has been seen of them. */
import { UNOWNED } from '../../../imports/business/ai/domain/entities/Run';
import { NO_USAGE } from '../../../imports/business/ai/domain/entities/Response';
import { isSettled, waitOf } from '../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import type { ActiveRun, RunRules } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { LLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { restoreError } from '../../../imports/business/ai/domain/errors/restoreError';
import type { AgentEventType } from '../../../imports/business/ai/domain/types/AgentEvents';
import type { RunAction, RunProgress } from '../../../imports/business/ai/domain/types/RunRecords';
import type { MessageTime } from '../../../imports/business/ai/domain/types/RunMessages';
import { decisionId } from '../../../imports/business/ai/application/services/runs/durable/RemoteRuns';
import { SeededRandom } from '../SeededRandom';
import { checkRestored } from './checkRestored';
import type { Machine } from './Machine';
import type { MachineFault, MachinePlan, PlannedCall, PlannedMessage } from './MachinePlan';
import { MachineStore, RUN_ID } from './MachineStore';
import { RunSession } from './RunSession';
import { Scheduler } from './Scheduler';
import type { ModelFault, SessionWorld, StoreChange, WriteReply } from './SessionWorld';
import { SimulatedProcess } from './SimulatedProcess';
import type { ProcessState } from './SimulatedProcess';
import { INPUT, messageItem, plannedPlace } from './ScriptedModel';
import { ABORTED, TIMED_OUT } from './simulatedErrors';
import { TOOLS, toolOf } from './simulatedTools';
import { ensure } from './Violation';

type WorldProcess = SimulatedProcess<RunSession>;

/** How likely it is that the run of a call takes a step more. */
const CHILD_GOES_ON = 0.7;
/** Steps of a schedule that goes on for ever. */
const MAX_STEPS = 5_000;

export class World implements SessionWorld {
  readonly machine: Machine;
  readonly plan: MachinePlan;
  readonly random: SeededRandom;
  readonly scheduler: Scheduler;
  readonly store: MachineStore;
  readonly processes: WorldProcess[] = [];
  readonly sessions: RunSession[] = [];
  readonly requests = new Map<string, number>();
  /** What has happened, if it is kept. */
  readonly trail: string[] | undefined;
  readonly keepsEvents: boolean;
  /** The runs that calls have started, by the ids of the calls. */
  readonly children = new Map<string, 'running' | 'ended' | 'cancelled'>();
  steps = 0;
  applied: ActiveRun | undefined;
  /** The error with which the run was about to end when it was first stored. */
  storedError: RunProgress['error'];
  private readonly effects = new Map<string, number>();
  private readonly reruns = new Map<string, number>();
  private readonly noticed = new Set<string>();
  /** What people have sent, as the store has accepted it, by ids: `m0` is the first that was planned. */
  readonly accepted = new Map<string, AcceptedMessage>();
  private readonly atSteps: (MachineFault | SentMessage)[];
  private readonly byNumber: readonly MachineFault[];
  private started = 0;
  private writes = 0;
  private decided = 0;
  private published = 0;
  private modelCalls = 0;
  private responses = 0;

  constructor(plan: MachinePlan, machine: Machine, { hasTrail = false, keepsEvents = false } = {}) {
    this.plan = plan;
    this.machine = machine;
    this.trail = hasTrail ? [] : undefined;
    this.keepsEvents = keepsEvents;
    this.random = new SeededRandom(plan.seed);
    this.scheduler = new Scheduler(this.random, plan.slow);
    this.atSteps = [...plan.faults.filter((fault) => 'at' in fault), ...plan.messages.map(toFault)].toSorted(
      (a, b) => atOf(b) - atOf(a),
    );
    this.byNumber = plan.faults.filter((fault) => 'nth' in fault);
    for (let slot = 0; slot < plan.processes; slot += 1) this.startProcess(slot);
    this.store = new MachineStore(INPUT, this.processes[0]!.name);
  }

  /** @throws Violation */
  run(): void {
    this.launch(this.processes[0]!);
    for (;;) {
      this.steps += 1;
      ensure(this.steps < MAX_STEPS, () => 'The run goes on for ever.');
      this.inject();
      if (this.scheduler.step()) continue;
      const next = this.atSteps.at(-1);
      // No fault must be needed for the run to go on.
      if (next === undefined || !this.store.hasEnded) return;
      this.steps = Math.max(this.steps, atOf(next));
    }
  }

  note(line: () => string): void {
    this.trail?.push(`${this.steps}: ${line()}`);
  }

  plannedCall({ arguments: args }: ToolCall): PlannedCall {
    const [place, index] = plannedPlace(args);
    const turn = this.plan.turns[place];
    const call = turn?.kind === 'calls' ? turn.calls[index] : undefined;
    ensure(call !== undefined, () => `Nobody has planned the call "${args}".`);
    return call!;
  }

  nextResponse(): number {
    this.responses += 1;
    return this.responses;
  }

  nextModelFault(): ModelFault | undefined {
    const { modelCalls } = this;
    this.modelCalls += 1;
    for (const fault of this.byNumber) if (fault.kind === 'model' && fault.nth === modelCalls) return fault.does;
    return undefined;
  }

  modelFault(does: 'compact'): boolean {
    return this.byNumber.some(
      (fault) => fault.kind === 'model' && fault.nth === this.modelCalls && fault.does === does,
    );
  }

  // The store

  write(process: WorldProcess, what: string, apply: StoreChange, onReply: (reply: WriteReply) => void): void {
    const number = this.writes;
    this.writes += 1;
    const fault = this.writeFault(number);
    const reply = (result: WriteReply): void =>
      this.scheduler.add('reply', process, () => onReply(process.isCut ? 'unknown' : result));
    this.scheduler.add('store', undefined, () => {
      if (fault?.kind === 'killAtWrite') {
        if (fault.isWritten && !process.isCut) this.arrive(process, number, what, apply);
        this.kill(process);
        return;
      }
      const outcome = fault?.kind === 'write' ? fault.outcome : undefined;
      if (process.isCut || outcome === 'lost' || outcome === 'late') reply('unknown');
      else {
        const result = this.arrive(process, number, what, apply, outcome === 'half');
        reply(outcome === undefined ? result : 'unknown');
      }
      if (outcome === 'late' || outcome === 'twice')
        this.scheduler.add('store', undefined, () => void this.arrive(process, number, what, apply));
    });
  }

  private arrive({ name }: ProcessState, number: number, what: string, apply: StoreChange, isHalf = false): boolean {
    const { store } = this;
    const before = store.run;
    const { iterations, seq, turnStart } = before;
    const hadEnded = store.hasEnded;
    const items = before.transcript.length;
    const isApplied = apply(store, isHalf);
    this.note(() => `${name} writes ${what} (write ${number})${isApplied ? '' : ', which is refused'}`);
    ensure(
      store.run.iterations >= iterations - 1 && store.run.seq >= seq && store.run.turnStart >= turnStart,
      () => `Write ${number} of ${name} sets the run back.`,
    );
    ensure(store.run.transcript.length >= items, () => `Write ${number} of ${name} removes items.`);
    this.storedError ??= store.run.error;
    if (store.hasEnded && !hadEnded)
      for (const [id, state] of this.children)
        ensure(state !== 'running', () => `The run of ${id} goes on without its parent.`);
    for (const { saved, open } of store.calls.values()) {
      if (saved !== undefined && waitOf(saved) !== undefined) this.onWait(saved);
      if (open !== undefined && waitOf(open) !== undefined) this.onWait(open);
    }
    return isApplied;
  }

  private writeFault(number: number): MachineFault | undefined {
    for (const fault of this.byNumber)
      if ((fault.kind === 'write' || fault.kind === 'killAtWrite') && fault.nth === number) return fault;
    return undefined;
  }

  // Processes

  onEffectOf(process: WorldProcess): void {
    const number = this.decided;
    this.decided += 1;
    for (const fault of this.byNumber) if (fault.kind === 'killAtEffect' && fault.nth === number) this.kill(process);
  }

  onPublished(session: { cancel(error: LLMError): void }, type: AgentEventType): void {
    if (type === 'run:completed' || type === 'run:failed' || type === 'run:cancelled')
      ensure(
        this.store.run.state === type.slice(4),
        () => `${type} is emitted, but the run is ${this.store.run.state}.`,
      );
    const number = this.published;
    this.published += 1;
    for (const fault of this.byNumber)
      if (fault.kind === 'cancelAtEvent' && fault.nth === number) session.cancel(ABORTED);
  }

  onOrphaned(): void {
    this.scheduler.add('process', undefined, () => this.recover());
  }

  private inject(): void {
    for (
      let fault = this.atSteps.at(-1);
      fault !== undefined && atOf(fault) <= this.steps;
      fault = this.atSteps.at(-1)
    ) {
      this.atSteps.pop();
      this.disturb(fault);
    }
  }

  private disturb(fault: MachineFault | SentMessage): void {
    const process = 'process' in fault ? this.processes[fault.process % this.processes.length] : undefined;
    switch (fault.kind) {
      case 'kill':
        this.kill(process!);
        return;
      case 'cut':
        this.cut(process!, fault.steps);
        return;
      case 'drain':
        this.drain(process!, fault.steps);
        return;
      case 'cancel':
        this.cancel(fault.isStored);
        return;
      case 'deadline':
        this.liveSession()?.cancel(TIMED_OUT);
        return;
      case 'unload':
        this.liveSession()?.heartbeat();
        return;
      case 'message':
        this.sendMessage(fault);
        return;
      default:
    }
  }

  private startProcess(slot: number): WorldProcess {
    this.started += 1;
    const process: WorldProcess = new SimulatedProcess(`p${this.started}`, slot);
    this.processes[slot] = process;
    return process;
  }

  private kill(process: WorldProcess): void {
    if (process.isDead) return;
    this.note(() => `${process.name} dies`);
    process.isDead = true;
    this.scheduler.add('process', undefined, () => {
      this.startProcess(process.slot);
      this.recover();
    });
    this.onOrphaned();
  }

  private cut(process: WorldProcess, steps: number): void {
    if (process.isDead || process.isCut) return;
    this.note(() => `${process.name} is cut off`);
    process.isCut = true;
    process.cuts += 1;
    this.onOrphaned();
    this.after(steps, () => {
      this.note(() => `${process.name} reaches the store again`);
      process.isCut = false;
      // It reads the commands that it has missed.
      const missed = this.store.queue.map(({ when }) => ({ kind: 'message', when }) as const);
      for (const action of [...this.store.commands.values(), ...missed])
        this.scheduler.add('person', process, () => process.session?.apply(action));
      this.recover();
    });
  }

  private drain(process: WorldProcess, steps: number): void {
    if (process.isDead || process.isDraining) return;
    this.note(() => `${process.name} drains`);
    process.isDraining = true;
    process.session?.leaveIfIdle();
    this.after(steps, () => {
      if (process.isDead) return;
      process.session?.interrupt();
      this.after(3, () => this.close(process));
    });
  }

  private close(process: WorldProcess): void {
    if (process.isDead) return;
    const { session } = process;
    const end = (): void => {
      session?.onLeaseLost();
      this.kill(process);
    };
    if (session === undefined || session.isOver) {
      end();
      return;
    }
    session.dispatch({ type: 'progressMade' });
    if (this.random.chance(0.5)) session.writer.flush(end);
    // A store that cannot be reached must not hold the process up.
    this.after(20, end);
  }

  private after(steps: number, then: () => void): void {
    const due = this.steps + steps;
    const wait = (): void => {
      if (this.steps >= due || this.isIdle) then();
      else this.scheduler.add('store', undefined, wait);
    };
    this.scheduler.add('store', undefined, wait);
  }

  private get isIdle(): boolean {
    return this.scheduler.isEmpty;
  }

  /** A process takes the run over whose owner is gone, or may be. */
  private recover(): void {
    const { store } = this;
    if (store.hasEnded) return;
    const owner = this.processes.find(({ name }) => name === store.owner);
    if (owner?.hasRun === true && !owner.isCut) return;
    const free = this.processes.filter(({ isFree }) => isFree);
    if (free.length === 0) return;
    const process = this.random.pick(free);
    // A process that has given the run up has not died of it.
    const isDeath = store.owner !== UNOWNED && (owner === undefined || owner.isDead || owner.isCut);
    if (!store.claim(store.fence, process.name)) return;
    if (isDeath) store.run.takeovers += 1;
    this.note(() => `${process.name} takes the run over under fence ${store.fence}`);
    const { fence } = store;
    process.claimedAtCuts = process.cuts;
    // It may be cut off, or die, before it begins.
    process.isLaunching = true;
    this.scheduler.add('process', process, () => {
      process.isLaunching = false;
      if (store.fence === fence) this.launch(process);
      else this.recover();
    });
  }

  private launch(process: WorldProcess): void {
    const { store, machine } = this;
    const rules = this.rules();
    let session: RunSession;
    if (this.sessions.length === 0) {
      session = new RunSession(this, process, store.fence, machine.newRun(rules, INPUT, { usage: NO_USAGE }));
      this.register(process, session);
      session.start(undefined);
      return;
    }
    const stored = store.load(this.plan.tellsRecorded);
    const restored = machine.restoreRun(stored, rules);
    checkRestored(this, stored, restored);
    session = new RunSession(this, process, store.fence, restored.state, restored);
    this.register(process, session);
    const { error } = stored.run;
    session.start(error && restoreError(error.code, error.message, undefined));
  }

  private register(process: WorldProcess, session: RunSession): void {
    process.session = session;
    this.sessions.push(session);
    if (process.isDraining) session.leaveIfIdle();
  }

  private rules(): RunRules {
    const { plan } = this;
    return {
      ...{ executionId: RUN_ID, userId: 'u', model: 'm', inputLength: INPUT.length, limits: plan.limits, tools: TOOLS },
      ...{ missingTools: [], isStored: true, durability: plan.durability, description: {} },
    };
  }

  private liveSession(): RunSession | undefined {
    return this.processes.find(({ isDead, session }) => !isDead && session !== undefined && !session.isOver)?.session;
  }

  // People, tools and other runs

  onWait(call: ToolCall): void {
    const id = decisionId('', call);
    if (this.noticed.has(id)) return;
    this.noticed.add(id);
    this.scheduler.add('person', undefined, () => this.decide(call, id));
  }

  private decide(call: ToolCall, id: string): void {
    const { store } = this;
    for (const { session } of this.processes) session?.ensureStored();
    if (store.hasEnded || store.commands.has(id)) return;
    const isWaiting = (each: ToolCall | undefined): boolean =>
      each !== undefined && !isSettled(each) && decisionId('', each) === id;
    const isKnown =
      isWaiting(store.call(call.id)) ||
      this.processes.some(({ isDead, session }) => !isDead && isWaiting(session?.state.calls.get(call.id)));
    if (!isKnown) {
      this.noticed.delete(id);
      return;
    }
    // A run that was started for the call answers it.
    if (toolOf(call.name).kind === 'run' && waitOf(call) === 'external' && this.random.chance(0.8)) return;
    const action = this.decisionOn(call);
    store.commands.set(id, action);
    this.note(() => `A person decides: ${action.kind} ${call.id} (${call.state})`);
    this.tell(action);
  }

  private decisionOn({ id: callId, state }: ToolCall): RunAction {
    const { random, plan } = this;
    const by = { userId: 'person', at: this.steps };
    const isRejected = random.chance(plan.rejects);
    if (state === 'executing' || (state === 'needs_review' && random.chance(0.4)))
      return {
        ...{ kind: 'submit', callId, by },
        result: isRejected ? { error: 'It failed.' } : { output: 'by a person' },
      };
    return isRejected ? { kind: 'reject', callId, by, reason: 'No.' } : { kind: 'approve', callId, by };
  }

  private cancel(isStored: boolean): void {
    if (!isStored) {
      this.liveSession()?.cancel(ABORTED);
      return;
    }
    if (this.store.hasEnded) return;
    this.note(() => 'A person cancels the run');
    const action: RunAction = { kind: 'cancel' };
    this.store.commands.set('cancel', action);
    this.tell(action);
  }

  private sendMessage({ index, message }: SentMessage): void {
    const { when, change } = message;
    const id = `m${index}`;
    const text = `message ${index}`;
    if (!this.store.addMessage({ messageId: id, when, item: messageItem(text), at: this.steps })) return;
    this.note(() => `Somebody sends ${id} for ${when}`);
    this.accepted.set(id, { place: this.store.queue.length, when, text, isMoved: false });
    this.tell({ kind: 'message', when });
    if (change !== undefined) this.after(change.after, () => this.changeMessage(id, change.to));
  }

  private changeMessage(id: string, to: MessageTime | 'withdrawn'): void {
    const accepted = this.accepted.get(id)!;
    const changed = to === 'withdrawn' ? undefined : { when: to, item: messageItem(`${accepted.text}, edited`) };
    if (!this.store.changeMessage(id, changed)) return;
    this.note(() => `Somebody changes ${id} to ${to}`);
    if (to === 'withdrawn') this.accepted.delete(id);
    else {
      this.accepted.set(id, { ...accepted, when: to, text: `${accepted.text}, edited`, isMoved: to !== accepted.when });
      this.tell({ kind: 'message', when: to });
    }
  }

  private tell(action: RunAction): void {
    for (const process of this.processes)
      if (!process.isDead) this.scheduler.add('person', process, () => process.session?.apply(action));
  }

  onEffect({ id, name }: ToolCall): void {
    const times = (this.effects.get(id) ?? 0) + 1;
    this.effects.set(id, times);
    this.note(() => `${name} ${id} has its effect`);
    const allowed = 1 + (this.reruns.get(id) ?? 0);
    const isKeyed = toolOf(name).idempotent === true;
    ensure(isKeyed || times <= allowed, () => `${name} ${id} has its effect ${times} times.`);
  }

  onRerunApproved(callId: string): void {
    this.reruns.set(callId, (this.reruns.get(callId) ?? 0) + 1);
  }

  effectsOf(callId: string): number {
    return this.effects.get(callId) ?? 0;
  }

  startChild(callId: string): void {
    const state = this.children.get(callId);
    if (state === undefined) this.children.set(callId, 'running');
    this.scheduler.add('tool', undefined, () => this.endChild(callId));
  }

  private endChild(callId: string): void {
    const state = this.children.get(callId);
    if (state === 'cancelled') return;
    if (state === 'running' && this.random.chance(CHILD_GOES_ON)) {
      this.scheduler.add('tool', undefined, () => this.endChild(callId));
      return;
    }
    this.children.set(callId, 'ended');
    for (const { isDead, isCut, session } of this.processes)
      if (!isDead && !isCut && session !== undefined && !session.isOver) session.onChildEnded(callId);
      else if (!isDead && isCut) this.scheduler.add('tool', undefined, () => this.endChild(callId));
  }

  cancelChildren(): void {
    for (const [callId, state] of this.children) if (state === 'running') this.children.set(callId, 'cancelled');
  }
}

/** A message as its sender knows it. */
export interface AcceptedMessage {
  /** In the order in which the store has accepted them. */
  readonly place: number;
  readonly when: MessageTime;
  readonly text: string;
  /** It is due at another time than it was sent for. */
  readonly isMoved: boolean;
}

interface SentMessage {
  readonly kind: 'message';
  readonly at: number;
  readonly index: number;
  readonly message: PlannedMessage;
}

function toFault(message: PlannedMessage, index: number): SentMessage {
  return { kind: 'message', at: message.at, index, message };
}

function atOf(fault: MachineFault | SentMessage): number {
  return 'at' in fault ? fault.at : 0;
}
