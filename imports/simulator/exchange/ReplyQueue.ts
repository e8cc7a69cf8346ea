/** The scripted replies that wait for their requests, and the account of those that found none. */
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { ScriptedReply } from '../ScriptedReply';

export class ReplyQueue {
  private readonly waiting: ScriptedReply[] = [];
  private readonly unscripted: string[] = [];
  private scripted = false;

  add(replies: readonly ScriptedReply[]): void {
    this.scripted = true;
    this.waiting.push(...replies);
  }

  /** The first reply that is for any vendor or for this one. */
  take(vendor: VendorName): ScriptedReply | undefined {
    const index = this.indexFor(vendor);
    return index < 0 ? undefined : this.waiting.splice(index, 1)[0];
  }

  has(vendor: VendorName): boolean {
    return this.indexFor(vendor) >= 0;
  }

  /** A refused connection has no vendor yet: only a reply for any vendor, next in line, can refuse it. */
  takeRefusedConnection(): boolean {
    const [first] = this.waiting;
    if (
      first === undefined ||
      typeof first === 'function' ||
      first.vendor !== undefined ||
      first.fault?.kind !== 'refuse-connection'
    )
      return false;
    this.waiting.shift();
    return true;
  }

  /** A request that neither a script nor a recording answered. */
  miss(request: string): void {
    if (this.scripted) this.unscripted.push(request);
  }

  complaints(): readonly string[] {
    const left = this.waiting.length;
    return [
      ...(left === 0
        ? []
        : [
            `${left} scripted ${left === 1 ? 'reply was' : 'replies were'} never asked for: ${this.waiting.map(describe).join('; ')}`,
          ]),
      ...(this.unscripted.length === 0 ? [] : [`no reply was scripted for: ${this.unscripted.join('; ')}`]),
    ];
  }

  private indexFor(vendor: VendorName): number {
    return this.waiting.findIndex(
      (reply) => typeof reply === 'function' || reply.vendor === undefined || reply.vendor === vendor,
    );
  }
}

function describe(reply: ScriptedReply): string {
  return typeof reply === 'function' ? 'a function' : JSON.stringify(reply).slice(0, 120);
}
