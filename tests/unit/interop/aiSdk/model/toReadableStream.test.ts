import { expect } from 'chai';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ResponseStreamEvent } from '../../../../../imports/business/ai/domain/types/StreamEvents';
import { StreamWriter } from '../../../../../imports/interop/aiSdk/model/StreamWriter';
import { toReadableStream } from '../../../../../imports/interop/aiSdk/model/toReadableStream';

/** Texts, and between them events that have no parts. */
function source(texts: readonly string[]) {
  const events = texts.flatMap((delta): ResponseStreamEvent[] => [
    {
      type: 'response.usage',
      usage: {
        input_tokens: 1,
        output_tokens: 1,
        total_tokens: 2,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
    },
    { type: 'response.output_text.delta', output_index: 0, delta },
  ]);
  const state = { reads: 0, hasLeft: false };
  const iterator: AsyncIterator<ResponseStreamEvent> = {
    next: () => {
      const value = events[state.reads];
      state.reads += 1;
      return Promise.resolve(value === undefined ? { value, done: true } : { value, done: false });
    },
    return: () => {
      state.hasLeft = true;
      return Promise.resolve({ value: undefined, done: true });
    },
  };
  return { state, iterator };
}

async function open(texts: readonly string[]) {
  const { state, iterator } = source(texts);
  const first = await iterator.next();
  const writer = new StreamWriter({
    namesOfBuiltIns: new Map(),
    createSourceId: () => 'source',
    toError: (error) => error,
  });
  const stream = toReadableStream({ events: iterator, first, signal: undefined }, writer, {
    type: 'stream-start',
    warnings: [],
  });
  return { state, reader: stream.getReader() };
}

describe('toReadableStream', () => {
  it('reads events only as far as its reader asks for parts', async () => {
    const { state, reader } = await open(['a', 'b', 'c', 'd']);
    const read = async (): Promise<LanguageModelV4StreamPart['type'] | undefined> => {
      const { value } = await reader.read();
      // What is read ahead would be by now.
      await new Promise(setImmediate);
      return value?.type;
    };
    expect([await read(), state.reads]).to.deep.equal(['stream-start', 1]);
    expect([await read(), state.reads]).to.deep.equal(['text-start', 2]);
    expect([await read(), state.reads]).to.deep.equal(['text-delta', 2]);
    expect([await read(), state.reads]).to.deep.equal(['text-delta', 4]);
    expect([await read(), state.reads]).to.deep.equal(['text-delta', 6]);
    await reader.cancel();
    expect(state).to.deep.equal({ reads: 6, hasLeft: true });
  });

  it('ends with its source', async () => {
    const { reader } = await open([]);
    const parts: (string | undefined)[] = [];
    for (let step = await reader.read(); !step.done; step = await reader.read()) parts.push(step.value.type);
    expect(parts).to.deep.equal(['stream-start']);
  });
});
