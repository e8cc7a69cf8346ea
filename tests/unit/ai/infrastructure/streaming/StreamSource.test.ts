import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { StreamSource } from '../../../../../imports/business/ai/infrastructure/streaming/StreamSource';
import { failure } from '../../../../support/failure';

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe('StreamSource', () => {
  for (const [how, read] of Object.entries<(source: StreamSource) => Promise<unknown>>({
    'it was read to its end': async (source) => {
      for await (const _chunk of source);
    },
    'its reader left': async (source) => {
      for await (const _chunk of source) break;
    },
    'it was too large': (source) => failure(source.next()),
  }))
    it(`no longer listens to the signal once ${how}`, async () => {
      const { signal } = new AbortController();
      const maxResponseBytes = how === 'it was too large' ? 1 : 100;
      const source = new StreamSource(chunks('one', 'two'), { maxResponseBytes, streamIdleTimeout: 60_000, signal });
      expect(getEventListeners(signal, 'abort')).to.have.length(1);
      await read(source);
      expect(getEventListeners(signal, 'abort')).to.have.length(0);
    });
});
