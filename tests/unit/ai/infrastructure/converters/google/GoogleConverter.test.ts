/** Requests of the Gemini wire, rule by rule. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toGoogle } from '../../../../../../imports/business/ai/infrastructure/converters/google/GoogleConverter';
import { PLACEHOLDER_SIGNATURE } from '../../../../../../imports/business/ai/infrastructure/converters/google/request/ContentsBuilder';
import { normalizeOptions } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { UnsupportedFeatureError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { WireRequest } from '../../../../../../imports/business/ai/infrastructure/converters/Wire';
import type { GenerateOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { InputItem, ReasoningItem } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, VendorQuirks } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { googleContext } from '../../../../../support/googleRecordings';

const SCHEMA = join(
  __dirname,
  '../../../../../../imports/simulator/schemas/gemini.generateContent.request.schema.json',
);
const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object);

/** Also asserts that the body conforms to the published protos. */
function send(options: Partial<GenerateOptions>, quirks: Partial<VendorQuirks> = {}): WireRequest & { body: Body } {
  const request = toGoogle(
    normalizeOptions({ model: 'gemini-2.5-flash', input: 'Hi', ...options }),
    googleContext({ quirks }),
    false,
  );
  expect(validate(request.body), JSON.stringify(validate.errors)).to.equal(true);
  return request as WireRequest & { body: Body };
}

interface Body extends JsonObject {
  readonly contents: readonly { readonly role: string; readonly parts: readonly JsonObject[] }[];
  readonly systemInstruction?: JsonObject;
  readonly generationConfig?: JsonObject;
  readonly tools?: readonly JsonObject[];
  readonly toolConfig?: JsonObject;
}

const call = (call_id: string, name: string, args: unknown = {}, more: object = {}): InputItem => ({
  type: 'function_call',
  call_id,
  name,
  arguments: JSON.stringify(args),
  ...more,
});
const result = (call_id: string, output: string, more: object = {}): InputItem => ({
  type: 'function_call_output',
  call_id,
  output,
  ...more,
});
const assistant = (text: string): InputItem => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const user = (text: string): InputItem => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const WEATHER = {
  type: 'function',
  name: 'weather',
  description: 'Weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
} as const;
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

describe('toGoogle: the history', () => {
  it('sends instructions and leading system messages as the system instruction, one part each', () => {
    const { body, losses } = send({
      instructions: 'Be brief.',
      input: [{ role: 'system', content: 'Be kind.' }, { role: 'developer', content: 'Be exact.' }, user('Hi')],
    });
    expect(body.systemInstruction).to.deep.equal({
      parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }, { text: 'Be exact.' }],
    });
    expect(body.contents).to.deep.equal([{ role: 'user', parts: [{ text: 'Hi' }] }]);
    expect(losses).to.deep.equal([]);
  });

  it('sends a later system message as tagged user text, and reports the loss', () => {
    const { body, losses } = send({
      input: [user('Hi'), assistant('Hello'), { role: 'system', content: 'Now be rude.' }, user('Go on')],
    });
    expect(body.contents.map(({ role }) => role)).to.deep.equal(['user', 'model', 'user']);
    expect(body.contents[2]?.parts.map(({ text }) => text)).to.deep.equal([
      '<system_instructions>',
      'Now be rude.',
      '</system_instructions>',
      'Go on',
    ]);
    expect(losses).to.have.lengthOf(1);
    expect(losses[0]).to.include({ path: 'input[2]', what: 'role of a system message' });
  });

  it('asks the model to follow instructions that are the entire input, since a request must have a content', () => {
    // https://github.com/langchain-ai/langchain-google/issues/1393
    const { body, losses } = send({ input: [{ role: 'developer', content: 'Say hello.' }, user('')] });
    expect(body.systemInstruction).to.deep.equal({ parts: [{ text: 'Say hello.' }] });
    expect(body.contents).to.deep.equal([{ role: 'user', parts: [{ text: '(Follow the instructions.)' }] }]);
    expect(losses.map(({ path }) => path)).to.deep.equal(['input']);
  });

  it('asks later models to go on, since they reject a request that ends with an answer', () => {
    // https://ai.google.dev/gemini-api/docs/generate-content/whats-new-gemini-3.6
    const input = [user('Hi'), assistant('Well,')];
    const { body, losses } = send({ model: 'gemini-3.8-flash', input });
    expect(body.contents.at(-1)).to.deep.equal({ role: 'user', parts: [{ text: '(Continue your answer.)' }] });
    expect(losses.map(({ path }) => path)).to.deep.equal(['input']);
    expect(send({ model: 'gemini-3.1-pro-preview', input }).body.contents.at(-1)?.role).to.equal('model');
    const results = [user('Hi'), call('a', 'weather'), result('a', '{}')];
    expect(send({ model: 'gemini-3.8-flash', input: results }).losses).to.deep.equal([]);
  });

  it('joins adjacent messages of one role to one content', () => {
    const { body } = send({ input: [user('One'), user('Two'), assistant('Three'), assistant('Four'), user('Five')] });
    expect(body.contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
      { role: 'model', parts: [{ text: 'Three' }, { text: 'Four' }] },
      { role: 'user', parts: [{ text: 'Five' }] },
    ]);
  });

  it('sends results of parallel calls together, in call order, by name, and without generated ids', () => {
    const { body } = send({
      input: [
        user('Hi'),
        call('a', 'first', { x: 1 }),
        call('b', 'second'),
        result('b', 'two'),
        result('a', '{"one":1}'),
      ],
    });
    expect(body.contents.slice(1)).to.deep.equal([
      {
        role: 'model',
        parts: [{ functionCall: { name: 'first', args: { x: 1 } } }, { functionCall: { name: 'second', args: {} } }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'first', response: { one: 1 } } },
          { functionResponse: { name: 'second', response: { result: 'two' } } },
        ],
      },
    ]);
  });

  it('sends results as objects: a JSON object unchanged, other text as result, failures as error', () => {
    const outputs: [string, object, JsonObject][] = [
      ['{"a":[1]}', {}, { a: [1] }],
      ['[1,2]', {}, { result: '[1,2]' }],
      ['{broken', {}, { result: '{broken' }],
      ['', {}, { result: '' }],
      ['It is gone.', { state: 'failed' }, { error: 'It is gone.' }],
      ['{"code":7}', { state: 'timeout' }, { error: { code: 7 } }],
      ['{"error":"no"}', { state: 'failed' }, { error: 'no' }],
    ];
    for (const [output, more, expected] of outputs) {
      const { body } = send({ input: [user('Hi'), call('a', 'tool'), result('a', output, more)] });
      expect(body.contents[2]?.parts).to.deep.equal([{ functionResponse: { name: 'tool', response: expected } }]);
    }
  });

  it('sends a placeholder for an orphaned call and text for an orphaned result, and reports both', () => {
    const { body, losses } = send({ input: [user('Hi'), call('a', 'tool'), user('Well?'), result('z', 'late')] });
    expect(body.contents[2]?.parts[0]).to.have.nested.property('functionResponse.name', 'tool');
    expect(JSON.stringify(body.contents)).to.include('late');
    expect(losses.map(({ path }) => path)).to.deep.equal(['input[1]', 'input[3]']);
  });

  it('inserts a user content if the history starts with a call', () => {
    const { body } = send({ input: [call('a', 'tool'), result('a', 'done')] });
    expect(body.contents.map(({ role }) => role)).to.deep.equal(['user', 'model', 'user']);
  });

  it('sends malformed arguments as text, and reports them', () => {
    const { body, losses } = send({
      input: [user('Hi'), { type: 'function_call', call_id: 'a', name: 'tool', arguments: '{"x":' }, result('a', 'no')],
    });
    expect(body.contents[1]?.parts).to.deep.equal([{ functionCall: { name: 'tool', args: { arguments: '{"x":' } } }]);
    expect(losses[0]).to.include({ path: 'input[1].arguments' });
  });

  it('omits an empty text, but not one with a signature', () => {
    const signed: InputItem = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: '', annotations: [], vendor: { google: { thoughtSignature: 'c2ln' } } }],
    };
    const { body } = send({ input: [user('Hi'), assistant(''), user('Again'), signed, user('Bye')] });
    expect(body.contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'Hi' }, { text: 'Again' }] },
      { role: 'model', parts: [{ text: '', thoughtSignature: 'c2ln' }] },
      { role: 'user', parts: [{ text: 'Bye' }] },
    ]);
  });

  it('drops reasoning, compactions and server tools of other vendors, and reports each', () => {
    const reasoning: ReasoningItem = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'sealed',
      origin: { wire: 'responses' },
    };
    const { body, losses } = send({
      input: [
        user('Hi'),
        reasoning,
        { type: 'compaction', encrypted_content: 'sealed' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'vendor_item', origin: { wire: 'anthropic_messages' }, item: { type: 'server_tool_use' } },
        assistant('Yes.'),
        user('Sure?'),
      ],
    });
    expect(body.contents.map(({ role }) => role)).to.deep.equal(['user', 'model', 'user']);
    expect(JSON.stringify(body)).not.to.include('sealed').and.not.to.include('Hm.');
    expect(losses.map(({ path }) => path)).to.deep.equal(['input[1]', 'input[2]', 'input[3]', 'input[4]']);
  });

  it("sends Gemini's own thoughts and unknown parts back unchanged", () => {
    const thought: ReasoningItem = {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm.', vendor: { google: { thoughtSignature: 'c2ln' } } }],
      origin: { wire: 'gemini' },
    };
    const code = { executableCode: { language: 'PYTHON', code: 'print(1)' } };
    const { body, losses } = send({
      input: [
        user('Hi'),
        thought,
        { type: 'vendor_item', origin: { wire: 'gemini' }, item: code },
        assistant('Yes.'),
        user('Sure?'),
      ],
    });
    expect(body.contents[1]?.parts).to.deep.equal([
      { text: 'Hm.', thought: true, thoughtSignature: 'c2ln' },
      code,
      { text: 'Yes.' },
    ]);
    expect(losses).to.deep.equal([]);
  });

  it('sends text and refusals of other vendors, and reports annotations', () => {
    const { body, losses } = send({
      input: [
        user('Hi'),
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'See there.', annotations: [{ type: 'url_citation' }] },
            { type: 'refusal', refusal: 'No.' },
          ],
        },
        user('Why?'),
      ],
    });
    expect(body.contents[1]?.parts).to.deep.equal([{ text: 'See there.' }, { text: 'No.' }]);
    expect(losses).to.have.lengthOf(1);
    expect(losses[0]).to.include({ path: 'input[1].content[0]' });
  });

  it('converts each item once, no matter how often its history is sent', () => {
    const options = normalizeOptions({
      model: 'gemini-2.5-flash',
      input: [user('Hi'), call('a', 'tool', { x: 1 }), result('a', '{"y":2}')],
    });
    const parts = (): unknown[] =>
      (toGoogle(options, googleContext(), false).body as Body).contents.flatMap((content) => content.parts);
    const [first, second] = [parts(), parts()];
    expect(first).to.have.lengthOf(3);
    first.forEach((part, index) => expect(part).to.equal(second[index]));
  });
});

describe('toGoogle: thought signatures', () => {
  const signed = { vendor: { google: { thoughtSignature: 'c2lnbmVk' } } };

  it('stay on the part that they arrived with, the first of parallel calls', () => {
    const { body } = send({
      model: 'gemini-3-pro-preview',
      input: [user('Hi'), call('a', 'x', {}, signed), call('b', 'y'), result('a', '1'), result('b', '2')],
    });
    expect(body.contents[1]?.parts.map(({ thoughtSignature }) => thoughtSignature)).to.deep.equal([
      'c2lnbmVk',
      undefined,
    ]);
  });

  it("are replaced by Google's documented placeholder on the first call of each unsigned step, if the model requires one", () => {
    const input = [
      user('Old'),
      call('o', 'x'),
      result('o', '0'),
      assistant('Done'),
      user('New'),
      call('a', 'x'),
      call('b', 'y'),
      result('a', '1'),
      result('b', '2'),
      call('c', 'z'),
      result('c', '3'),
    ];
    const signatures = (model: string): unknown[] =>
      send({ model, input }).body.contents.flatMap(({ parts }) =>
        parts.filter(({ functionCall }) => functionCall !== undefined).map(({ thoughtSignature }) => thoughtSignature),
      );
    expect(signatures('gemini-3-flash-preview')).to.deep.equal([
      undefined,
      PLACEHOLDER_SIGNATURE,
      undefined,
      PLACEHOLDER_SIGNATURE,
    ]);
    expect(signatures('gemini-2.5-pro')).to.deep.equal([undefined, undefined, undefined, undefined]);
  });
});

describe('toGoogle: images and files', () => {
  const withPart = (part: object, quirks: Partial<VendorQuirks> = {}): readonly JsonObject[] =>
    send({ input: [{ role: 'user', content: [part as never] }] }, quirks).body.contents[0]?.parts ?? [];

  it('inlines data URIs and bare base64 with a known file extension', () => {
    expect(withPart({ type: 'input_image', image_url: PNG })).to.deep.equal([
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    ]);
    expect(withPart({ type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=' })).to.deep.equal([
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
    ]);
    expect(withPart({ type: 'input_file', file_data: 'aGk=', filename: 'notes.TXT' })).to.deep.equal([
      { inlineData: { mimeType: 'text/plain', data: 'aGk=' } },
    ]);
  });

  it('refers to the Files API, Cloud Storage and YouTube', () => {
    expect(withPart({ type: 'input_file', file_id: 'files/abc' })).to.deep.equal([
      { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } },
    ]);
    expect(withPart({ type: 'input_file', file_id: 'gs://bucket/a.pdf' })).to.deep.equal([
      { fileData: { mimeType: 'application/pdf', fileUri: 'gs://bucket/a.pdf' } },
    ]);
    expect(withPart({ type: 'input_file', file_url: 'https://www.youtube.com/watch?v=1' })).to.deep.equal([
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } },
    ]);
  });

  it('rejects a URL with its path if the vendor does not fetch URLs', () => {
    const image = { type: 'input_image', image_url: 'https://example.com/a.jpg' };
    expect(() => withPart(image))
      .to.throw(UnsupportedFeatureError, /does not fetch URLs/)
      .with.property('path', 'input[0].content[0]');
    expect(withPart(image, { fetchesImageUrls: true })).to.deep.equal([
      { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/a.jpg' } },
    ]);
  });

  it("rejects another vendor's file id and base64 of an unknown type", () => {
    expect(() => withPart({ type: 'input_file', file_id: 'file-abc123' })).to.throw(
      UnsupportedFeatureError,
      /file-abc123/,
    );
    expect(() => withPart({ type: 'input_file', file_data: 'aGk=', filename: 'notes' })).to.throw(
      UnsupportedFeatureError,
      /filename/,
    );
  });

  it('sends images of a result inside it if the model supports that, otherwise after all results of the turn', () => {
    const input: InputItem[] = [
      user('Hi'),
      call('a', 'shoot'),
      call('b', 'other'),
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'Here.' },
          { type: 'input_image', image_url: PNG },
        ],
      },
      result('b', 'ok'),
    ];
    const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
    expect(send({ model: 'gemini-3-flash-preview', input }).body.contents[2]?.parts).to.deep.equal([
      { functionResponse: { name: 'shoot', response: { result: 'Here.' }, parts: [image] } },
      { functionResponse: { name: 'other', response: { result: 'ok' } } },
    ]);
    expect(send({ model: 'gemini-2.5-flash', input }).body.contents[2]?.parts).to.deep.equal([
      { functionResponse: { name: 'shoot', response: { result: 'Here.' } } },
      { functionResponse: { name: 'other', response: { result: 'ok' } } },
      { text: 'Content that the call of shoot returned:' },
      image,
    ]);
  });
});

describe('toGoogle: tools', () => {
  it('declares all functions in one tool object, with JSON Schema parameters', () => {
    const { body } = send({ tools: [WEATHER, { type: 'function', name: 'now' }] });
    expect(body.tools).to.deep.equal([
      {
        functionDeclarations: [
          { name: 'weather', description: 'Weather', parametersJsonSchema: WEATHER.parameters },
          { name: 'now', description: '' },
        ],
      },
    ]);
  });

  it('reports what it omits from a schema, by path', () => {
    const { losses } = send({
      tools: [
        {
          type: 'function',
          name: 'f',
          parameters: { type: 'object', properties: { n: { type: 'integer', multipleOf: 5 } } },
        },
      ],
    });
    expect(losses.map(({ path }) => path)).to.deep.equal(['tools[0].parameters.properties.n.multipleOf']);
  });

  it('maps built-in tools to server tools, and rejects those that Gemini lacks', () => {
    expect(send({ tools: [{ type: 'web_search' }] }).body.tools).to.deep.equal([{ googleSearch: {} }]);
    expect(send({ tools: [{ type: 'code_interpreter' }] }).body.tools).to.deep.equal([{ codeExecution: {} }]);
    expect(send({ tools: [{ type: 'url_context' }] }).body.tools).to.deep.equal([{ urlContext: {} }]);
    expect(send({ tools: [{ type: 'web_fetch' }] }).body.tools).to.deep.equal([{ urlContext: {} }]);
    expect(() => send({ tools: [{ type: 'computer_use' }] }))
      .to.throw(UnsupportedFeatureError, /computer_use/)
      .with.property('path', 'tools[0]');
    expect(
      send({
        tools: [
          {
            type: 'web_search',
            vendor: { google: { googleSearch: { timeRangeFilter: { startTime: '2026-01-01T00:00:00Z' } } } },
          },
        ],
      }).body.tools,
    ).to.deep.equal([{ googleSearch: { timeRangeFilter: { startTime: '2026-01-01T00:00:00Z' } } }]);
  });

  it('combines server tools with functions since Gemini 3, and rejects that before', () => {
    const tools = [WEATHER, { type: 'web_search' }] as const;
    expect(() => send({ tools })).to.throw(UnsupportedFeatureError, /either functions or server tools/);
    expect(send({ model: 'gemini-3-flash-preview', tools }).body.toolConfig).to.deep.equal({
      includeServerSideToolInvocations: true,
    });
  });

  it('rejects an invalid function name', () => {
    expect(() => send({ tools: [{ type: 'function', name: '7up' }] })).to.throw(UnsupportedFeatureError, /7up/);
  });

  it('maps every tool choice', () => {
    const tools = [WEATHER, { type: 'function', name: 'now' }] as const;
    const choose = (tool_choice: GenerateOptions['tool_choice']): unknown =>
      send({ tools, ...(tool_choice === undefined ? {} : { tool_choice }) }).body.toolConfig?.functionCallingConfig;
    expect(choose(undefined)).to.equal(undefined);
    expect(choose('auto')).to.deep.equal({ mode: 'AUTO' });
    expect(choose('none')).to.deep.equal({ mode: 'NONE' });
    expect(choose('required')).to.deep.equal({ mode: 'ANY' });
    expect(choose({ type: 'function', name: 'now' })).to.deep.equal({ mode: 'ANY', allowedFunctionNames: ['now'] });
    expect(
      choose({ type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'now' }] }),
    ).to.deep.equal({ mode: 'ANY', allowedFunctionNames: ['now'] });
  });

  it('declares only the allowed tools with mode auto', () => {
    const { body } = send({
      tools: [WEATHER, { type: 'function', name: 'now' }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'now' }] },
    });
    expect(body.tools).to.deep.equal([{ functionDeclarations: [{ name: 'now', description: '' }] }]);
  });

  it('warns about strict, and a tool choice without functions', () => {
    expect(send({ tools: [{ ...WEATHER, strict: true }] }).warnings.map((one) => one.split(':')[0])).to.deep.equal([
      'strict was omitted',
    ]);
    expect(send({ tools: [{ type: 'web_search' }], tool_choice: 'required' }).warnings).to.have.lengthOf(1);
  });
});

describe('toGoogle: generation config', () => {
  const SCHEMA_FORMAT = {
    type: 'json_schema',
    name: 'city',
    schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  } as const;

  it('maps sampling, limits and stop sequences', () => {
    const { body } = send({ temperature: 0.5, top_p: 0.9, max_output_tokens: 100, stop: ['END'] });
    expect(body.generationConfig).to.deep.equal({
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 100,
      stopSequences: ['END'],
    });
  });

  it('requests JSON with a JSON Schema, in the OpenAPI subset for older models, or without a schema', () => {
    expect(send({ response_format: SCHEMA_FORMAT }).body.generationConfig).to.deep.equal({
      responseMimeType: 'application/json',
      responseJsonSchema: SCHEMA_FORMAT.schema,
    });
    expect(send({ model: 'gemini-2.0-flash', response_format: SCHEMA_FORMAT }).body.generationConfig).to.deep.equal({
      responseMimeType: 'application/json',
      responseSchema: {
        type: 'OBJECT',
        properties: { name: { type: 'STRING' } },
        propertyOrdering: ['name'],
        required: ['name'],
      },
    });
    expect(send({ response_format: { type: 'json_object' } }).body.generationConfig).to.deep.equal({
      responseMimeType: 'application/json',
    });
    expect(send({ response_format: { type: 'text' } }).body).not.to.have.property('generationConfig');
  });

  it('requests JSON by an instruction together with tools before Gemini 3, with a loss and a warning', () => {
    const old = send({ tools: [WEATHER], response_format: SCHEMA_FORMAT });
    expect(old.body).not.to.have.property('generationConfig');
    expect(JSON.stringify(old.body.systemInstruction))
      .to.include('JSON Schema')
      .and.to.include('\\"required\\":[\\"name\\"]');
    expect(old.losses.map(({ path }) => path)).to.deep.equal(['response_format']);
    expect(old.warnings).to.have.lengthOf(1);
    expect(
      send({ model: 'gemini-3-flash-preview', tools: [WEATHER], response_format: SCHEMA_FORMAT }).body.generationConfig,
    ).to.have.property('responseJsonSchema');
  });

  it('maps effort to a budget on Gemini 2.5, to a level since Gemini 3, and omits it on models without thinking', () => {
    const thinking = (model: string, effort: string, summary?: string): [unknown, number] => {
      const { body, warnings } = send({ model, reasoning: { effort, ...(summary === undefined ? {} : { summary }) } });
      return [body.generationConfig?.thinkingConfig, warnings.length];
    };
    expect(thinking('gemini-2.5-flash', 'none')).to.deep.equal([{ thinkingBudget: 0 }, 0]);
    expect(thinking('gemini-2.5-pro', 'none')).to.deep.equal([{ thinkingBudget: 128 }, 1]);
    expect(thinking('gemini-2.5-flash', 'low')).to.deep.equal([{ thinkingBudget: 1_024 }, 0]);
    expect(thinking('gemini-2.5-flash', 'medium', 'auto')).to.deep.equal([
      { thinkingBudget: 8_192, includeThoughts: true },
      0,
    ]);
    expect(thinking('gemini-2.5-flash', 'high')).to.deep.equal([{ thinkingBudget: 24_576 }, 0]);
    expect(thinking('gemini-2.5-flash', 'max')).to.deep.equal([{ thinkingBudget: 24_576 }, 0]);
    expect(thinking('gemini-3-flash-preview', 'max')).to.deep.equal([{ thinkingLevel: 'high' }, 1]);
    expect(thinking('gemini-3-pro-preview', 'medium')).to.deep.equal([{ thinkingLevel: 'high' }, 1]);
    expect(thinking('gemini-3.1-pro-preview', 'medium')).to.deep.equal([{ thinkingLevel: 'medium' }, 0]);
    expect(thinking('gemini-3-flash-preview', 'minimal')).to.deep.equal([{ thinkingLevel: 'minimal' }, 0]);
    expect(thinking('gemini-3-flash-preview', 'none')).to.deep.equal([{ thinkingLevel: 'minimal' }, 1]);
    // https://ai.google.dev/gemini-api/docs/generate-content/thinking#thinking-levels
    expect(thinking('gemini-3.6-flash', 'none')).to.deep.equal([{ thinkingLevel: 'minimal' }, 1]);
    for (const model of ['gemini-3.7-flash', 'gemini-3.8-flash', 'gemini-4-argon', 'gemini-flash-latest']) {
      expect(thinking(model, 'none'), model).to.deep.equal([{ thinkingLevel: 'low' }, 1]);
      expect(thinking(model, 'minimal'), model).to.deep.equal([{ thinkingLevel: 'low' }, 1]);
      expect(thinking(model, 'medium'), model).to.deep.equal([{ thinkingLevel: 'medium' }, 0]);
    }
    expect(thinking('gemini-flash-lite-latest', 'minimal')).to.deep.equal([{ thinkingLevel: 'minimal' }, 0]);
    expect(thinking('gemini-2.0-flash', 'high')).to.deep.equal([undefined, 1]);
    expect(thinking('gemini-2.5-flash', 'constructor')).to.deep.equal([undefined, 1]);
  });

  it('sends penalties to Gemini 2.0 only, as the later models reject them, with a warning', () => {
    // https://github.com/google-gemini/cookbook/issues/1290
    const penalties = { presence_penalty: 0.5, frequency_penalty: -1 };
    expect(send({ model: 'gemini-2.0-flash', ...penalties }).body.generationConfig).to.deep.equal({
      presencePenalty: 0.5,
      frequencyPenalty: -1,
    });
    const later = send({ model: 'gemini-3.8-flash', ...penalties, temperature: 1 });
    expect(later.body.generationConfig).to.deep.equal({ temperature: 1 });
    expect(later.warnings).to.deep.equal([
      'presence_penalty was omitted: gemini-3.8-flash does not support it.',
      'frequency_penalty was omitted: gemini-3.8-flash does not support it.',
    ]);
    expect(send({ model: 'gemini-3.8-flash', presence_penalty: 0, frequency_penalty: 0 }).warnings).to.deep.equal([]);
    const verbatim = { generationConfig: { presencePenalty: 0.5 } };
    const own = send({ model: 'gemini-3.8-flash', presence_penalty: 0.5, vendor: { google: verbatim } });
    expect(own.body).to.deep.include(verbatim);
    expect(own.warnings).to.deep.equal([]);
  });

  it('warns about metadata, user and previous_response_id', () => {
    expect(
      send({ metadata: { a: 'b' }, user: 'u1', previous_response_id: 'resp_1' }).warnings.map(
        (one) => one.split(':')[0],
      ),
    ).to.deep.equal(['metadata was omitted', 'user was omitted', 'previous_response_id was ignored']);
  });

  it("merges the caller's passthrough fields over everything, in either spelling", () => {
    const { body } = send({
      temperature: 0.5,
      max_output_tokens: 9,
      vendor: {
        google: {
          generation_config: { top_k: 40, temperature: 1 },
          safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
          cached_content: 'cachedContents/1',
        },
      },
    });
    expect(body.generationConfig).to.deep.equal({ temperature: 1, maxOutputTokens: 9, topK: 40 });
    expect(body).to.deep.include({
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      cachedContent: 'cachedContents/1',
    });
  });

  it('does not generate fields that the caller passed through', () => {
    const { body } = send({
      response_format: SCHEMA_FORMAT,
      reasoning: { effort: 'high' },
      vendor: {
        google: {
          generationConfig: {
            responseMimeType: 'application/json',
            responseSchema: { type: 'STRING' },
            thinkingConfig: { thinkingBudget: 5 },
          },
        },
      },
    });
    expect(body.generationConfig).to.deep.equal({
      responseMimeType: 'application/json',
      responseSchema: { type: 'STRING' },
      thinkingConfig: { thinkingBudget: 5 },
    });
  });

  it('omits fields that the vendor does not support, with a warning', () => {
    const { body, warnings } = send(
      { vendor: { google: { cachedContent: 'cachedContents/1' } } },
      { unsupportedFields: ['cachedContent'] },
    );
    expect(body).not.to.have.property('cachedContent');
    expect(warnings).to.have.lengthOf(1);
  });
});
