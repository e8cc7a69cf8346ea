/** Measures the CPU time of turns at several points of a long run, by counting the calls of its tool. */
import type { Mark } from './workloads';

export class TurnClock {
  private turn = 0;
  private runs = 0;
  private readonly started = new Map<Mark, NodeJS.CpuUsage>();
  private readonly spent = new Map<Mark, number>();

  constructor(private readonly marks: readonly Mark[]) {}

  /** Begins a run. */
  start(): void {
    this.turn = 0;
    this.runs += 1;
  }

  /** Forgets the runs so far. */
  reset(): void {
    this.runs = 0;
    this.spent.clear();
  }

  counting<A extends readonly unknown[], R>(tool: (...args: A) => R): (...args: A) => R {
    return (...args) => {
      this.turn += 1;
      for (const mark of this.marks) {
        if (this.turn === mark.from) this.started.set(mark, process.cpuUsage());
        if (this.turn !== mark.to) continue;
        const { user, system } = process.cpuUsage(this.started.get(mark));
        this.spent.set(mark, (this.spent.get(mark) ?? 0) + user + system);
      }
      return tool(...args);
    };
  }

  /** @returns microseconds per turn, in the order of the marks */
  costs(): number[] {
    return this.marks.map((mark) => (this.spent.get(mark) ?? NaN) / this.runs / (mark.to - mark.from));
  }
}
