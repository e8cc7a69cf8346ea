/** Responses of the Gemini wire, rule by rule. */
import { expect } from 'chai';
import { fromGoogle } from '../../../../../../../imports/business/ai/infrastructure/converters/google/GoogleConverter';
import { writeGoogle } from '../../../../../../../imports/business/ai/infrastructure/converters/google/gateway/GoogleGateway';
import {
  LLMError,
  LLMRateLimitError,
  LLMServerError,
  LLMStreamError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { LLMResponse } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import { bodyOf, googleResponseContext, recording } from '../../../../../../support/googleRecordings';

function responseBody(
  parts: readonly JsonObject[] | undefined,
  more: JsonObject = {},
  candidate: JsonObject = {},
): JsonObject {
  return {
    candidates: [
      {
        ...(parts === undefined ? {} : { content: { parts, role: 'model' } }),
        finishReason: 'STOP',
        index: 0,
        ...candidate,
      },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    modelVersion: 'gemini-2.5-flash',
    responseId: 'resp-1',
    ...more,
  };
}

const read = (body: unknown): LLMResponse => fromGoogle(body, googleResponseContext());

function failure(body: unknown): LLMError {
  try {
    fromGoogle(body, googleResponseContext());
  } catch (error) {
    if (error instanceof LLMError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}

describe('fromGoogle: parts', () => {
  it('preserves adjacent texts as separate parts of one message', () => {
    const { output, output_text } = read(responseBody([{ text: 'One ' }, { text: 'two' }]));
    expect(output).to.have.lengthOf(1);
    expect(output[0]).to.deep.include({ type: 'message', role: 'assistant', status: 'completed' });
    expect(output[0])
      .to.have.property('content')
      .that.deep.equals([
        { type: 'output_text', text: 'One ', annotations: [] },
        { type: 'output_text', text: 'two', annotations: [] },
      ]);
    expect(output_text).to.equal('One two');
  });

  it('converts thoughts to a reasoning item with wire, vendor and model as its origin', () => {
    const { output, output_text } = read(responseBody([{ text: 'Hm.', thought: true }, { text: 'Yes.' }]));
    expect(output.map(({ type }) => type)).to.deep.equal(['reasoning', 'message']);
    expect(output[0]).to.deep.include({
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      origin: { wire: 'gemini', vendor: 'google', model: 'gemini-2.5-flash' },
    });
    expect(output_text).to.equal('Yes.');
  });

  it('generates unique and reproducible ids for calls without one', () => {
    const body = responseBody([
      { functionCall: { name: 'a', args: {} } },
      { functionCall: { name: 'a', args: { x: 1 } } },
    ]);
    const ids = (): unknown[] =>
      read(body).output.map((item) => (item.type === 'function_call' ? item.call_id : undefined));
    expect(ids()).to.deep.equal(['call_resp-1_0', 'call_resp-1_1']);
    expect(ids()).to.deep.equal(ids());
    expect(writeGoogle(read(body))).to.deep.equal(body);
  });

  it('preserves ids of the wire and generates the others [gemini-tool-call-id-a]', () => {
    const { output } = read(bodyOf(recording('gemini-tool-call-id-a 1')));
    expect(output.at(-1)).to.deep.include({ type: 'function_call', call_id: 'call_883098', name: 'weather' });
  });

  it('leaves the signature on the first of parallel calls only [gemini-parallel-a]', () => {
    const { output } = read(bodyOf(recording('gemini-parallel-a 1')));
    expect(output.map((item) => typeof item.vendor?.google?.thoughtSignature)).to.deep.equal(['string', 'undefined']);
  });

  it('leaves a signature on an empty text, next to unknown parts and siblings', () => {
    const body = responseBody([
      { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: {}, id: 's1' }, thoughtSignature: 'YQ==', newField: [1] },
      { text: '', thoughtSignature: 'Yg==', other: { deep: true } },
      { thoughtSignature: 'Yw==' },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
      {},
    ]);
    const response = read(body);
    expect(response.output.map(({ type }) => type)).to.deep.equal([
      'vendor_item',
      'message',
      'vendor_item',
      'vendor_item',
      'vendor_item',
    ]);
    expect(response.output[0]).to.deep.include({
      origin: { wire: 'gemini', vendor: 'google', model: 'gemini-2.5-flash' },
    });
    expect(writeGoogle(response)).to.deep.equal(body);
  });

  it('reads calls with unknown fields, without arguments or with malformed ones, and returns them unchanged', () => {
    const body = responseBody([
      { functionCall: { name: 'a' } },
      { functionCall: { name: 'b', args: 'text', willContinue: false } },
      { functionCall: { name: 'c', args: {}, id: '' } },
    ]);
    const response = read(body);
    expect(response.output.map((item) => (item.type === 'function_call' ? item.arguments : ''))).to.deep.equal([
      '{}',
      '"text"',
      '{}',
    ]);
    expect(writeGoogle(response)).to.deep.equal(body);
  });

  it('accepts a candidate without parts, with empty parts or without content [gemini-malformed-a]', () => {
    for (const body of [
      responseBody(undefined),
      responseBody([]),
      responseBody(undefined, {}, { content: {} }),
      responseBody(undefined, {}, { content: { role: 'model' } }),
    ]) {
      const response = read(body);
      expect(response.output).to.deep.equal([]);
      expect(response.output_text).to.equal('');
      expect(writeGoogle(response)).to.deep.equal(body);
    }
  });
});

describe('fromGoogle: outcome', () => {
  it('is completed for STOP, with or without calls', () => {
    expect(read(responseBody([{ functionCall: { name: 'a', args: {} } }]))).to.include({ status: 'completed' });
  });

  it('is incomplete for the token limit and every filter, with the original finish reason', () => {
    const filters = [
      'SAFETY',
      'RECITATION',
      'PROHIBITED_CONTENT',
      'SPII',
      'BLOCKLIST',
      'IMAGE_SAFETY',
      'MODEL_ARMOR',
      'LANGUAGE',
      'IMAGE_PROHIBITED_CONTENT',
      'IMAGE_RECITATION',
    ];
    for (const [word, reason] of [
      ['MAX_TOKENS', 'max_output_tokens'],
      ['CONTINUATION', 'max_output_tokens'],
      ...filters.map((filter) => [filter, 'content_filter']),
    ]) {
      const response = read(responseBody([{ text: 'Half' }], {}, { finishReason: word }));
      expect(response).to.deep.include({ status: 'incomplete', incomplete_details: { reason } });
      expect(response.output[0]).to.include({ status: 'incomplete' });
      expect(response.vendor).to.include({ finish_reason: word });
    }
  });

  it('is incomplete if the prompt was blocked and there is no candidate', () => {
    const body = {
      promptFeedback: { blockReason: 'MODEL_ARMOR', blockReasonMessage: 'Blocked.' },
      usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
      modelVersion: 'gemini-2.5-flash',
      responseId: 'r',
    };
    const response = read(body);
    expect(response).to.deep.include({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output: [],
    });
    expect(response.vendor.finish_reason).to.equal('MODEL_ARMOR');
    expect(writeGoogle(response)).to.deep.equal(body);
  });

  it('fails for malformed calls and tools that were not offered, with the response on the error [gemini-malformed-a, gemini-vertex-unexpected-a]', () => {
    const malformed = failure(bodyOf(recording('gemini-malformed-a 1')));
    expect(malformed)
      .to.be.instanceOf(LLMServerError)
      .and.to.include({ vendorCode: 'MALFORMED_FUNCTION_CALL', retryable: true, requestId: 'req_1' });
    expect(malformed.message).to.match(/^Malformed function call/);
    const unexpected = failure(bodyOf(recording('gemini-vertex-unexpected-a 1')));
    expect(unexpected.response).to.include({ status: 'failed' });
    expect(unexpected.response?.output.map(({ type }) => type)).to.deep.equal(['function_call']);
    for (const finishReason of ['OTHER', 'MALFORMED_RESPONSE', 'TOO_MANY_TOOL_CALLS', 'NO_IMAGE', 'IMAGE_OTHER']) {
      expect(failure(responseBody(undefined, {}, { finishReason })))
        .to.be.instanceOf(LLMServerError)
        .and.to.include({ vendorCode: finishReason });
    }
    expect(failure(responseBody(undefined, {}, { finishReason: 'MISSING_THOUGHT_SIGNATURE' }))).to.include({
      retryable: false,
    });
  });

  it('is completed for an unknown finish reason, with a warning', () => {
    const response = read(responseBody([{ text: 'Yes.' }], {}, { finishReason: 'SOMETHING_NEW' }));
    expect(response).to.include({ status: 'completed' });
    expect(response.vendor.finish_reason).to.equal('SOMETHING_NEW');
    expect(response.vendor.warnings).to.have.lengthOf(1);
  });
});

describe('fromGoogle: usage and metadata', () => {
  it('counts what the total contains besides the output as input, if the prompt has no count', () => {
    const usageMetadata = { candidatesTokenCount: 1, thoughtsTokenCount: 122, totalTokenCount: 698 };
    const { usage } = read(responseBody([{ text: 'Yes.' }], { usageMetadata }));
    expect(usage).to.include({ input_tokens: 575, output_tokens: 123, total_tokens: 698 });
  });

  it('counts prompts of server tools as input, thoughts as output, and cached tokens as part of the prompt', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 90,
      toolUsePromptTokenCount: 20,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 3,
      totalTokenCount: 130,
    };
    const response = read(responseBody([{ text: 'Yes.' }], { usageMetadata }));
    expect(response.usage).to.deep.equal({
      input_tokens: 120,
      output_tokens: 10,
      total_tokens: 130,
      input_tokens_details: { cached_tokens: 90, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 3 },
    });
    expect(response.vendor.usage).to.deep.equal(usageMetadata);
  });

  it('warns about missing usage, and falls back to the requested names', () => {
    const { usageMetadata: _, modelVersion: __, responseId: ___, ...body } = responseBody([{ text: 'Yes.' }]);
    const response = read(body);
    expect(response.usage.total_tokens).to.equal(0);
    expect(response.vendor.warnings).to.have.lengthOf(1);
    expect(response).to.include({ model: 'asked-model', id: 'req_1', created_at: 1_760_000_000 });
    expect(writeGoogle(response)).to.deep.equal(body);
  });

  it('reads the creation time of Vertex AI', () => {
    expect(read(responseBody([], { createTime: '2026-02-17T04:32:32.576129Z' })).created_at).to.equal(1_771_302_752);
  });

  it('uses the first of several candidates and preserves the others', () => {
    const body = responseBody([{ text: 'One' }]);
    const two = {
      ...body,
      candidates: [
        ...(body.candidates as JsonObject[]),
        { content: { parts: [{ text: 'Two' }] }, index: 1, finishReason: 'STOP' },
      ],
    };
    const response = read(two);
    expect(response.output_text).to.equal('One');
    expect(response.vendor.warnings).to.have.lengthOf(1);
    expect(writeGoogle(response)).to.deep.equal(two);
  });
});

describe('fromGoogle: citations', () => {
  const grounded = (text: string, segment: JsonObject, thoughts: readonly JsonObject[] = []): LLMResponse =>
    read(
      responseBody(
        [...thoughts, { text }],
        {},
        {
          groundingMetadata: {
            groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
            groundingSupports: [{ segment, groundingChunkIndices: [0] }],
          },
        },
      ),
    );

  const annotations = (response: LLMResponse): unknown =>
    response.output.flatMap((item) =>
      item.type === 'message'
        ? item.content.flatMap((part) => (part.type === 'output_text' ? part.annotations : []))
        : [],
    );

  it('converts byte offsets to indexes in the text', () => {
    const text = 'Zürich — 🏔️ is high.';
    const segment = { startIndex: Buffer.byteLength('Zürich — '), endIndex: Buffer.byteLength(text) };
    expect(annotations(grounded(text, segment))).to.deep.equal([
      { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 9, end_index: text.length },
    ]);
  });

  it("prefers a segment's text to its offsets", () => {
    expect(
      annotations(
        grounded('It is so. Really.', { startIndex: 40, endIndex: 47, text: 'Really.' }, [
          { text: 'Hm.', thought: true },
        ]),
      ),
    ).to.deep.equal([{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 10, end_index: 17 }]);
  });

  it('cites a document of file search, which has no URL, by its title', () => {
    const retrievedContext = { title: 'plan.txt', text: 'It is Chimera.', fileSearchStore: 'fileSearchStores/s' };
    const groundingMetadata = {
      groundingChunks: [{ retrievedContext }],
      groundingSupports: [{ segment: { endIndex: 8, text: 'Chimera.' }, groundingChunkIndices: [0] }],
    };
    expect(annotations(read(responseBody([{ text: 'Chimera.' }], {}, { groundingMetadata })))).to.deep.equal([
      { type: 'file_citation', filename: 'plan.txt', cited_text: 'It is Chimera.', start_index: 0, end_index: 8 },
    ]);
  });

  it('reads citationMetadata of both APIs', () => {
    for (const field of ['citationSources', 'citations']) {
      const response = read(
        responseBody(
          [{ text: 'Quoted text' }],
          {},
          { citationMetadata: { [field]: [{ startIndex: 0, endIndex: 6, uri: 'https://b.example', license: 'MIT' }] } },
        ),
      );
      expect(annotations(response)).to.deep.equal([
        { type: 'url_citation', url: 'https://b.example', title: '', start_index: 0, end_index: 6 },
      ]);
    }
  });

  it('tolerates and preserves metadata of any other shape', () => {
    for (const groundingMetadata of [
      {},
      {
        groundingSupports: [null, {}, { segment: {}, groundingChunkIndices: [9, 'x'] }],
        groundingChunks: [null, { web: {} }],
      },
      'odd',
    ]) {
      const body = responseBody([{ text: 'Yes.' }], {}, { groundingMetadata });
      expect(writeGoogle(read(body))).to.deep.equal(body);
    }
  });
});

describe('fromGoogle: invalid bodies', () => {
  it('rejects HTML, text, empty lists, and objects without a response', () => {
    for (const body of [
      '<html>',
      null,
      7,
      [],
      {},
      { candidates: [] },
      { candidates: ['x'] },
      { usageMetadata: {} },
      responseBody([null as never]),
    ]) {
      expect(failure(body)).to.be.instanceOf(LLMStreamError);
    }
  });

  it('throws the error of a body with status 200, as an object or in a list of chunks', () => {
    const error = { error: { code: 429, message: 'Resource has been exhausted', status: 'RESOURCE_EXHAUSTED' } };
    expect(failure(error)).to.be.instanceOf(LLMRateLimitError);
    expect(failure([error])).to.be.instanceOf(LLMRateLimitError);
  });

  it('assembles a list of chunks, and rejects one that was cut off', () => {
    const first = {
      candidates: [{ content: { parts: [{ text: 'One ' }], role: 'model' }, index: 0 }],
      responseId: 'r',
      modelVersion: 'm',
    };
    const last = {
      candidates: [{ content: { parts: [{ text: 'two' }], role: 'model' }, index: 0, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1 },
    };
    expect(read([first, last]).output_text).to.equal('One two');
    expect(failure([first])).to.be.instanceOf(LLMStreamError);
  });
});
