/** Runs a schedule: processes, the services around them, people, and the faults that were planned. */
import type { StoredRun } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { RunHead } from '../../imports/business/ai/domain/types/RunRecords';
import { isSettled } from '../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import { RUN_END_EVENTS } from '../../imports/business/ai/domain/types/AgentEvents';
import type { LocalAgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import type { Item, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { EngineBundle } from './EngineBundle';
import { Network } from './Network';
import { Observations } from './Observations';
import type { SeenAnswer } from './Observations';
import { endOfFaults, isConfusing } from './Plan';
import type { Fault, Plan, PlannedMessage, PlannedRun } from './Plan';
import type { ProcessHost } from './ProcessHost';
import { Reviewer } from './Reviewer';
import { SeededRandom } from './SeededRandom';
import { SimulatedProcess } from './SimulatedProcess';
import { SimulatedStore } from './SimulatedStore';
import type { StoreObserver } from './SimulatedStore';
import { simulatedAnswer } from './simulatedModel';
import { VirtualTime } from './VirtualTime';

/** Milliseconds after the last fault within which every run must have ended. */
const PATIENCE = 180_000;
/** Milliseconds after the last run's end, or late write, in which nothing may begin and what is left is tidied up. */
const AFTERMATH = 10_000;
/** Milliseconds between two attempts at what a process could not do. */
const RETRY = 500;
/** Milliseconds for which a slow tool works, at most. */
const SLOW_TOOL = 6_000;
/** Milliseconds after which a client repeats a request that got no answer. */
const CLIENT_TIMEOUT = 20_000;
/** Milliseconds within which an orderly shutdown has ended, or is ended. */
const CLOSE_TIMEOUT = 30_000;

export class Simulation implements StoreObserver {
  readonly plan: Plan;
  readonly seen = new Observations();
  readonly time = new VirtualTime();
  readonly store: SimulatedStore;
  /** What happened, a line each. The same plan gives the same lines. */
  readonly trail: string[] = [];
  /** All that there were. */
  readonly processes: SimulatedProcess[] = [];
  private readonly bundle: EngineBundle;
  private readonly network: Network;
  private readonly random: SeededRandom;
  private answers = 0;

  constructor(plan: Plan, bundle: EngineBundle) {
    this.plan = plan;
    this.bundle = bundle;
    this.random = SeededRandom.of(plan.seed, 'world');
    this.network = new Network({
      plan,
      time: this.time,
      onKill: (process, restartAfter) => this.kill(process.slot, restartAfter, 'at a write'),
    });
    this.store = new SimulatedStore(plan, this.network, this);
  }

  /** @returns whether every run has ended in time */
  async run(): Promise<boolean> {
    const { plan, time } = this;
    for (let slot = 0; slot < plan.slots; slot += 1) this.boot(slot);
    for (const run of plan.runs) time.after(run.at, () => this.request(run));
    for (const message of plan.messages) time.after(message.at, () => this.send(message));
    for (const fault of plan.faults) if ('at' in fault) time.after(fault.at, () => this.inflict(fault));
    for (const reviewer of plan.reviewers) {
      const random = SeededRandom.of(plan.seed, reviewer.name);
      this.review(
        new Reviewer({
          reviewer,
          random,
          isConfusing: isConfusing(plan),
          hadEffect: this.hadEffect,
        }),
      );
    }
    const haveEnded = (): boolean => plan.runs.every(({ id }) => this.store.hasEnded(id));
    const isOver = await time.until(haveEnded, endOfFaults(plan) + PATIENCE);
    const over = Math.max(time.now, endOfFaults(plan));
    await time.until(() => time.now > Math.max(over, this.network.lateUntil) + plan.lease + AFTERMATH, Infinity);
    return isOver;
  }

  onRunChanged(_before: RunHead | undefined, { executionId, owner, fence, state, seq }: RunHead): void {
    this.note(`${executionId} ${state} of ${this.nameOf(owner)} fence ${fence} seq ${seq}`);
  }

  onStolen({ executionId, owner }: RunHead, from: string, silence: number): void {
    this.problem(
      `${executionId} was taken by ${this.nameOf(owner)} from ${this.nameOf(from)}, which was known to be silent for ${Math.round(silence)} ms at most`,
    );
  }

  onUnknownCall(executionId: string, callId: string): void {
    this.problem(`${executionId}: ${callId} is stored, and not in the transcript`);
  }

  private nameOf(ownerId: string): string {
    const process = this.store.processOf(ownerId);
    return process === undefined ? ownerId : `process ${process.slot}`;
  }

  private note(text: string): void {
    this.trail.push(`${this.time.now.toFixed(2)} ${text}`);
  }

  private problem(text: string): void {
    this.note(`PROBLEM ${text}`);
    this.seen.problems.push(text);
  }

  private boot(slot: number): void {
    const { bundle, time } = this;
    const incarnation = this.processes.filter((process) => process.slot === slot).length;
    const print = (line: string): void => this.note(`slot ${slot} prints ${line}`);
    const process = new SimulatedProcess({
      bundle,
      time,
      seed: this.plan.seed,
      slot,
      incarnation,
      print,
    });
    this.processes.push(process);
    process.boot(this.hostOf(process));
    const { ownerId } = process.program;
    if (ownerId !== undefined) this.store.register(process, ownerId);
    this.note(`${process.name} starts`);
    const recover = (): void => {
      process.program.recover().then(
        () => (process.isReady = true),
        () => time.after(RETRY, recover, process),
      );
    };
    process.run(recover);
  }

  private hostOf(process: SimulatedProcess): ProcessHost {
    return {
      plan: this.plan,
      ...this.store.connect(process),
      callModel: (executionId, input, speaker) => this.callModel(process, { executionId, input, speaker }),
      act: (tool, key, result) => this.act(process, tool, key, result),
      onEvent: (event) => this.onEvent(process, event),
      onLog: (level, message, error) => this.note(`${process.name} ${level} ${message} ${describe(error)}`),
    };
  }

  private async callModel(process: SimulatedProcess, sent: SeenAnswer): Promise<LLMResponse> {
    const { executionId } = sent;
    const input = structuredClone(sent.input);
    const speaker = { ...sent.speaker };
    this.note(`${process.name} asks the model for ${executionId} with ${input.length} items`);
    await this.checkModelCall(process, executionId, input);
    return this.network.callService(process, () => {
      this.answers += 1;
      const id = `resp_${this.answers}`;
      this.seen.answers.set(id, { executionId, input, speaker });
      const run = this.plan.runs.find((each) => each.id === executionId) ?? {};
      return { value: simulatedAnswer(input, id, run), takes: 0 };
    });
  }

  private async act(process: SimulatedProcess, tool: string, key: string, result: string): Promise<string> {
    this.note(`${process.name} runs ${tool} ${key}`);
    await this.checkToolStart(process, tool, key);
    return this.network.callService(process, () => {
      this.note(`${tool} ${key} has its effect`);
      this.seen.effects.push({
        process: process.name,
        at: this.time.now,
        tool,
        key,
      });
      const isSlow = this.plan.hasSlowTools && this.random.chance(0.5);
      return {
        value: result,
        takes: isSlow ? this.random.below(SLOW_TOOL) : 0,
      };
    });
  }

  /** Nothing is done before it is recorded. */
  private async checkToolStart(process: SimulatedProcess, tool: string, key: string): Promise<void> {
    const [executionId = '', callId = ''] = key.split(':');
    const { run, calls } = (await this.store.load(executionId))!;
    const call = calls.find(({ id }) => id === callId);
    const what = `${process.name} runs ${tool} ${key}`;
    if (run.owner !== process.program.ownerId) {
      if (!isConfusing(this.plan)) this.problem(`${what}, but ${this.nameOf(run.owner)} has the run`);
    } else if (call?.state !== 'executing') this.problem(`${what}, which is stored as ${call?.state ?? 'nothing'}`);
  }

  private async checkModelCall(process: SimulatedProcess, executionId: string, input: readonly Item[]): Promise<void> {
    const { run } = (await this.store.load(executionId))!;
    const what = `${process.name} asks the model for ${executionId}`;
    if (run.owner !== process.program.ownerId) {
      if (!isConfusing(this.plan)) this.problem(`${what}, but ${this.nameOf(run.owner)} has the run`);
    } else if (run.plan.durability === undefined || run.plan.durability === 'step') {
      if (!run.isCalling) this.problem(`${what}, which is not recorded`);
      if (JSON.stringify(run.transcript) !== JSON.stringify(input))
        this.problem(`${what} with ${input.length} items, but ${run.transcript.length} are recorded, or others`);
    }
  }

  private onEvent(process: SimulatedProcess, event: LocalAgentEvent): void {
    const call = 'callId' in event ? ` ${event.callId}` : '';
    this.note(`${process.name} emits ${event.type} ${event.executionId}${call} seq ${event.seq}`);
    this.seen.events.push({ process: process.name, at: this.time.now, event });
    if (RUN_END_EVENTS.has(event.type) && !this.store.hasEnded(event.executionId))
      this.problem(`${process.name} emits ${event.type} of ${event.executionId} before it is recorded`);
  }

  private current(slot: number): SimulatedProcess | undefined {
    return this.processes.findLast((process) => process.slot === slot && !process.isDead);
  }

  /** Does it in a process that takes requests, as soon as there is one. */
  private inProcess(slot: number | undefined, work: (process: SimulatedProcess) => void): void {
    this.withProcess(slot, (process) => process.run(() => work(process)));
  }

  private withProcess(slot: number | undefined, use: (process: SimulatedProcess) => void): void {
    const process =
      slot === undefined
        ? this.random.pick([undefined, ...this.processes.filter(({ isAvailable }) => isAvailable)].slice(-4))
        : this.current(slot);
    if (process?.isAvailable === true) use(process);
    else this.time.after(RETRY, () => this.withProcess(slot, use));
  }

  /** A client starts the run, and asks again if it gets no answer. */
  private request(run: PlannedRun): void {
    this.withProcess(undefined, (process) => {
      let isAnswered = false;
      const again = (): void => {
        if (!this.seen.started.has(run.id)) this.request(run);
      };
      // The process may die before it has read the request.
      this.time.after(CLIENT_TIMEOUT, () => {
        if (!isAnswered) again();
      });
      process.run(() => {
        this.note(`${run.id} is requested in ${process.name}`);
        process.program.start(run).then(
          ({ done }) => {
            isAnswered = true;
            this.note(`${run.id} is accepted`);
            this.seen.started.add(run.id);
            void done.then((outcome) => this.seen.outcomes.push({ executionId: run.id, outcome }));
          },
          (error: unknown) => {
            isAnswered = true;
            this.note(`${run.id} is refused: ${process.errorCode(error) ?? describe(error)}`);
            if (process.errorCode(error) === 'conflict') this.seen.started.add(run.id);
            else this.time.after(RETRY, again);
          },
        );
      });
    });
  }

  /** Somebody sends a message, and again until it is known what became of it. */
  private send(message: PlannedMessage): void {
    this.withProcess(undefined, (process) => {
      let isAnswered = false;
      this.time.after(CLIENT_TIMEOUT, () => {
        if (!isAnswered) this.send(message);
      });
      process.run(() => {
        this.note(`${message.id} is sent to ${message.run} for ${message.when} in ${process.name}`);
        process.program.send(message).then(
          (result) => {
            isAnswered = true;
            this.note(`${message.id} is ${result}`);
            this.seen.accepted.add(message.id);
          },
          (error: unknown) => {
            isAnswered = true;
            // The run has ended.
            if (process.errorCode(error) === 'conflict') this.note(`${message.id} is refused`);
            else this.time.after(RETRY, () => this.send(message));
          },
        );
      });
    });
  }

  private inflict(fault: Extract<Fault, { readonly at: number }>): void {
    const process = 'slot' in fault ? this.current(fault.slot) : undefined;
    switch (fault.kind) {
      case 'kill':
        this.kill(fault.slot, fault.restartAfter, '');
        break;
      case 'close':
        if (process?.isAvailable === true) this.close(process, fault.grace, fault.restartAfter);
        break;
      case 'pause':
        process?.pause(fault.duration);
        this.note(`${process?.name ?? 'nobody'} stands still for ${fault.duration} ms`);
        break;
      case 'outage':
        this.network.cutOff(fault.duration);
        this.note(`the store is away for ${fault.duration} ms`);
        break;
      case 'partition':
        this.network.cutOff(fault.duration, fault.slot);
        this.note(`slot ${fault.slot} is cut off for ${fault.duration} ms`);
        break;
      case 'clockJump':
        process?.setClock(fault.by);
        this.note(`the clock of ${process?.name ?? 'nobody'} is set by ${fault.by} ms`);
        break;
      case 'cancel':
        this.cancel(fault);
        break;
    }
  }

  private kill(slot: number, restartAfter: number, where: string): void {
    const process = this.current(slot);
    if (process === undefined) return;
    process.isDead = true;
    this.note(`${process.name} is killed ${where}`);
    this.time.after(restartAfter, () => this.boot(slot));
  }

  private close(process: SimulatedProcess, grace: number | undefined, restartAfter: number): void {
    const exit = (): void => {
      if (process.isDead) return;
      process.isDead = true;
      this.note(`${process.name} exits`);
      this.time.after(restartAfter, () => this.boot(process.slot));
    };
    process.isClosing = true;
    this.note(`${process.name} closes`);
    process.run(() => void process.program.close(grace).then(exit));
    this.time.after(CLOSE_TIMEOUT, exit);
  }

  private cancel(fault: Extract<Fault, { readonly kind: 'cancel' }>): void {
    const { slot, run: executionId, killOwnerAfter } = fault;
    this.inProcess(slot, (process) => {
      this.note(`${executionId} is cancelled in ${process.name}`);
      const owner = this.store.processOf(this.store.head(executionId)?.owner ?? '');
      if (killOwnerAfter !== undefined && owner !== undefined)
        this.time.after(killOwnerAfter, () => {
          if (owner === this.current(owner.slot)) this.kill(owner.slot, RETRY, 'while it cancels a run');
        });
      process.program.cancel(executionId).then(
        (state) => {
          this.note(`the cancellation of ${executionId} is confirmed: ${state}`);
          const isOwner = this.store.head(executionId)?.owner === process.program.ownerId;
          this.seen.cancellations.push({
            executionId,
            at: this.time.now,
            isStored: !isOwner,
          });
        },
        () => this.time.after(RETRY, () => this.cancel(fault)),
      );
    });
  }

  private readonly hadEffect = (executionId: string, { name, id }: ToolCall): boolean =>
    this.seen.effectsOf(name, executionId, id).length > 0;

  private review(reviewer: Reviewer): void {
    this.time.after(reviewer.plan.interval, () => {
      for (const { id } of this.plan.runs)
        if (this.store.head(id) !== undefined && !this.store.hasEnded(id))
          void this.store.load(id).then((stored) => this.reviewRun(reviewer, stored!));
      this.review(reviewer);
    });
  }

  private reviewRun(reviewer: Reviewer, { run, calls }: StoredRun): void {
    const { executionId, parked } = run;
    if (parked !== undefined) {
      this.note(`${executionId} is parked as ${parked.reason}`);
      this.inProcess(undefined, (process) => void process.program.resumeParked(executionId).catch(() => undefined));
      return;
    }
    for (const call of calls) {
      if (isSettled(call)) continue;
      const decision = reviewer.decide(executionId, call, this.time.now);
      if (decision === undefined) continue;
      this.time.after(reviewer.thinkingTime(), () =>
        this.inProcess(undefined, (process) => {
          this.note(`${reviewer.plan.name} decides ${executionId} ${call.id}: ${decision.kind} in ${process.name}`);
          const seen: { reply?: string } = {};
          const sent = { executionId, callId: call.id, decision };
          this.seen.decisions.push(Object.assign(seen, sent));
          const onReply = (reply: string): void => {
            seen.reply = reply;
            this.note(`${reviewer.plan.name} is told about ${executionId} ${call.id}: ${reply}`);
          };
          process.program
            .decide(executionId, call.id, decision)
            .then(onReply, (error: unknown) => onReply(`error ${process.errorCode(error) ?? describe(error)}`));
        }),
      );
    }
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error ?? '');
}
