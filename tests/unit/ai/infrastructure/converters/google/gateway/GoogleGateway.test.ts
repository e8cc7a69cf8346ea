/**
 * The server side of the Gemini API: requests of its clients are understood by other vendors, and forwarded unchanged
 * to Gemini.
 */
import { expect } from 'chai';
import { toGoogle } from '../../../../../../../imports/business/ai/infrastructure/converters/google/GoogleConverter';
import {
  readGoogleRequest,
  writeGoogle,
} from '../../../../../../../imports/business/ai/infrastructure/converters/google/gateway/GoogleGateway';
import { PLACEHOLDER_SIGNATURE } from '../../../../../../../imports/business/ai/infrastructure/converters/google/request/ContentsBuilder';
import { normalizeOptions } from '../../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { LLMInvalidRequestError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import { googleContext } from '../../../../../../support/googleRecordings';
import { answer, calling, response, usage } from '../../../../../../../imports/testing/responses';
import { meaningOfGoogle } from '../../../../../../support/sameMeaning/google';

const HI = { role: 'user', parts: [{ text: 'Hi' }] };

function forwarded(request: JsonObject, model = 'gemini-2.5-flash'): JsonObject {
  return toGoogle(normalizeOptions(readGoogleRequest(request, model)), googleContext(), false).body;
}

function expectUnchanged(request: JsonObject, model?: string): void {
  expect(meaningOfGoogle(forwarded(request, model))).to.deep.equal(meaningOfGoogle(request));
}

describe('readGoogleRequest', () => {
  it('reads an entire request', () => {
    const read = readGoogleRequest(
      {
        systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
        contents: [HI, { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'Yes?' }] }, HI],
        tools: [
          {
            functionDeclarations: [
              {
                name: 'f',
                description: 'F',
                parameters: {
                  type: 'OBJECT',
                  properties: { n: { type: 'INTEGER', nullable: true, minimum: 1 } },
                  required: ['n'],
                },
              },
            ],
          },
        ],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
        generationConfig: {
          temperature: 0.1,
          topP: 0.2,
          maxOutputTokens: 3,
          stopSequences: ['x'],
          topK: 4,
          responseMimeType: 'application/json',
          thinkingConfig: { thinkingBudget: 8_000, includeThoughts: true },
        },
        safetySettings: [],
      },
      'gemini-2.5-flash',
    );
    expect(read).to.deep.include({
      model: 'gemini-2.5-flash',
      temperature: 0.1,
      top_p: 0.2,
      max_output_tokens: 3,
      stop: ['x'],
      response_format: { type: 'json_object' },
      reasoning: { effort: 'medium', summary: 'auto' },
      tool_choice: { type: 'function', name: 'f' },
    });
    expect(
      (read.input as readonly { type: string; role?: string }[]).map(({ type, role }) => role ?? type),
    ).to.deep.equal(['system', 'user', 'reasoning', 'assistant', 'user']);
    expect(read.tools?.[0]).to.deep.include({
      type: 'function',
      name: 'f',
      description: 'F',
      parameters: { type: 'object', properties: { n: { type: ['integer', 'null'], minimum: 1 } }, required: ['n'] },
    });
    expect(read.vendor?.google).to.deep.include({ safetySettings: [] });
  });

  it('reads sampling parameters for other vendors, as far as those can take them, and preserves all', () => {
    const generationConfig = { topK: 40, seed: 7, presencePenalty: 0.5, frequencyPenalty: -1 };
    const request = { contents: [HI], generationConfig };
    expect(readGoogleRequest(request, 'm')).to.deep.include({
      top_k: 40,
      seed: 7,
      presence_penalty: 0.5,
      frequency_penalty: -1,
    });
    expectUnchanged(request);
    const odd = { contents: [HI], generationConfig: { topK: 0, seed: '7', presencePenalty: 3 } };
    expect(readGoogleRequest(odd, 'm')).to.have.all.keys('model', 'input', 'vendor');
    expectUnchanged(odd);
  });

  it('reads both spellings of field names', () => {
    const request = {
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        {
          parts: [
            { inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo=' } },
            { file_data: { file_uri: 'gs://b/a.pdf', mime_type: 'application/pdf' } },
          ],
        },
      ],
      tools: [
        { function_declarations: [{ name: 'f', parameters_json_schema: { type: 'object' } }, { name: 'g' }] },
        { google_search: {} },
      ],
      tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['f', 'g'] } },
      generation_config: { max_output_tokens: 3, thinking_config: { thinking_level: 'LOW' } },
    };
    const read = readGoogleRequest(request, 'gemini-3-flash-preview');
    expect(read).to.deep.include({ max_output_tokens: 3, reasoning: { effort: 'low' } });
    expect(read.tools?.map(({ type }) => type)).to.deep.equal(['function', 'function', 'web_search']);
    expect(read.tool_choice).to.have.property('type', 'allowed_tools');
    expectUnchanged(request, 'gemini-3-flash-preview');
  });

  it('reads images as data URIs, and writes their bytes back in the original encoding', () => {
    const request = {
      contents: [
        {
          role: 'user',
          parts: [
            { inlineData: { mimeType: 'image/png', data: 'ab-_' } },
            { inlineData: { mimeType: 'audio/wav', data: 'a_-+', displayName: 'x' } },
          ],
        },
      ],
    };
    const [message] = readGoogleRequest(request, 'm').input as unknown as readonly { content: readonly JsonObject[] }[];
    expect(message?.content[0]).to.include({ type: 'input_image', image_url: 'data:image/png;base64,ab+/' });
    expect(message?.content[1]).to.include({ type: 'input_file', file_data: 'data:audio/wav;base64,a/++' });
    expect(forwarded(request)).to.deep.equal(request);
  });

  it('pairs calls with their results by id, otherwise by name and order', () => {
    const request = {
      contents: [
        HI,
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'f', args: { n: 1 } } },
            { functionCall: { name: 'g', args: {}, id: 'own' } },
            { functionCall: { name: 'f', args: { n: 2 } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { of: 1 } } },
            { functionResponse: { name: 'g', response: {}, id: 'own' } },
            { functionResponse: { name: 'f', response: { of: 2 } } },
          ],
        },
      ],
    };
    const items = readGoogleRequest(request, 'm').input as readonly { type: string; call_id?: string }[];
    const ids = items.flatMap(({ call_id }) => call_id ?? []);
    expect(ids.slice(0, 3)).to.deep.equal(ids.slice(3));
    expect(new Set(ids).size).to.equal(3);
    expect(ids[1]).to.equal('own');
    expectUnchanged(request);
  });

  it('pairs a result whose id no call has with the call of its name', () => {
    const request = {
      contents: [
        HI,
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { of: 1 }, id: 'own' } }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {}, id: 'a' } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { of: 2 }, id: '' } }] },
      ],
    };
    const items = readGoogleRequest(request, 'm').input as readonly { type: string; call_id?: string }[];
    const ids = items.flatMap(({ call_id }) => call_id ?? []);
    expect([ids[1], ids[3]]).to.deep.equal([ids[0], 'a']);
    expectUnchanged(request);
  });

  it('preserves separate contents of one role, with their fields', () => {
    expectUnchanged({
      contents: [
        HI,
        HI,
        { role: 'model', parts: [{ text: 'a' }] },
        { role: 'model', parts: [{ text: 'b' }], note: 1 },
        { parts: [{ text: 'c' }] },
        { role: 'user', parts: [] },
      ],
    });
  });

  it('accepts the old role of function responses', () => {
    expectUnchanged({
      contents: [
        HI,
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { role: 'function', parts: [{ functionResponse: { name: 'f', response: { a: 1 } } }] },
        HI,
      ],
    });
  });

  it('preserves unknown parts of either role, malformed calls and results, and empty texts', () => {
    expectUnchanged({
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Look', videoMetadata: { fps: 1 } },
            { text: '' },
            { somethingNew: { a: 1 } },
            { executableCode: { code: '1' } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: '' },
            { executableCode: { code: '1' } },
            { functionCall: { name: 'f' } },
            { thoughtSignature: 'YQ==' },
          ],
        },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'f', response: { a: 1 }, scheduling: 'SILENT' }, extra: true }],
        },
      ],
    });
  });

  it('adds no signature to calls of the client for any model', () => {
    expectUnchanged(
      {
        contents: [
          HI,
          { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
          { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] },
        ],
      },
      'gemini-3-flash-preview',
    );
  });

  it('preserves tool objects, known and unknown', () => {
    const declaration = (name: string): JsonObject => ({
      name,
      parameters: { type: 'OBJECT', properties: {} },
      behavior: 'BLOCKING',
    });
    expectUnchanged({
      contents: [HI],
      tools: [
        { googleMaps: {} },
        { functionDeclarations: [declaration('a'), declaration('b')], googleMaps: { enableWidget: true } },
        { codeExecution: {}, googleSearch: {} },
        { newTool: {} },
        { functionDeclarations: [declaration('c')] },
      ],
    });
    expectUnchanged({ contents: [HI], tools: [] });
    expectUnchanged({ contents: [HI], tools: [{ functionDeclarations: [] }] });
  });

  it('preserves configurations that options cannot express exactly', () => {
    for (const request of [
      { toolConfig: {} },
      { toolConfig: { functionCallingConfig: { mode: 'VALIDATED' }, retrievalConfig: { languageCode: 'de' } } },
      {
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        toolConfig: { functionCallingConfig: { mode: 'AUTO' }, includeServerSideToolInvocations: true },
      },
      { generationConfig: {} },
      {
        generationConfig: {
          stopSequences: [],
          temperature: '0.5',
          responseModalities: ['TEXT'],
          speechConfig: { voiceConfig: {} },
        },
      },
      {
        generationConfig: {
          responseMimeType: 'application/json',
          responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } }, propertyOrdering: ['a'] },
        },
      },
      { generationConfig: { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } } },
      {
        labels: { team: 'a_b' },
        cachedContent: 'cachedContents/1',
        safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
        modelArmorConfig: { promptTemplateName: 'x' },
      },
    ])
      expectUnchanged({ contents: [HI], ...request });
  });

  it('reads a response schema as JSON Schema', () => {
    const { response_format } = readGoogleRequest(
      {
        contents: [HI],
        generationConfig: {
          responseMimeType: 'application/json',
          responseSchema: { type: 'ARRAY', items: { type: 'NUMBER' }, minItems: '2' },
        },
      },
      'm',
    );
    expect(response_format).to.deep.equal({
      type: 'json_schema',
      name: 'response',
      schema: { type: 'array', items: { type: 'number' }, minItems: 2 },
    });
  });

  it('rejects invalid requests with their path', () => {
    const deep = JSON.parse(`${'[{"a":'.repeat(80)}1${'}]'.repeat(80)}`) as unknown;
    for (const [body, path] of [
      ['text', ''],
      [{ contents: {} }, 'contents'],
      [{ contents: ['x'] }, 'contents[0]'],
      [{ contents: [{ parts: 'x' }] }, 'contents[0].parts'],
      [{ contents: [{ parts: [1] }] }, 'contents[0].parts[0]'],
      [{ contents: [], tools: 'x' }, 'tools'],
      [{ contents: [], tools: [1] }, 'tools[0]'],
      [{ contents: [], toolConfig: 1 }, 'toolConfig'],
      [{ contents: [], generationConfig: [] }, 'generationConfig'],
      [{ contents: [], systemInstruction: 1 }, 'systemInstruction'],
    ] as const) {
      expect(() => readGoogleRequest(body, 'm'), JSON.stringify(body))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', path);
    }
    expect(() =>
      readGoogleRequest({ contents: [{ parts: [{ functionCall: { name: 'f', args: { deep } } }] }] }, 'm'),
    ).to.throw(LLMInvalidRequestError, /nested/);
  });
});

describe('writeGoogle for responses of other vendors', () => {
  const parts = (body: JsonObject): unknown =>
    (body.candidates as readonly { content: { parts: unknown } }[])[0]?.content.parts;
  const finish = (body: JsonObject): unknown =>
    (body.candidates as readonly { finishReason: unknown }[])[0]?.finishReason;

  it('writes text, thoughts, calls with their ids, usage and names', () => {
    const body = writeGoogle(
      response({
        output: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sealed' },
          {
            type: 'message',
            role: 'assistant',
            content: [
              {
                type: 'output_text',
                text: 'Ä: see.',
                annotations: [
                  { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 3, end_index: 6 },
                ],
              },
            ],
          },
          ...calling({ name: 'f', call_id: 'call_1', arguments: { n: 1 } }, { name: 'g', call_id: 'call_2' }).output,
        ],
        usage: {
          ...usage(10, 5),
          input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 2 },
        },
      }),
    );
    expect(parts(body)).to.deep.equal([
      { text: 'Hm.', thought: true },
      { text: 'Ä: see.' },
      { functionCall: { id: 'call_1', name: 'f', args: { n: 1 } }, thoughtSignature: PLACEHOLDER_SIGNATURE },
      { functionCall: { id: 'call_2', name: 'g', args: {} } },
    ]);
    expect(body.usageMetadata).to.deep.equal({
      promptTokenCount: 10,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 2,
      cachedContentTokenCount: 4,
      totalTokenCount: 15,
    });
    expect(body).to.include({ modelVersion: 'scripted-model' });
    expect((body.candidates as readonly JsonObject[])[0]?.citationMetadata).to.deep.equal({
      citationSources: [{ startIndex: 4, endIndex: 7, uri: 'https://a.example', title: 'A' }],
    });
    expect(JSON.stringify(body)).not.to.include('sealed');
  });

  it('writes the finish reason of the wire', () => {
    expect(finish(writeGoogle(answer('Yes.')))).to.equal('STOP');
    expect(
      finish(writeGoogle(response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }))),
    ).to.equal('MAX_TOKENS');
    expect(
      finish(writeGoogle(response({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }))),
    ).to.equal('SAFETY');
    expect(
      finish(
        writeGoogle(
          response({
            output: [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }],
          }),
        ),
      ),
    ).to.equal('SAFETY');
  });

  it('writes the total usage of a run if it differs from that of the last response', () => {
    const last = response({
      vendor: {
        name: 'google',
        wire: 'gemini',
        finish_reason: 'STOP',
        warnings: [],
        losses: [],
        fields: { candidates: [{ finishReason: 'STOP' }] },
        usage: { promptTokenCount: 1, totalTokenCount: 1 },
      },
      usage: usage(10, 5),
    });
    expect(writeGoogle(last).usageMetadata).to.deep.equal({
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      totalTokenCount: 15,
    });
  });
});
