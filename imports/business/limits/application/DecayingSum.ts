/** A sum whose parts count half after each half-life. */
export class DecayingSum {
  private readonly halfLife: number;
  private sum = 0;
  private asOf = 0;

  /** @param halfLife milliseconds */
  constructor(halfLife: number) {
    this.halfLife = halfLife;
  }

  add(amount: number, now: number): void {
    this.sum = this.at(now) + amount;
    this.asOf = now;
  }

  at(now: number): number {
    return this.sum * 2 ** ((this.asOf - now) / this.halfLife);
  }
}
