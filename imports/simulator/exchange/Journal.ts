/** Remembers every request and tells waiting tests, each once and in order, so that nobody has to poll or sleep. */
import { EventEmitter } from 'eventemitter3';
import type { RecordedRequest } from '../RecordedRequest';
import type { SimulatorEvents } from '../Simulator';

type Editable = { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] };

export class Journal {
  readonly requests: RecordedRequest[] = [];
  readonly events = new EventEmitter<SimulatorEvents>();
  readonly arrivals: Turnstile;
  readonly aborts: Turnstile;
  readonly finishes: Turnstile;
  private readonly remember: number;
  private count = 0;

  constructor(remember: number) {
    this.remember = remember;
    this.arrivals = new Turnstile('request', remember);
    this.aborts = new Turnstile('abort', remember);
    this.finishes = new Turnstile('finish', remember);
  }

  /** The entry is shared: it grows until the exchange is over. */
  open(facts: Omit<RecordedRequest, 'number' | 'aborted' | 'finished'>): Editable {
    this.count += 1;
    const entry: Editable = { ...facts, number: this.count, aborted: false, finished: false };
    this.requests.push(entry);
    if (this.requests.length > this.remember) this.requests.shift();
    this.arrivals.pass(entry);
    this.events.emit('request', entry);
    return entry;
  }

  close(entry: Editable, finished: boolean): void {
    entry.finished = finished;
    entry.aborted = !finished;
    (finished ? this.finishes : this.aborts).pass(entry);
    this.events.emit(finished ? 'finish' : 'abort', entry);
  }

  /** Whoever still waits is told that nothing will come. */
  end(): void {
    for (const turnstile of [this.arrivals, this.aborts, this.finishes]) turnstile.end();
  }
}

/** First come, first served, on both sides. */
class Turnstile {
  private readonly passed: RecordedRequest[] = [];
  private readonly waiting: {
    readonly resolve: (request: RecordedRequest) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  private readonly what: string;
  private readonly remember: number;

  constructor(what: string, remember: number) {
    this.what = what;
    this.remember = remember;
  }

  pass(request: RecordedRequest): void {
    const next = this.waiting.shift();
    if (next !== undefined) {
      next.resolve(request);
      return;
    }
    this.passed.push(request);
    if (this.passed.length > this.remember) this.passed.shift();
  }

  next(): Promise<RecordedRequest> {
    const passed = this.passed.shift();
    if (passed !== undefined) return Promise.resolve(passed);
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  end(): void {
    for (const { reject } of this.waiting.splice(0))
      reject(new Error(`The simulator was closed before the next ${this.what}.`));
  }
}
