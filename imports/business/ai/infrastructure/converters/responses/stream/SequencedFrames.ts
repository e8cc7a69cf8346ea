/**
 * Writes the frames of a Responses stream, each named after its event and numbered from 0 without gaps.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export class SequencedFrames {
  private next = 0;

  frame(type: string, fields: JsonObject): string {
    return `event: ${type}\ndata: ${JSON.stringify({ ...fields, type, sequence_number: this.nextNumber() })}\n\n`;
  }

  /** @param prefix the result of `deltaPrefix` */
  delta(prefix: string, text: string): string {
    return `${prefix}${JSON.stringify(text)},"sequence_number":${this.nextNumber()}}\n\n`;
  }

  /** Relays a vendor's event: unchanged if its name and number are the ones it needs here, else rewritten. */
  relay(type: string, event: JsonObject, data: string): string {
    const isSame = event.type === type && event.sequence_number === this.next && !data.includes('\n');
    if (!isSame) return this.frame(type, event);
    this.next += 1;
    return `event: ${type}\ndata: ${data}\n\n`;
  }

  /** For frames that were written elsewhere. */
  skip(count: number): void {
    this.next += count;
  }

  private nextNumber(): number {
    const number = this.next;
    this.next += 1;
    return number;
  }
}

/** The frame of a delta up to its text. */
export function deltaPrefix(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"delta":`;
}
