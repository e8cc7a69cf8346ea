/**
 * Gemini streams, recorded and generated: their events, and that they complete with the same response as without
 * streaming.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { assembleGoogle } from '../../../../../../../imports/business/ai/infrastructure/converters/google/stream/GoogleAssembly';
import {
  fromGoogle,
  toGoogle,
} from '../../../../../../../imports/business/ai/infrastructure/converters/google/GoogleConverter';
import { writeGoogle } from '../../../../../../../imports/business/ai/infrastructure/converters/google/gateway/GoogleGateway';
import { GoogleDecoder } from '../../../../../../../imports/business/ai/infrastructure/converters/google/stream/GoogleDecoder';
import { decodeStream } from '../../../../../../../imports/business/ai/infrastructure/streaming/decodeStream';
import { googleWire } from '../../../../../../../imports/business/ai/infrastructure/converters/google/googleWire';
import { normalizeOptions } from '../../../../../../../imports/business/ai/application/services/ContentNormalizer';
import {
  LLMOverloadedError,
  LLMServerError,
  LLMStreamError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { LLMResponse } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import {
  chunksOf,
  decodeChunks,
  GOOGLE,
  googleContext,
  googleResponseContext,
  recording,
} from '../../../../../../support/googleRecordings';

const STREAMS = GOOGLE.filter(({ stream }) => stream);

function events(
  chunks: readonly JsonObject[],
  context: Parameters<typeof googleResponseContext>[0] = {},
): readonly ResponseStreamEvent[] {
  return decodeChunks(new GoogleDecoder(googleResponseContext(context)), chunks);
}

function finalOf(all: readonly ResponseStreamEvent[]): LLMResponse {
  const last = all.at(-1);
  if (last?.type !== 'response.completed') throw new Error('The stream did not complete.');
  return last.response;
}

function chunk(parts: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    modelVersion: 'gemini-2.5-flash',
    responseId: 'r',
  };
}
const STOP = { finishReason: 'STOP' };

const typesOf = (all: readonly ResponseStreamEvent[]): string[] => all.map(({ type }) => type.replace('response.', ''));
const textOf = (all: readonly ResponseStreamEvent[]): string =>
  all.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');

/** The events of a recording's bytes, split into pieces of the given size. */
async function fromBytes(text: string, size: number): Promise<ResponseStreamEvent[]> {
  const bytes = new TextEncoder().encode(text);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
  }
  const out: ResponseStreamEvent[] = [];
  const options = { streamIdleTimeout: 60_000, maxEventBytes: 1_000_000, abort: () => undefined };
  for await (const event of decodeStream(pieces(), googleWire.createDecoder(googleResponseContext()), options))
    out.push(event);
  return out;
}

describe('GoogleDecoder on recorded streams', () => {
  it('covers all eight recorded streams', () => expect(STREAMS).to.have.lengthOf(8));

  for (const one of STREAMS) {
    it(`completes ${one.name} with the same response as without streaming`, () => {
      const all = events(chunksOf(one));
      const complete = fromGoogle(assembleGoogle(chunksOf(one), googleResponseContext()), googleResponseContext());
      expect(finalOf(all)).to.deep.equal(complete);
      expect(textOf(all)).to.equal(complete.output_text);
    });

    it(`emits every item of ${one.name} once, in order, as in the response`, () => {
      const all = events(chunksOf(one));
      const { output } = finalOf(all);
      const added = all.flatMap((event) =>
        event.type === 'response.output_item.added' ? [[event.output_index, event.item.type]] : [],
      );
      expect(added).to.deep.equal(output.map((item, index) => [index, item.type]));
      const done = all.flatMap((event) =>
        event.type === 'response.output_item.done' ? [[event.output_index, event.item]] : [],
      );
      expect(done).to.deep.equal(output.map((item, index) => [index, item]));
      const calls = all.flatMap((event) => (event.type === 'response.tool_use.done' ? [event.item] : []));
      expect(calls).to.deep.equal(output.filter(({ type }) => type === 'function_call'));
    });

    it(`throws when ${one.name} is cut off anywhere before its end`, () => {
      const chunks = chunksOf(one);
      const end = chunks.findIndex((piece) =>
        (piece.candidates as readonly JsonObject[]).some(({ finishReason }) => finishReason !== undefined),
      );
      expect(end).to.be.greaterThan(-1);
      for (let cut = 0; cut <= end; cut += 1)
        expect(() => events(chunks.slice(0, cut)), `after ${cut} chunks`).to.throw(LLMStreamError);
      expect(finalOf(events(chunks.slice(0, end + 1))).status).to.equal('completed');
    });

    it(`reads the bytes of ${one.name}, with CRLF and without an end marker, in pieces of any size`, async () => {
      const expected = events(chunksOf(one));
      for (const size of [1, 7, 1_000_000]) expect(await fromBytes(one.text, size)).to.deep.equal(expected);
    });
  }

  it('throws for a body that ends inside its last event', async () => {
    const { text } = recording('gemini-stream-text-a 1');
    for (const cut of [5, 21, 201]) {
      let error: unknown;
      await fromBytes(text.slice(0, -cut), 64).catch((reason: unknown) => (error = reason));
      expect(error, `${cut} bytes before the end`).to.be.instanceOf(LLMStreamError);
    }
  });
});

describe('GoogleDecoder: order of events', () => {
  it('emits thoughts, text and calls as they arrive, and the response at the end', () => {
    const all = events([
      chunk([{ text: 'Hm', thought: true }]),
      chunk([{ text: '.', thought: true }, { text: 'Yes' }]),
      chunk([{ text: '!' }, { functionCall: { name: 'f', args: { n: 1 } }, thoughtSignature: 'YQ==' }], STOP),
      { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 } },
    ]);
    expect(typesOf(all)).to.deep.equal([
      'created',
      'output_item.added',
      'reasoning.delta',
      'reasoning.delta',
      'output_item.done',
      'output_item.added',
      'output_text.delta',
      'output_text.delta',
      'output_item.done',
      'output_item.added',
      'tool_use.announced',
      'tool_use.done',
      'output_item.done',
      'usage',
      'usage',
      'completed',
    ]);
    expect(all[0]).to.deep.equal({ type: 'response.created', id: 'r', model: 'gemini-2.5-flash' });
    expect(finalOf(all).usage).to.include({ input_tokens: 3, output_tokens: 4 });
    expect(all.find(({ type }) => type === 'response.tool_use.announced')).to.deep.equal({
      type: 'response.tool_use.announced',
      output_index: 2,
      call_id: 'call_r_0',
      name: 'f',
    });
  });

  it('emits each text with its chunk', () => {
    const decoder = new GoogleDecoder(googleResponseContext());
    const out: ResponseStreamEvent[] = [];
    decoder.push({ data: JSON.stringify(chunk([{ text: 'One' }])) }, out);
    expect(out.at(-1)).to.deep.equal({ type: 'response.output_text.delta', output_index: 0, delta: 'One' });
    decoder.push({ data: JSON.stringify(chunk([{ text: ' two' }])) }, out);
    expect(out.at(-1)).to.deep.equal({ type: 'response.output_text.delta', output_index: 0, delta: ' two' });
  });

  it('emits citations once the entire text is known', () => {
    const grounding = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [{ segment: { endIndex: 7, text: 'One two' }, groundingChunkIndices: [0] }],
    };
    const all = events([
      chunk([{ text: 'One' }], { groundingMetadata: {} }),
      chunk([{ text: ' two' }], { ...STOP, groundingMetadata: grounding }),
    ]);
    const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 7 };
    expect(all.filter(({ type }) => type === 'response.annotation.added')).to.deep.equal([
      { type: 'response.annotation.added', output_index: 0, annotation },
    ]);
    expect(finalOf(all).output[0]).to.have.nested.property('content[0].annotations').that.deep.equals([annotation]);
  });

  it('emits citations with their range in the text of all parts, which its deltas do not number', () => {
    const grounding = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 4, endIndex: 7, text: 'two' }, groundingChunkIndices: [0] }],
    };
    const all = events([
      chunk([{ text: 'One ' }]),
      chunk([{ text: 'two', thoughtSignature: 'YQ==' }], { ...STOP, groundingMetadata: grounding }),
    ]);
    expect(all.find(({ type }) => type === 'response.annotation.added'))
      .to.have.property('annotation')
      .that.includes({ start_index: 4, end_index: 7 });
    expect(finalOf(all).output[0])
      .to.have.nested.property('content[1].annotations[0]')
      .that.includes({ start_index: 0, end_index: 3 });
  });

  it('emits unknown parts in one piece', () => {
    const part = { toolCall: { toolType: 'GOOGLE_SEARCH_WEB' }, thoughtSignature: 'YQ==' };
    const all = events([chunk([part, { text: 'Yes.' }], STOP)]);
    expect(finalOf(all).output.map(({ type }) => type)).to.deep.equal(['vendor_item', 'message']);
    expect(all.find(({ type }) => type === 'response.output_item.done'))
      .to.have.nested.property('item.item')
      .that.deep.equals(part);
  });
});

describe('GoogleDecoder: texts and signatures', () => {
  const textParts = (response: LLMResponse): unknown[] =>
    response.output.flatMap((item) =>
      item.type === 'message'
        ? item.content.map((part) => [
            part.type === 'output_text' ? part.text : '',
            part.vendor?.google?.thoughtSignature,
          ])
        : [],
    );

  it('joins unsigned texts into one part and leaves signed ones separate, as Google requires', () => {
    const response = finalOf(
      events([
        chunk([{ text: 'a' }]),
        chunk([{ text: 'b' }]),
        chunk([{ text: 'S', thoughtSignature: 'YQ==' }]),
        chunk([{ text: 'c' }]),
        chunk([{ text: 'd' }]),
        chunk([{ text: '', thoughtSignature: 'Yg==' }], STOP),
      ]),
    );
    expect(response.output).to.have.lengthOf(1);
    expect(textParts(response)).to.deep.equal([
      ['ab', undefined],
      ['S', 'YQ=='],
      ['cd', undefined],
      ['', 'Yg=='],
    ]);
    const { body } = toGoogle(
      normalizeOptions({
        model: 'gemini-2.5-flash',
        input: [{ role: 'user', content: 'Hi' }, ...response.output, { role: 'user', content: 'Go on' }],
      }),
      googleContext(),
      false,
    );
    expect((body.contents as readonly JsonObject[])[1]).to.deep.equal({
      role: 'model',
      parts: [
        { text: 'ab' },
        { text: 'S', thoughtSignature: 'YQ==' },
        { text: 'cd' },
        { text: '', thoughtSignature: 'Yg==' },
      ],
    });
  });

  it('leaves the signature on the text chunk that it arrived with [gemini-thought-text-stream-a]', () => {
    const parts = textParts(finalOf(events(chunksOf(recording('gemini-thought-text-stream-a 1')))));
    expect(parts.map((part) => typeof (part as unknown[])[1])).to.deep.equal(['string', 'undefined']);
  });

  it('ignores the empty text at the end of a stream, unless it is the only text', () => {
    const call = { functionCall: { name: 'f', args: {} } };
    expect(finalOf(events([chunk([call]), chunk([{ text: '' }], STOP)])).output.map(({ type }) => type)).to.deep.equal([
      'function_call',
    ]);
    const empty = events([chunk([{ text: '' }], STOP)]);
    expect(finalOf(empty)).to.deep.equal(fromGoogle(chunk([{ text: '' }], STOP), googleResponseContext()));
    expect(typesOf(empty)).to.deep.equal(['created', 'output_item.added', 'output_item.done', 'usage', 'completed']);
  });

  it('writes an assembled response back unchanged, for any text in any pieces', () => {
    const piece = fc.oneof(
      { weight: 4, arbitrary: fc.record({ text: fc.string() }) },
      fc.record({ text: fc.string(), thought: fc.constant(true) }),
      fc.record({ text: fc.string(), thoughtSignature: fc.base64String() }),
      fc.constant({ functionCall: { name: 'f', args: {} } }),
      fc.constant({ newPart: 1 }),
    );
    fc.assert(
      fc.property(fc.array(fc.array(piece, { maxLength: 3 }), { minLength: 1, maxLength: 8 }), (turns) => {
        const chunks = turns.map((parts, index) => chunk(parts, index === turns.length - 1 ? STOP : {}));
        const all = events(chunks);
        const response = finalOf(all);
        expect(response).to.deep.equal(
          fromGoogle(assembleGoogle(chunks, googleResponseContext()), googleResponseContext()),
        );
        expect(writeGoogle(response)).to.deep.equal(assembleGoogle(chunks, googleResponseContext()));
        expect(textOf(all)).to.equal(response.output_text);
        expect(all.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []))).to.deep.equal(
          response.output,
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe('GoogleDecoder: partial calls', () => {
  const call = (functionCall: JsonObject, more: JsonObject = {}): JsonObject => chunk([{ functionCall, ...more }]);
  const args = (chunks: readonly JsonObject[]): unknown =>
    finalOf(events(chunks)).output.flatMap((item) =>
      item.type === 'function_call' ? [JSON.parse(item.arguments) as unknown] : [],
    );

  it('are assembled with their signature, announced when they start and emitted when they end [gemini-vertex-stream-partial-args-a]', () => {
    const all = events(chunksOf(recording('gemini-vertex-stream-partial-args-a 1')));
    const { output } = finalOf(all);
    expect(
      output.map((item) =>
        item.type === 'function_call' ? [item.name, item.arguments, typeof item.vendor?.google?.thoughtSignature] : [],
      ),
    ).to.deep.equal([
      ['getWeather', '{"location":"Boston"}', 'string'],
      ['getWeather', '{"location":"San Francisco"}', 'undefined'],
    ]);
    expect(typesOf(all).filter((type) => type.startsWith('tool_use'))).to.deep.equal([
      'tool_use.announced',
      'tool_use.done',
      'tool_use.announced',
      'tool_use.done',
    ]);
    expect(
      all.flatMap((event) =>
        event.type === 'response.output_item.added' && event.item.type === 'function_call'
          ? [event.item.arguments]
          : [],
      ),
    ).to.deep.equal(['', '']);
  });

  it('may contain values of every type at any depth', () => {
    const partialArgs = [
      { jsonPath: '$.a.b[0].c', stringValue: 'x' },
      { jsonPath: '$.a.b[0].d', numberValue: 1.5 },
      { jsonPath: '$.a.b[1]', boolValue: false },
      { jsonPath: "$['odd key']", nullValue: 'NULL_VALUE' },
      { jsonPath: '$["__proto__"]', stringValue: 'own' },
    ];
    const expected = JSON.parse('{"a":{"b":[{"c":"x","d":1.5},false]},"odd key":null,"__proto__":"own"}') as unknown;
    expect(
      args([
        call({ name: 'f', willContinue: true }),
        call({ partialArgs, willContinue: true }),
        call({}),
        chunk([], STOP),
      ]),
    ).to.deep.equal([expected]);
  });

  it('are written as JSON in the order in which they arrive, on request', () => {
    const piece = (jsonPath: string, stringValue: string, willContinue: boolean): JsonObject =>
      call({ partialArgs: [{ jsonPath, stringValue, willContinue }], willContinue: true });
    const chunks = [
      call({ name: 'f', willContinue: true }),
      piece('$.a[0].t', 'x"', true),
      piece('$.a[0].t', 'y', false),
      piece('$.b', 'z', true),
      call({}),
      chunk([], STOP),
    ];
    const written = (given: readonly JsonObject[]): string[] =>
      events(given, { streamArguments: true }).flatMap((event) =>
        event.type === 'response.tool_use.delta' ? [event.delta] : [],
      );
    expect(written(chunks)).to.deep.equal(['{"a":[{"t":"x\\"', 'y"', '}],"b":"z', '"}']);
    // What comes at once is one piece.
    expect(written([call({ name: 'f', args: { t: 'a' } }), chunk([], STOP)])).to.deep.equal(['{"t":"a"}']);
  });

  it('append text that continues and replace text that does not', () => {
    const piece = (stringValue: string, willContinue: boolean): JsonObject =>
      call({ partialArgs: [{ jsonPath: '$.t', stringValue, willContinue }], willContinue: true });
    expect(
      args([
        call({ name: 'f', willContinue: true }),
        piece('a', true),
        piece('b', false),
        piece('c', false),
        call({}),
        chunk([], STOP),
      ]),
    ).to.deep.equal([{ t: 'c' }]);
    expect(
      args([
        call({ name: 'f', willContinue: true }),
        piece('a', true),
        piece('b', true),
        piece('', false),
        call({}),
        chunk([], STOP),
      ]),
    ).to.deep.equal([{ t: 'ab' }]);
  });

  it('may repeat fields of the first piece as null', () => {
    const piece = call({
      name: null,
      id: null,
      args: null,
      partialArgs: [{ jsonPath: '$.t', stringValue: 'a' }],
      willContinue: true,
    });
    expect(args([call({ name: 'f', willContinue: true }), piece, call({ name: null }), chunk([], STOP)])).to.deep.equal(
      [{ t: 'a' }],
    );
  });

  it('fail the stream if they are malformed or stay open', () => {
    const start = call({ name: 'f', willContinue: true });
    const broken = [
      [start, chunk([], STOP)],
      [start, chunk([{ text: 'Hi' }], STOP)],
      [start, call({ name: 'g', willContinue: true }), chunk([], STOP)],
      [
        start,
        call({ partialArgs: [{ jsonPath: '$..a', stringValue: 'x' }], willContinue: true }),
        call({}),
        chunk([], STOP),
      ],
      [
        start,
        call({ partialArgs: [{ jsonPath: '$.a[9999999]', stringValue: 'x' }], willContinue: true }),
        call({}),
        chunk([], STOP),
      ],
      [start, call({ partialArgs: [{ stringValue: 'x' }], willContinue: true }), call({}), chunk([], STOP)],
      [call({ partialArgs: [], willContinue: true }), call({}), chunk([], STOP)],
    ];
    for (const chunks of broken) expect(() => events(chunks), JSON.stringify(chunks)).to.throw(LLMStreamError);
  });
});

describe('GoogleDecoder: end of the stream', () => {
  it('completes with a blocked prompt', () => {
    const blocked = {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
      responseId: 'r',
      modelVersion: 'm',
    };
    expect(finalOf(events([blocked]))).to.deep.include({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    });
  });

  it('marks a response that reached the token limit as incomplete, and its last item as well', () => {
    const response = finalOf(events([chunk([{ text: 'Half' }], { finishReason: 'MAX_TOKENS' })]));
    expect(response).to.include({ status: 'incomplete' });
    expect(response.output[0]).to.include({ status: 'incomplete' });
  });

  it('throws the error of a chunk immediately', () => {
    const decoder = new GoogleDecoder(googleResponseContext());
    decoder.push({ data: JSON.stringify(chunk([{ text: 'One' }])) }, []);
    expect(() =>
      decoder.push({ data: '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}' }, []),
    ).to.throw(LLMOverloadedError, 'overloaded');
  });

  it('throws for a failed response, with the response on the error', () => {
    expect(() => events([chunk([{ functionCall: { name: 'f', args: {} } }], { finishReason: 'UNEXPECTED_TOOL_CALL' })]))
      .to.throw(LLMServerError)
      .with.nested.property('response.status', 'failed');
  });

  it('rejects chunks that are not JSON objects', () => {
    for (const data of [
      '<html>',
      '[]',
      'null',
      '[DONE]',
      '{"candidates":[1]}',
      '{"candidates":[{"content":{"parts":[1]}}]}',
    ]) {
      expect(() => new GoogleDecoder(googleResponseContext()).push({ data }, []), data).to.throw(LLMStreamError);
    }
  });

  it('requires every candidate to end, and uses the first', () => {
    const two = (index: number, more: JsonObject = {}): JsonObject => ({
      candidates: [{ content: { parts: [{ text: `${index}` }], role: 'model' }, index, ...more }],
      responseId: 'r',
    });
    expect(() => events([two(0, STOP), two(1)])).to.throw(LLMStreamError);
    const all = events([two(1), two(0), two(0, STOP), two(1, STOP)]);
    expect(finalOf(all).output_text).to.equal('00');
    expect(textOf(all)).to.equal('00');
  });
});
