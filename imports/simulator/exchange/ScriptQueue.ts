/** The scripted responses that wait for their requests, and the requests that found none. */
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { ScriptedResponse } from '../ScriptedResponse';

export class ScriptQueue {
  private readonly queued: ScriptedResponse[] = [];
  private readonly unscriptedRequests: string[] = [];
  private hasScript = false;

  add(responses: readonly ScriptedResponse[]): void {
    this.hasScript = true;
    this.queued.push(...responses);
  }

  /** Removes and returns the first response for any vendor or for this one. */
  take(vendor: VendorName): ScriptedResponse | undefined {
    const index = this.indexFor(vendor);
    return index < 0 ? undefined : this.queued.splice(index, 1)[0];
  }

  has(vendor: VendorName): boolean {
    return this.indexFor(vendor) >= 0;
  }

  /** A new connection has no vendor yet, so only the next response in line can refuse it, if it is for any vendor. */
  takeRefusedConnection(): boolean {
    const [first] = this.queued;
    if (
      first === undefined ||
      typeof first === 'function' ||
      first.vendor !== undefined ||
      first.fault?.kind !== 'refuse-connection'
    )
      return false;
    this.queued.shift();
    return true;
  }

  /** Notes a request that neither a script nor a recording covered. It is only a problem if the test uses scripts. */
  reportUnscripted(request: string): void {
    if (this.hasScript) this.unscriptedRequests.push(request);
  }

  problems(): readonly string[] {
    const left = this.queued.length;
    return [
      ...(left === 0
        ? []
        : [
            `${left} scripted ${left === 1 ? 'response was' : 'responses were'} never requested: ${this.queued.map(describe).join('; ')}`,
          ]),
      ...(this.unscriptedRequests.length === 0
        ? []
        : [`No response was scripted for: ${this.unscriptedRequests.join('; ')}`]),
    ];
  }

  private indexFor(vendor: VendorName): number {
    return this.queued.findIndex(
      (response) => typeof response === 'function' || response.vendor === undefined || response.vendor === vendor,
    );
  }
}

function describe(response: ScriptedResponse): string {
  return typeof response === 'function' ? 'a function' : JSON.stringify(response).slice(0, 120);
}
