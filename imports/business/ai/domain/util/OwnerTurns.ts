/** Runs one task at a time. Owners take turns: one with many tasks delays another by no more than one of them. */
export class OwnerTurns {
  /** Waiting tasks by owner. The owner whose turn is next comes first. */
  private readonly waiting = new Map<string, (() => void)[]>();
  private isBusy = false;

  /** @throws what the task throws */
  async run<T>(owner: string, task: () => Promise<T>): Promise<T> {
    if (this.isBusy) await this.turnOf(owner);
    this.isBusy = true;
    try {
      return await task();
    } finally {
      this.next();
    }
  }

  private turnOf(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const tasks = this.waiting.get(owner) ?? [];
      tasks.push(resolve);
      this.waiting.set(owner, tasks);
    });
  }

  /** The turn passes directly to the next in line. */
  private next(): void {
    const [first] = this.waiting;
    this.isBusy = first !== undefined;
    if (first === undefined) return;
    const [owner, [start, ...others]] = first;
    this.waiting.delete(owner);
    if (others.length > 0) this.waiting.set(owner, others);
    start?.();
  }
}
