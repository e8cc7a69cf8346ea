/** One process: an instance of the engine with clocks, timers, randomness and a network of its own. */
import type { EngineBundle } from './EngineBundle';
import type { NetworkedProcess } from './Network';
import { processGlobals } from './ProcessGlobals';
import type { Clock } from './ProcessGlobals';
import type { ProcessHost } from './ProcessHost';
import type { ProcessProgram } from './processProgram';
import { SeededRandom } from './SeededRandom';
import type { VirtualTime } from './VirtualTime';

export interface SimulatedProcessOptions {
  readonly bundle: EngineBundle;
  readonly time: VirtualTime;
  readonly seed: number;
  readonly slot: number;
  /** How many processes there were in the slot before. */
  readonly incarnation: number;
  readonly print: (line: string) => void;
}

/** The beginning of virtual time, in milliseconds since the epoch. */
const EPOCH = 1_750_000_000_000;
/** By how many milliseconds the clocks of machines differ at most. */
const SKEW = 60_000;

export class SimulatedProcess implements NetworkedProcess, Clock {
  readonly name: string;
  readonly slot: number;
  /** The randomness of its network, and of what it draws itself. */
  readonly random: SeededRandom;
  isDead = false;
  /** It takes no requests any more. */
  isClosing = false;
  /** The first scan for lost runs has ended. */
  isReady = false;
  pausedUntil = 0;
  readsBeforeTimers = false;
  private readonly time: VirtualTime;
  private readonly startedAt: number;
  private skew: number;
  private readonly instance: ReturnType<EngineBundle>;
  private loaded: ProcessProgram | undefined;

  constructor({ bundle, time, seed, slot, incarnation, print }: SimulatedProcessOptions) {
    this.name = `process ${slot}.${incarnation}`;
    this.slot = slot;
    this.time = time;
    this.startedAt = time.now;
    this.random = SeededRandom.of(seed, this.name);
    this.skew = this.random.between(-SKEW, SKEW);
    this.instance = bundle(
      processGlobals({
        time,
        executor: this,
        clock: this,
        random: this.random,
        print,
      }),
    );
  }

  boot(host: ProcessHost): void {
    this.loaded = new this.instance.ProcessProgram(host);
  }

  /** @throws Error before it has booted */
  get program(): ProcessProgram {
    if (this.loaded === undefined) throw new Error(`${this.name} has not booted.`);
    return this.loaded;
  }

  /** Whether it takes requests at this moment. */
  get isAvailable(): boolean {
    return !this.isDead && !this.isClosing && this.isReady && this.pausedUntil <= this.time.now;
  }

  /** The code of an error that this process has thrown. */
  errorCode(error: unknown): string | undefined {
    return this.instance.errorCode(error);
  }

  wallTime(): number {
    return EPOCH + this.time.now + this.skew;
  }

  monotonic(): number {
    return this.time.now - this.startedAt;
  }

  setClock(by: number): void {
    this.skew += by;
  }

  pause(duration: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.time.now + duration);
    this.readsBeforeTimers = this.random.chance(0.5);
  }

  /** Something is done in the process, unless it is dead by then. */
  run(work: () => void): void {
    this.time.after(0, work, this);
  }
}
