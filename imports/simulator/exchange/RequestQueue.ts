/** Hands requests to waiting tests, first in, first out on both sides. */
import type { RecordedRequest } from '../RecordedRequest';

export class RequestQueue {
  private readonly queued: RecordedRequest[] = [];
  private readonly waiting: {
    readonly resolve: (request: RecordedRequest) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  private readonly eventName: string;
  private readonly limit: number;

  /** @param limit requests that are queued at most; older ones are dropped */
  constructor(eventName: string, limit: number) {
    this.eventName = eventName;
    this.limit = limit;
  }

  push(request: RecordedRequest): void {
    const waiter = this.waiting.shift();
    if (waiter !== undefined) {
      waiter.resolve(request);
      return;
    }
    this.queued.push(request);
    if (this.queued.length > this.limit) this.queued.shift();
  }

  next(): Promise<RecordedRequest> {
    const request = this.queued.shift();
    if (request !== undefined) return Promise.resolve(request);
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  close(): void {
    for (const { reject } of this.waiting.splice(0))
      reject(new Error(`The simulator was closed before the next ${this.eventName}.`));
  }
}
