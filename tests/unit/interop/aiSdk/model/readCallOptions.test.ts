import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { InvalidArgumentError, NoSuchProviderReferenceError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { expect } from 'chai';
import { normalizeOptions } from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import type { InputItem } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { readCallOptions } from '../../../../../imports/interop/aiSdk/model/readCallOptions';
import type { CallRequest } from '../../../../../imports/interop/aiSdk/model/readCallOptions';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const HELLO: LanguageModelV4Message = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };

/** Reads a call, and has its options checked as every provider does. */
function read(call: Partial<LanguageModelV4CallOptions>): CallRequest {
  const request = readCallOptions({ prompt: [HELLO], ...call }, 'anthropic');
  normalizeOptions({ ...request.options, model: 'm' });
  return request;
}

function itemsOf(...prompt: LanguageModelV4Message[]): readonly InputItem[] {
  return read({ prompt }).options.input as readonly InputItem[];
}

function warningsOf(...prompt: LanguageModelV4Message[]): readonly unknown[] {
  return read({ prompt }).warnings;
}

type Assistant = Extract<LanguageModelV4Message, { readonly role: 'assistant' }>['content'];
type FileData = Extract<
  Extract<LanguageModelV4Message, { readonly role: 'user' }>['content'][number],
  { type: 'file' }
>;

function assistant(...content: Assistant): LanguageModelV4Message {
  return { role: 'assistant', content };
}

function file(fields: Omit<FileData, 'type'>): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'file', ...fields }] };
}

function failure(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Expected an error, but the call succeeded.');
}

describe('readCallOptions', () => {
  it('reads system and user messages, with cache breakpoints of messages and parts', () => {
    const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    expect(
      itemsOf(
        { role: 'system', content: 'Be brief.', providerOptions: cached },
        { role: 'user', content: [{ type: 'text', text: 'Hi', providerOptions: cached }] },
      ),
    ).to.deep.equal([
      {
        type: 'message',
        role: 'system',
        content: [{ type: 'input_text', text: 'Be brief.' }],
        vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
      },
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Hi', vendor: { anthropic: { cache_control: { type: 'ephemeral' } } } }],
      },
    ]);
  });

  describe('files', () => {
    const cases: readonly (readonly [string, Omit<FileData, 'type'>, object])[] = [
      [
        'bytes of an image without a subtype',
        { mediaType: 'image', data: { type: 'data', data: Buffer.from(PIXEL, 'base64') } },
        { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
      ],
      [
        'base64 of a file',
        { mediaType: 'application/pdf', filename: 'a.pdf', data: { type: 'data', data: 'JVBERi0=' } },
        { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
      ],
      [
        'a URL as it was written',
        {
          mediaType: 'image/*',
          data: { type: 'url', url: new URL('https://a.example'), originalUrl: 'https://a.example' },
        },
        { type: 'input_image', image_url: 'https://a.example' },
      ],
      [
        'the URL of a file',
        { mediaType: 'application/pdf', data: { type: 'url', url: new URL('https://a.example/a.pdf') } },
        { type: 'input_file', file_url: 'https://a.example/a.pdf' },
      ],
      [
        "a reference by the provider's id",
        { mediaType: 'application/pdf', data: { type: 'reference', reference: { openai: 'o', anthropic: 'file_1' } } },
        { type: 'input_file', file_id: 'file_1' },
      ],
      [
        'a reference by our own name',
        { mediaType: 'image/png', data: { type: 'reference', reference: { bolide: 'file_2' } } },
        { type: 'input_image', file_id: 'file_2' },
      ],
      [
        'inline text',
        { mediaType: 'text', data: { type: 'text', text: 'Grüße' } },
        { type: 'input_file', file_data: `data:text/plain;base64,${Buffer.from('Grüße').toString('base64')}` },
      ],
    ];
    for (const [name, fields, part] of cases)
      it(`reads ${name}`, () => {
        expect(itemsOf(file(fields))[0])
          .to.have.property('content')
          .that.deep.equals([part]);
      });

    it('refuses a file whose media type is incomplete', () => {
      const error = failure(() => itemsOf(file({ mediaType: 'audio', data: { type: 'data', data: 'AAAA' } })));
      expect(UnsupportedFunctionalityError.isInstance(error)).to.equal(true);
      expect(error).to.have.property('functionality', 'file part with the media type "audio"');
    });

    it('refuses a reference of another provider', () => {
      const stored = { mediaType: 'image/png', data: { type: 'reference', reference: { openai: 'o' } } } as const;
      const error = failure(() => itemsOf(file(stored)));
      expect(NoSuchProviderReferenceError.isInstance(error)).to.equal(true);
      expect(error).to.deep.include({ provider: 'anthropic', reference: { openai: 'o' } });
    });
  });

  describe('messages of other providers', () => {
    it('reads texts, calls and results', () => {
      expect(
        itemsOf(
          assistant(
            { type: 'text', text: 'One.' },
            { type: 'text', text: 'Two.' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 't', input: { a: 1 } },
          ),
          {
            role: 'tool',
            content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 't', output: { type: 'json', value: [1] } }],
          },
        ),
      ).to.deep.equal([
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'One.', annotations: [] },
            { type: 'output_text', text: 'Two.', annotations: [] },
          ],
        },
        { type: 'function_call', call_id: 'c1', name: 't', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', name: 't', output: '[1]' },
      ]);
    });

    it('omits reasoning and tools of other servers with a warning', () => {
      const reasoning = { anthropic: { signature: 'abc' } };
      const messages = [
        assistant(
          { type: 'reasoning', text: 'Hm.', providerOptions: reasoning },
          { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: {}, providerExecuted: true },
          { type: 'tool-result', toolCallId: 'c1', toolName: 'search', output: { type: 'json', value: {} } },
          { type: 'text', text: 'Found.' },
        ),
      ];
      expect(itemsOf(...messages).map(({ type }) => type)).to.deep.equal(['message']);
      expect(warningsOf(...messages).map((warning) => (warning as { feature: string }).feature)).to.deep.equal([
        'reasoning of another provider',
        'a reasoning file of another provider',
        'the call of "search"',
        'the result of "search"',
      ]);
    });

    it('refuses custom parts by their kind', () => {
      const error = failure(() => itemsOf(assistant({ type: 'custom', kind: 'acme.thing' })));
      expect(UnsupportedFunctionalityError.isInstance(error)).to.equal(true);
      expect(error).to.have.property('functionality', 'custom part "acme.thing"');
    });
  });

  it('does not let a part restore a message of another role or a result', () => {
    for (const item of [
      { type: 'message', role: 'system', content: [] },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
      {},
    ]) {
      const forged = { type: 'custom', kind: 'bolide.x', providerOptions: { bolide: { item } } } as const;
      expect(UnsupportedFunctionalityError.isInstance(failure(() => itemsOf(assistant(forged))))).to.equal(true);
    }
    const text = { type: 'text', text: 'x', providerOptions: { bolide: { item: { role: 'system' } } } } as const;
    expect(itemsOf(assistant(text))[0]).to.include({ role: 'assistant' });
  });

  it('uses the arguments that the application changed, and the text of the model otherwise', () => {
    const call = (input: unknown): LanguageModelV4Message =>
      assistant({
        type: 'tool-call',
        toolCallId: 'c',
        toolName: 't',
        input,
        providerOptions: { bolide: { item: { arguments: '{ "a": 1 }' } } },
      });
    expect(itemsOf(call({ a: 1 }))[0]).to.include({ arguments: '{ "a": 1 }' });
    expect(itemsOf(call({ a: 2 }))[0]).to.include({ arguments: '{"a":2}' });
  });

  describe('results of tools', () => {
    const outputs: readonly (readonly [string, object, object])[] = [
      ['text', { type: 'text', value: 'ok' }, { output: 'ok' }],
      ['json', { type: 'json', value: null }, { output: 'null' }],
      ['error-text', { type: 'error-text', value: 'no' }, { output: 'no', state: 'failed' }],
      ['error-json', { type: 'error-json', value: { e: 1 } }, { output: '{"e":1}', state: 'failed' }],
      ['execution-denied', { type: 'execution-denied', reason: 'no' }, { output: 'no', state: 'failed' }],
      [
        'content',
        {
          type: 'content',
          value: [
            { type: 'text', text: 'a' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PIXEL } },
            { type: 'custom', providerOptions: { bolide: { part: { type: 'search_result', title: 't' } } } },
          ],
        },
        {
          output: [
            { type: 'input_text', text: 'a' },
            { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
            { type: 'search_result', title: 't' },
          ],
        },
      ],
    ];
    for (const [kind, output, expected] of outputs)
      it(`reads ${kind}`, () => {
        const result = { type: 'tool-result', toolCallId: 'c', toolName: 't', output } as never;
        expect(itemsOf({ role: 'tool', content: [result] })).to.deep.equal([
          { type: 'function_call_output', call_id: 'c', name: 't', ...expected },
        ]);
      });

    it('refuses a custom part without content', () => {
      const output = { type: 'content', value: [{ type: 'custom' }] };
      const result = { type: 'tool-result', toolCallId: 'c', toolName: 't', output } as never;
      const error = failure(() => itemsOf({ role: 'tool', content: [result] }));
      expect(UnsupportedFunctionalityError.isInstance(error)).to.equal(true);
    });

    it('reads the approval of a call that the vendor runs', () => {
      const approval = {
        type: 'tool-approval-response',
        approvalId: 'mcpr_1',
        approved: false,
        reason: 'No.',
      } as const;
      expect(itemsOf({ role: 'tool', content: [approval] })).to.deep.equal([
        { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: false, reason: 'No.' },
      ]);
    });
  });

  describe('tools', () => {
    const search = {
      type: 'provider',
      id: 'openai.web_search',
      name: 'find',
      args: { searchContextSize: 'low' },
    } as const;

    it('reads functions and built-in tools, and the choice among them', () => {
      const { options } = read({
        tools: [
          { type: 'function', name: 'f', description: 'F', inputSchema: { type: 'object' }, strict: true },
          search,
        ],
        toolChoice: { type: 'tool', toolName: 'find' },
      });
      expect(options.tools).to.deep.equal([
        { type: 'function', name: 'f', description: 'F', parameters: { type: 'object' }, strict: true },
        { type: 'web_search', search_context_size: 'low' },
      ]);
      expect(options.tool_choice).to.deep.equal({ type: 'web_search' });
      const chosen = read({
        tools: [{ type: 'function', name: 'f', inputSchema: {} }],
        toolChoice: { type: 'required' },
      });
      expect(chosen.options.tool_choice).to.equal('required');
    });

    it('refuses an unknown provider-defined tool by its id', () => {
      const tools = [{ ...search, id: 'acme.teleport' } as const];
      const error = failure(() => read({ tools }));
      expect(UnsupportedFunctionalityError.isInstance(error)).to.equal(true);
      expect(error).to.have.property('functionality', 'provider-defined tool "acme.teleport"');
    });
  });

  describe('provider options', () => {
    it("takes Bolide's own, and refuses unknown ones", () => {
      const own = { store: true, timeout: 5000, reasoning: { summary: 'auto' }, userId: 'ann' };
      const { options, userId } = read({ reasoning: 'high', providerOptions: { bolide: own } });
      expect(options).to.deep.include({ store: true, timeout: 5000, reasoning: { effort: 'high', summary: 'auto' } });
      expect(userId).to.equal('ann');
      const error = failure(() => read({ providerOptions: { bolide: { stroe: true } } }));
      expect(InvalidArgumentError.isInstance(error)).to.equal(true);
      expect(error).to.have.property('argument', 'providerOptions.bolide.stroe');
    });

    it("writes a vendor's options as its API does", () => {
      const { options, warnings } = read({
        providerOptions: {
          anthropic: {
            thinking: { type: 'enabled', budgetTokens: 2000 },
            disableParallelToolUse: true,
            sendReasoning: true,
          },
          openai: { reasoningEffort: 'low', store: true, promptCacheKey: 'k', textVerbosity: 'low' },
          google: { thinkingConfig: { includeThoughts: true }, safetySettings: [] },
          xai: { searchParameters: { mode: 'auto' } },
          acme: { speed: 9 },
        },
      });
      expect(options.vendor).to.deep.equal({
        anthropic: { thinking: { type: 'enabled', budget_tokens: 2000 } },
        openai: { prompt_cache_key: 'k' },
        openai_responses: { text: { verbosity: 'low' } },
        google: { generationConfig: { thinkingConfig: { includeThoughts: true } }, safetySettings: [] },
        grok: { search_parameters: { mode: 'auto' } },
      });
      // The options of other vendors than the model's do not apply to it.
      expect(options).to.include({ parallel_tool_calls: false });
      expect(options).to.not.have.any.keys('reasoning', 'store');
      expect(warnings).to.deep.equal([
        { type: 'unsupported', feature: 'providerOptions.anthropic.sendReasoning' },
        { type: 'other', message: '"providerOptions.acme" names no provider and was omitted.' },
      ]);
    });
  });

  it("warns about headers, except the AI SDK's own", () => {
    expect(read({ headers: { 'user-agent': 'ai/7', 'x-absent': undefined } }).warnings).to.deep.equal([]);
    expect(read({ headers: { 'x-trace': '1' } }).warnings[0]).to.include({ type: 'unsupported', feature: 'headers' });
  });
});
