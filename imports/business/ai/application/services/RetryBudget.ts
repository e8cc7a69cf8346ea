/** Keeps retries at a share of the requests, so that a host in trouble is not given more traffic for it. */
export class RetryBudget {
  private readonly capacity: number;
  private readonly perRequest: number;
  private tokens: number;

  /** @param perRequest tokens that a request adds; a retry costs one */
  constructor(capacity: number, perRequest: number) {
    this.capacity = capacity;
    this.perRequest = perRequest;
    this.tokens = capacity;
  }

  addRequest(): void {
    // Rounded, since ten tenths must make a whole.
    this.tokens = Math.min(this.capacity, Math.round((this.tokens + this.perRequest) * 1e6) / 1e6);
  }

  /** @returns whether one more retry may be made; it is paid then */
  takeRetry(): boolean {
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}
