/** How many tools of a run may be at work at a time, in the order in which they ask. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.free = limit;
  }

  acquire(then: () => void): void {
    if (this.free === 0) this.waiting.push(then);
    else {
      this.free -= 1;
      then();
    }
  }

  release(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}
