/** Frames of a Responses stream: numbered from 0 without gaps, each under its event's name. */
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export class SequencedFrames {
  private next = 0;

  frame(type: string, fields: JsonObject): string {
    return `event: ${type}\ndata: ${JSON.stringify({ ...fields, type, sequence_number: this.nextNumber() })}\n\n`;
  }

  /** @param prefix what `deltaPrefix` made */
  delta(prefix: string, text: string): string {
    return `${prefix}${JSON.stringify(text)},"sequence_number":${this.nextNumber()}}\n\n`;
  }

  /**
   * An event that its host has written: as it came, where it is named and numbered as it would be here, else
   * written anew.
   */
  relay(type: string, event: JsonObject, data: string): string {
    const isSame = event.type === type && event.sequence_number === this.next && !data.includes('\n');
    if (!isSame) return this.frame(type, event);
    this.next += 1;
    return `event: ${type}\ndata: ${data}\n\n`;
  }

  private nextNumber(): number {
    const number = this.next;
    this.next += 1;
    return number;
  }
}

/** Everything of a delta's frame that stands before its text. */
export function deltaPrefix(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"delta":`;
}
