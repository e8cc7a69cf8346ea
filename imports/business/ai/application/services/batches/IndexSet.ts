/** A set of small integers that is stored as a string of bits. */
export class IndexSet {
  private readonly bits: Uint8Array;

  /** @param size the set holds integers from 0 below it @param stored what `toString` returned */
  constructor(size: number, stored = '') {
    this.bits = new Uint8Array(Math.ceil(size / 8));
    this.bits.set(Buffer.from(stored, 'base64').subarray(0, this.bits.length));
  }

  has(index: number): boolean {
    return ((this.bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
  }

  add(index: number): void {
    this.bits[index >> 3] = (this.bits[index >> 3] ?? 0) | (1 << (index & 7));
  }

  toString(): string {
    return Buffer.from(this.bits).toString('base64');
  }
}
