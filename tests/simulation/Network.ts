/** Carries the requests of processes: they take time, and are lost with processes, in outages and as planned. */
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { Fault, Plan } from './Plan';
import type { Reply } from './ProcessHost';
import type { SeededRandom } from './SeededRandom';
import type { Executor, VirtualTime } from './VirtualTime';

export interface NetworkedProcess extends Executor {
  readonly name: string;
  readonly slot: number;
  readonly random: SeededRandom;
}

export interface NetworkOptions {
  readonly plan: Pick<Plan, 'faults' | 'delayed'>;
  readonly time: VirtualTime;
  /** A process dies at one of its writes. */
  readonly onKill: (process: NetworkedProcess, restartAfter: number) => void;
}

type WriteFault = Extract<Fault, { readonly write: number }>;

/** Milliseconds: mostly, and now and then. */
const LATENCY = 5;
const STORE_DELAY = 900;
const SERVICE_DELAY = 3_000;
/** Until a process gives a request up, at most. */
const PATIENCE = 2_000;
/** The probability that a request was sent before its process died. */
const SENT = 0.5;
const UNAVAILABLE: Reply = {
  failure: {
    code: 'store-unavailable',
    message: 'The store cannot be reached.',
  },
};

export class Network {
  private readonly plan: NetworkOptions['plan'];
  private readonly time: VirtualTime;
  private readonly onKill: NetworkOptions['onKill'];
  /** How many writes each slot has made. */
  private readonly writes = new Map<number, number>();
  /** By lane, when its last request arrives. */
  private readonly arrivals = new Map<string, number>();
  /** When the last of the late writes so far arrives. */
  lateUntil = 0;
  private outageUntil = 0;
  /** Milliseconds of all outages, including what is left of the present one. */
  private outages = 0;
  private readonly partitionedUntil = new Map<number, number>();

  constructor({ plan, time, onKill }: NetworkOptions) {
    this.plan = plan;
    this.time = time;
    this.onKill = onKill;
  }

  /** Milliseconds for which the store could be reached so far. */
  get upTime(): number {
    return this.time.now - this.outages + Math.max(0, this.outageUntil - this.time.now);
  }

  /** @param slot absent: nobody reaches the store */
  cutOff(duration: number, slot?: number): void {
    const until = this.time.now + duration;
    if (slot === undefined) {
      this.outages += Math.max(0, until - Math.max(this.time.now, this.outageUntil));
      this.outageUntil = Math.max(this.outageUntil, until);
    } else this.partitionedUntil.set(slot, Math.max(this.partitionedUntil.get(slot) ?? 0, until));
  }

  /**
   * @param work takes effect at once
   * @param lane requests with the same one arrive in the order in which they were sent. Absent: in any order
   */
  callStore(process: NetworkedProcess, isWrite: boolean, work: () => Promise<unknown>, lane?: string): Promise<Reply> {
    const { time } = this;
    return new Promise((resolve) => {
      const answer = (reply: Reply, delay: number): void => time.after(delay, () => resolve(reply), process);
      const fail = (): void => answer(UNAVAILABLE, process.random.below(PATIENCE));
      if (this.isCutOff(process)) {
        fail();
        return;
      }
      const fault = isWrite ? this.nextWriteFault(process.slot) : undefined;
      time.after(this.inOrder(lane, this.latency(process, STORE_DELAY)), () => {
        if (process.isDead && !process.random.chance(SENT)) return;
        if (fault?.kind === 'killAtWrite' && !process.isDead) {
          this.onKill(process, fault.restartAfter);
          if (!fault.isWritten) return;
        }
        if (this.isCutOff(process)) {
          fail();
          return;
        }
        if (fault?.kind === 'lateWrite') {
          this.lateUntil = Math.max(this.lateUntil, time.now + fault.delay);
          time.after(fault.delay, () => void replyOf(work));
          fail();
          return;
        }
        void replyOf(work).then((reply) => {
          if (fault?.kind === 'lostReply' || this.isCutOff(process)) fail();
          else answer(reply, this.latency(process, STORE_DELAY));
        });
      });
    });
  }

  /** @param work takes effect at once, and says after how many milliseconds it answers */
  callService<T>(process: NetworkedProcess, work: () => { readonly value: T; readonly takes: number }): Promise<T> {
    const { time } = this;
    return new Promise((resolve) => {
      time.after(this.latency(process, SERVICE_DELAY), () => {
        if (process.isDead && !process.random.chance(SENT)) return;
        const { value, takes } = work();
        time.after(takes + this.latency(process, SERVICE_DELAY), () => resolve(value), process);
      });
    });
  }

  private isCutOff({ slot }: NetworkedProcess): boolean {
    return this.time.now < Math.max(this.outageUntil, this.partitionedUntil.get(slot) ?? 0);
  }

  private latency({ random }: NetworkedProcess, delay: number): number {
    return random.chance(this.plan.delayed) ? random.next() * delay : random.next() * LATENCY;
  }

  /** @returns a delay after which no earlier request of the lane is under way */
  private inOrder(lane: string | undefined, delay: number): number {
    if (lane === undefined) return delay;
    const arrival = Math.max(this.time.now + delay, this.arrivals.get(lane) ?? 0);
    this.arrivals.set(lane, arrival);
    return arrival - this.time.now;
  }

  private nextWriteFault(slot: number): WriteFault | undefined {
    const count = (this.writes.get(slot) ?? 0) + 1;
    this.writes.set(slot, count);
    return this.plan.faults.find(
      (fault): fault is WriteFault => 'write' in fault && fault.slot === slot && fault.write === count,
    );
  }
}

async function replyOf(work: () => Promise<unknown>): Promise<Reply> {
  try {
    return { value: structuredClone(await work()) };
  } catch (error) {
    if (!isLLMError(error)) throw error;
    return { failure: { code: error.code, message: error.message } };
  }
}
