/** The recorded exchanges that wait to be played. */
import type { WireName } from '../../business/ai/domain/types/VendorTypes';
import type { RenderedResponse } from '../rendering/RenderedResponse';
import { splitFrames } from './planTransmission';
import type { PlaybackOptions, RecordedExchange } from './RecordedExchange';

export class Playlist {
  private readonly queued: (RecordedExchange & { readonly chunkBytes: number | undefined })[] = [];

  add(exchanges: readonly RecordedExchange[], { chunkBytes }: PlaybackOptions): void {
    this.queued.push(...exchanges.map((exchange) => ({ ...exchange, chunkBytes })));
  }

  /** The next exchange, when it is on this wire. */
  take(wire: WireName): RenderedResponse | undefined {
    const [next] = this.queued;
    if (next?.wire !== wire) return undefined;
    this.queued.shift();
    const frames = next.chunkBytes === undefined ? [next.response] : splitFrames([next.response], next.chunkBytes);
    return { status: next.status, headers: next.headers, frames };
  }

  get isEmpty(): boolean {
    return this.queued.length === 0;
  }

  problems(): readonly string[] {
    return this.queued.map(({ caseId, number }) => `Exchange ${number} of the recording ${caseId} was never requested`);
  }
}
