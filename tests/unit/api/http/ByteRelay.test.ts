/**
 * What a client gets of a relayed stream does not depend on which messages are passed as bytes: over all recorded
 * streams, cut into random chunks, it is the same as if every message was decoded and encoded.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { ByteRelay } from '../../../../imports/api/http/ByteRelay';
import type { PassingEncoder } from '../../../../imports/api/http/ByteRelay';
import type { ResponseSink } from '../../../../imports/api/http/ResponseSink';
import { RelayEncoder } from '../../../../imports/api/gateway/generation/RelayEncoder';
import { emptyResource } from '../../../../imports/api/gateway/responses/responseResource';
import { ResponsesRelay } from '../../../../imports/api/gateway/responses/ResponsesRelay';
import { LLMError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { Usage } from '../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ServedWire } from '../../../../imports/business/ai/domain/types/VendorTypes';
import { SCHEME_OF_WIRE } from '../../../../imports/business/ai/domain/types/VendorTypes';
import type { StreamEncoder } from '../../../../imports/business/ai/infrastructure/converters/stream/StreamEncoder';
import { createStreamEncoder } from '../../../../imports/business/ai/infrastructure/streaming/createStreamEncoder';
import { decodeStream } from '../../../../imports/business/ai/infrastructure/streaming/decodeStream';
import { modelOf, RECORDINGS } from '../../../support/recordings';
import type { Recording } from '../../../support/recordings';
import { responseContext, WIRES } from '../../../support/wireContexts';
import { IS_SOAK } from '../../../support/soak';

type RelayedWire = Exclude<ServedWire, 'gemini'>;

interface Received {
  readonly text: string;
  readonly usage: Usage | undefined;
  /** Characters of the messages that were written as bytes. */
  readonly characters: number;
  readonly writes: number;
}

function encoderOf(wire: RelayedWire, hidesUsage: boolean): StreamEncoder & PassingEncoder {
  const identity = { model: 'm', id: 'ours', created: 1 };
  const encoder = createStreamEncoder(SCHEME_OF_WIRE[wire], identity);
  if (wire !== 'responses') return new RelayEncoder({ wire, encoder, hidesUsage });
  const initial = emptyResource({}, { id: 'ours', created_at: 1, model: 'm', status: 'in_progress' });
  return new ResponsesRelay({
    encoder,
    rawReasoningName: 'reasoning',
    echo: {},
    initial,
    overrides: {},
    checkItem: () => undefined,
  });
}

async function received(
  { wire, vendor, model }: { readonly wire: RelayedWire; readonly vendor: Recording['vendor']; readonly model: string },
  chunks: readonly Uint8Array[],
  { asBytes, hidesUsage = false }: { readonly asBytes: boolean; readonly hidesUsage?: boolean },
): Promise<Received> {
  const encoder = encoderOf(wire, hidesUsage);
  const written: Buffer[] = [];
  let writes = 0;
  const sink: Pick<ResponseSink, 'writeBytes'> = {
    writeBytes: (bytes) => {
      writes += 1;
      written.push(Buffer.from(bytes));
      return undefined;
    },
  };
  const relay = new ByteRelay(sink as ResponseSink, encoder);
  const push = (frames: readonly string[]): void => void written.push(...frames.map((frame) => Buffer.from(frame)));
  let usage: Usage | undefined;
  try {
    const events = decodeStream(bodyOf(chunks), WIRES[wire].createDecoder(responseContext(vendor, model)), {
      streamIdleTimeout: 60_000,
      maxEventBytes: 16 * 1024 * 1024,
      abort: () => undefined,
      relay: wire,
      ...(asBytes ? { relayTo: relay } : {}),
    });
    for await (const event of events) {
      if (event.type === 'response.completed') usage = event.response.usage;
      push(encoder.push(event));
    }
    push(encoder.end());
  } catch (error) {
    if (!(error instanceof LLMError)) throw error;
    push(encoder.fail(error));
  }
  return { text: Buffer.concat(written).toString(), usage, characters: relay.characters, writes };
}

async function* bodyOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** @param cuts fractions of the length */
function cut(text: string, cuts: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map((part) => Math.floor(part * bytes.length)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const STREAMS = RECORDINGS.flatMap((recording) => {
  const { wire } = recording;
  return recording.stream && recording.status === 200 && wire !== 'gemini' ? [{ ...recording, wire }] : [];
});

const OPENAI = { wire: 'chat_completions', vendor: 'openai', model: 'gpt-4.1' } as const;

function chat(content: string, more: object = {}): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`;
}

const START = chat('').replace('"content"', '"role":"assistant","content"');
const CHAT_END = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;

describe('A stream that is relayed as bytes', () => {
  it('is the same for the client as one that is decoded, over all recorded streams and chunk borders', async () => {
    const passed = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 }),
        fc.boolean(),
        fc.nat(),
        async (cuts, hidesUsage, first) => {
          for (let index = first % 6; index < STREAMS.length; index += 6) {
            const recording = STREAMS[index];
            if (recording === undefined) continue;
            const target = { ...recording, model: modelOf(recording) };
            const decoded = await received(target, [Buffer.from(recording.text)], { asBytes: false, hidesUsage });
            const relayed = await received(target, cut(recording.text, cuts), { asBytes: true, hidesUsage });
            expect(relayed.text, recording.name).to.equal(decoded.text);
            expect(relayed.usage, recording.name).to.deep.equal(decoded.usage);
            if (relayed.writes > 0) passed.add(recording.wire);
          }
        },
      ),
      { numRuns: IS_SOAK ? 200 : 12 },
    );
    expect([...passed]).to.have.members(['responses', 'chat_completions', 'anthropic_messages']);
  });

  it('writes the text of one chunk at once, and counts it', async () => {
    const stream = START + ['a', 'bc', 'déf', '\\"g'].map((text) => chat(text)).join('') + CHAT_END;
    const { text, writes, characters } = await received(OPENAI, [Buffer.from(stream)], { asBytes: true });
    expect(text).to.equal(stream);
    expect(writes).to.equal(1);
    // The first text is decoded since it begins an item, and the second to learn what they look like.
    expect(characters).to.equal(Buffer.byteLength('déf') + JSON.stringify('\\"g').length - 2);
  });

  for (const [what, odd] of [
    ['a call', chat('x').replace('"content":"x"', '"tool_calls":[{"index":0,"id":"1","function":{"name":"f"}}]')],
    ['another choice', chat('x').replace('"index":0', '"index":1')],
    ['usage', chat('x', { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })],
    ['a comment', `: ping\n\n${chat('x')}`],
    ['an id', `id: 7\n${chat('x')}`],
    ['an unknown field', chat('x', { brand_new: true })],
    ['other line ends', chat('x').replaceAll('\n', '\r\n')],
    ['data in two lines', chat('x').replace(',"model"', ',\ndata: "model"')],
  ] as const) {
    it(`has ${what} between texts like the decoded stream`, async () => {
      const stream = Buffer.from(
        START +
          ['a', 'b', 'c'].map((text) => chat(text)).join('') +
          odd +
          ['d', 'e', 'f'].map((text) => chat(text)).join('') +
          CHAT_END,
      );
      const decoded = await received(OPENAI, [stream], { asBytes: false });
      for (let size = 1; size < 40; size += 1) {
        const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, index) =>
          stream.subarray(index * size, (index + 1) * size),
        );
        const relayed = await received(OPENAI, chunks, { asBytes: true });
        expect(relayed.text).to.equal(decoded.text);
        expect(relayed.usage).to.deep.equal(decoded.usage);
      }
    });
  }

  for (const [what, broken] of [
    ['an escape that JSON does not have', chat('x').replace('"x"', '"\\q"')],
    ['a control character', chat('x').replace('"x"', '"\t"')],
    ['an error', 'data: {"error":{"message":"It broke."}}\n\n'],
    ['the end of the connection', ''],
  ] as const) {
    it(`fails for ${what} like the decoded stream`, async () => {
      const rest = chat('unsent');
      const stream =
        START + chat('a') + chat('b') + chat('c') + broken + (broken === '' ? rest.slice(0, -9) : rest + CHAT_END);
      const decoded = await received(OPENAI, [Buffer.from(stream)], { asBytes: false });
      const relayed = await received(OPENAI, [Buffer.from(stream)], { asBytes: true });
      expect(decoded.text).to.include('"error"');
      expect(relayed.text).to.equal(decoded.text);
      expect(relayed.text).not.to.include('unsent');
      expect(relayed.writes).to.equal(1);
    });
  }

  it('replaces bytes that are not UTF-8 like the decoded stream', async () => {
    const [before, after] = chat('|').split('|');
    const invalid = Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0xff]), Buffer.from(after ?? '')]);
    const stream = Buffer.concat([
      Buffer.from(START + chat('a') + chat('b') + chat('c')),
      invalid,
      Buffer.from(chat('c') + CHAT_END),
    ]);
    const decoded = await received(OPENAI, [stream], { asBytes: false });
    expect(decoded.text).to.include('\ufffd');
    expect((await received(OPENAI, [stream], { asBytes: true })).text).to.equal(decoded.text);
  });

  it('is passed as bytes from the second text on if the first one lacks the role', async () => {
    const stream = ['a', 'b', 'c', 'd'].map((text) => chat(text)).join('') + CHAT_END;
    const { text, writes } = await received(OPENAI, [Buffer.from(stream)], { asBytes: true });
    expect(text).to.equal(stream.replace('"content":"a"', '"role":"assistant","content":"a"'));
    expect(writes).to.equal(1);
  });

  it('renumbers events of the Responses API after a gap in the numbers', async () => {
    const event = (type: string, fields: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const item = { id: 'i', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    const delta = (text: string, sequence_number: number): string =>
      event('response.output_text.delta', {
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta: text,
        logprobs: [],
        sequence_number,
      });
    const stream =
      event('response.created', { response: { id: 'r', status: 'in_progress' }, sequence_number: 0 }) +
      event('response.in_progress', { response: { id: 'r', status: 'in_progress' }, sequence_number: 1 }) +
      event('response.output_item.added', { output_index: 0, item, sequence_number: 2 }) +
      [3, 4, 5, 9, 10, 11].map((number) => delta(`${number} `, number)).join('');
    const target = { wire: 'responses', vendor: 'openai', model: 'gpt-5' } as const;
    const decoded = await received(target, [Buffer.from(stream)], { asBytes: false });
    const relayed = await received(target, [Buffer.from(stream)], { asBytes: true });
    expect(relayed.text).to.equal(decoded.text);
    expect(relayed.writes).to.equal(1);
    expect([...relayed.text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number))).to.deep.equal(
      // The last one is that of the failure, since the stream has no end.
      Array.from({ length: 11 }, (_, index) => index),
    );
  });
});
