/** Encodes domain events as chunks of a generateContent stream. */
import { expect } from 'chai';
import {
  LLMOverloadedError,
  LLMRateLimitError,
  LLMStreamError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type {
  FunctionCallItem,
  OutputItem,
} from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import { createStreamEncoder } from '../../../../../../../imports/business/ai/infrastructure/streaming/createStreamEncoder';
import {
  completed,
  CREATED_EVENT,
  encoded,
  encodedEvents,
  ENCODER_OPTIONS,
  encodedFailure,
  reasoningDelta,
  textDelta,
} from '../../../../../../support/encoding';
import { answer, callItem, calling, eventsOf, textItem, usage } from '../../../../../../../imports/testing/responses';
import { CHECKS, eventsIn } from '../../../../../../support/streamGrammar';

const ORIGIN = { wire: 'gemini', vendor: 'google' } as const;

function partsIn(chunks: readonly JsonObject[]): readonly unknown[] {
  return chunks.flatMap(({ candidates }) =>
    (candidates as JsonObject[]).flatMap(
      ({ content }) => ((content as JsonObject | undefined)?.parts as unknown[] | undefined) ?? [],
    ),
  );
}

describe('GoogleEncoder', () => {
  it('writes each delta immediately as one unnamed frame with CRLF', () => {
    const encoder = createStreamEncoder('google', ENCODER_OPTIONS);
    expect(encoder.push(CREATED_EVENT)).to.deep.equal([]);
    expect(encoder.push(textDelta('Hi "you"\n'))).to.deep.equal([
      'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi \\"you\\"\\n"}]},"index":0}],"modelVersion":"a-model","responseId":"resp_1"}\r\n\r\n',
    ]);
    expect(partsIn(eventsIn(encoder.push(reasoningDelta('Hm')).join('')))).to.deep.equal([
      { text: 'Hm', thought: true },
    ]);
  });

  it('ends with the finish reason and usage in the last chunk, without an end marker', () => {
    const counts = {
      ...usage(7, 5),
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 2 },
    };
    const text = encoded('google', eventsOf(answer('Hi there', { usage: counts })));
    CHECKS.google(text);
    const last = eventsIn(text).at(-1)!;
    expect((last.candidates as JsonObject[])[0]).to.deep.include({
      finishReason: 'STOP',
      content: { role: 'model', parts: [{ text: '' }] },
    });
    expect(last.usageMetadata).to.deep.equal({
      promptTokenCount: 7,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 2,
      cachedContentTokenCount: 3,
      totalTokenCount: 12,
    });
  });

  it('writes complete calls with their ids, the first with a placeholder signature', () => {
    const calls = [
      callItem({ name: 'f', call_id: 'a', arguments: { x: 1 } }),
      callItem({ name: 'g', call_id: 'b', arguments: '' }),
    ];
    expect(partsIn(encodedEvents('google', eventsOf({ ...calling(), output: calls }))).slice(0, 2)).to.deep.equal([
      { functionCall: { id: 'a', name: 'f', args: { x: 1 } }, thoughtSignature: 'skip_thought_signature_validator' },
      { functionCall: { id: 'b', name: 'g', args: {} } },
    ]);
  });

  it('writes the parts of a summary as paragraphs', () => {
    expect(
      partsIn(
        encodedEvents('google', [
          CREATED_EVENT,
          reasoningDelta('One', 0, true),
          reasoningDelta('Two', 0, true, 1),
          completed('responses'),
        ]),
      ).slice(0, 2),
    ).to.deep.equal([
      { text: 'One', thought: true },
      { text: '\n\nTwo', thought: true },
    ]);
  });

  const errors = [
    [new LLMRateLimitError('x'), 429, 'RESOURCE_EXHAUSTED'],
    [new LLMOverloadedError('x'), 503, 'UNAVAILABLE'],
    [new LLMStreamError('x'), 502, 'INTERNAL'],
  ] as const;
  for (const [error, code, status] of errors) {
    it(`writes ${error.code} as ${status}, and nothing after it`, () => {
      const text = encodedFailure('google', [CREATED_EVENT, textDelta('Hi')], error);
      expect(eventsIn(text).at(-1)).to.deep.equal({ error: { code, message: 'x', status } });
      expect(text).not.to.include('finishReason');
    });
  }

  it('announces calls in a chunk without parts, if requested', () => {
    const chunks = encodedEvents('google', eventsOf(calling({ name: 'look', call_id: 'c1' })), {
      emitFunctionAnnouncements: true,
    });
    expect(chunks[0]).to.deep.include({ functionCallAnnouncement: { id: 'c1', name: 'look' } });
    expect(partsIn(chunks.slice(0, 1))).to.deep.equal([]);
  });

  it('writes the text of an item without deltas', () => {
    const chunks = encodedEvents('google', [
      CREATED_EVENT,
      { type: 'response.output_item.done', output_index: 0, item: textItem('Whole.') },
      completed('responses'),
    ]);
    expect(partsIn(chunks)[0]).to.deep.equal({ text: 'Whole.' });
  });

  describe('for streams of the same wire', () => {
    it("writes calls as they were received, with their signature and the vendor's id, if any", () => {
      const items: FunctionCallItem[] = [
        {
          type: 'function_call',
          call_id: 'call_resp_1_0',
          name: 'f',
          arguments: '{"a":1}',
          vendor: { google: { thoughtSignature: 'sig' } },
        },
        { type: 'function_call', call_id: 'call_resp_1_1', name: 'g', arguments: '{}' },
        {
          type: 'function_call',
          call_id: 'own',
          name: 'h',
          arguments: '{}',
          vendor: { google: { $wire: { id: 'own' } } },
        },
      ];
      const chunks = encodedEvents('google', [
        CREATED_EVENT,
        ...items.map((item, output_index) => ({ type: 'response.tool_use.done', output_index, item }) as const),
        completed('gemini'),
      ]);
      expect(partsIn(chunks).slice(0, 3)).to.deep.equal([
        { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'sig' },
        { functionCall: { name: 'g', args: {} } },
        { functionCall: { name: 'h', args: {}, id: 'own' } },
      ]);
    });

    it('writes signatures after their text, and forwards unknown parts', () => {
      const thought: OutputItem = {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm', vendor: { google: { thoughtSignature: 't' } } }],
        origin: ORIGIN,
      };
      const message: OutputItem = {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hi', annotations: [], vendor: { google: { thoughtSignature: 's' } } }],
      };
      const code: OutputItem = { type: 'vendor_item', origin: ORIGIN, item: { executableCode: { code: '1+1' } } };
      const chunks = encodedEvents('google', [
        CREATED_EVENT,
        reasoningDelta('Hm', 0, true),
        { type: 'response.output_item.done', output_index: 0, item: thought },
        { type: 'response.output_item.done', output_index: 1, item: code },
        textDelta('Hi', 2),
        { type: 'response.output_item.done', output_index: 2, item: message },
        completed('gemini', { vendor: { fields: {} } }),
      ]);
      expect(partsIn(chunks.slice(0, -1))).to.deep.equal([
        { text: 'Hm', thought: true },
        { text: '', thought: true, thoughtSignature: 't' },
        { executableCode: { code: '1+1' } },
        { text: 'Hi' },
        { text: '', thoughtSignature: 's' },
      ]);
    });

    it('ends with all other fields of the vendor', () => {
      const fields = {
        modelVersion: 'g',
        responseId: 'r',
        newField: 1,
        candidates: [
          { content: { role: 'model' }, finishReason: 'STRANGE', index: 0, groundingMetadata: { a: 1 } },
          { index: 1, finishReason: 'STOP' },
        ],
      };
      const last = encodedEvents('google', [
        CREATED_EVENT,
        textDelta('Hi'),
        completed('gemini', {
          output: [textItem('Hi')],
          usage: usage(1, 2),
          vendor: { fields, usage: { promptTokenCount: 1, candidatesTokenCount: 2, more: 3 } },
        }),
      ]).at(-1);
      expect(last).to.deep.equal({
        ...fields,
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, more: 3 },
        candidates: [
          {
            content: { role: 'model', parts: [{ text: '' }] },
            finishReason: 'STRANGE',
            index: 0,
            groundingMetadata: { a: 1 },
          },
          { index: 1, finishReason: 'STOP' },
        ],
      });
    });

    it('writes a blocked prompt without candidates', () => {
      const fields = { promptFeedback: { blockReason: 'SAFETY' }, modelVersion: 'g' };
      expect(
        encodedEvents('google', [CREATED_EVENT, completed('gemini', { status: 'incomplete', vendor: { fields } })]),
      ).to.deep.equal([fields]);
    });
  });
});
