/** Records every request and lets tests await its arrival, abort or finish without polling. */
import { EventEmitter } from 'eventemitter3';
import type { RecordedRequest } from '../RecordedRequest';
import type { SimulatorEvents } from '../Simulator';
import { RequestQueue } from './RequestQueue';

type MutableRecordedRequest = { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] };

export class RequestJournal {
  readonly requests: RecordedRequest[] = [];
  readonly events = new EventEmitter<SimulatorEvents>();
  readonly arrived: RequestQueue;
  readonly aborted: RequestQueue;
  readonly finished: RequestQueue;
  private readonly historyLimit: number;
  private count = 0;

  constructor(historyLimit: number) {
    this.historyLimit = historyLimit;
    this.arrived = new RequestQueue('request', historyLimit);
    this.aborted = new RequestQueue('abort', historyLimit);
    this.finished = new RequestQueue('finish', historyLimit);
  }

  /** @returns the shared entry, which the caller completes until the exchange ends */
  record(request: Omit<RecordedRequest, 'number' | 'aborted' | 'finished'>): MutableRecordedRequest {
    this.count += 1;
    const entry: MutableRecordedRequest = { ...request, number: this.count, aborted: false, finished: false };
    this.requests.push(entry);
    if (this.requests.length > this.historyLimit) this.requests.shift();
    this.arrived.push(entry);
    this.events.emit('request', entry);
    return entry;
  }

  end(entry: MutableRecordedRequest, finished: boolean): void {
    entry.finished = finished;
    entry.aborted = !finished;
    (finished ? this.finished : this.aborted).push(entry);
    this.events.emit(finished ? 'finish' : 'abort', entry);
  }

  /** Rejects everyone who still waits for a request. */
  close(): void {
    for (const queue of [this.arrived, this.aborted, this.finished]) queue.close();
  }
}
