/** Remembers the entries of the request log. */
import type { RequestLog } from '../../imports/business/requestLog/domain/RequestLog';
import type { RequestBodies, RequestEntry } from '../../imports/business/ai/domain/types/RequestRecords';
import { until } from './until';

export class RecordingRequestLog implements RequestLog {
  readonly recordsBodies: boolean;
  readonly entries: RequestEntry[] = [];
  readonly bodies: (RequestBodies | undefined)[] = [];

  constructor(recordsBodies = false) {
    this.recordsBodies = recordsBodies;
  }

  add(entry: RequestEntry, bodies?: RequestBodies): void {
    this.entries.push(entry);
    this.bodies.push(bodies);
  }

  /** Waits for the entries of so many calls. A client that has left learns nothing of its call's end. */
  async seen(count: number): Promise<readonly RequestEntry[]> {
    await until(() => this.entries.length >= count);
    return this.entries;
  }
}
