/** The rules for converting requests and responses of the Responses wire. */
import { expect } from 'chai';
import {
  LLMContentFilterError,
  LLMError,
  LLMInvalidRequestError,
  LLMStreamError,
  UnsupportedFeatureError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { assistantMessage, userMessage } from '../../../../../../imports/business/ai/domain/entities/Message';
import { NO_USAGE } from '../../../../../../imports/business/ai/domain/entities/Response';
import {
  fromResponses,
  toResponses,
} from '../../../../../../imports/business/ai/infrastructure/converters/responses/ResponsesConverter';
import { responsesContext, responsesResponseContext } from '../../../../../support/responsesRecordings';
import { wireContext } from '../../../../../support/wireContexts';
import { requestViolations } from '../../../../../support/publishedSchemas';
import { openAICompatible } from '../../../../../../imports/business/ai/infrastructure/vendors/openAICompatible';
import type { BuiltInTool, FunctionTool } from '../../../../../../imports/business/ai/domain/entities/Tool';
import type { NormalizedOptions, ToolChoice } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type {
  FunctionCallItem,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, Origin, VendorQuirks } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import type { WireContext, WireRequest } from '../../../../../../imports/business/ai/infrastructure/converters/Wire';

const OPENAI: Origin = { wire: 'responses', vendor: 'openai', model: 'gpt-5' };
const USER = userMessage('Hello');
const ANSWER: MessageItem = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
};
const REASONING: ReasoningItem = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  encrypted_content: 'sealed',
  origin: OPENAI,
};
const CALL: FunctionCallItem = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'look',
  arguments: '{}',
  status: 'completed',
};
const LOOK: FunctionTool = {
  type: 'function',
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: {} },
};

function request(
  options: Partial<NormalizedOptions> = {},
  context: WireContext = responsesContext(),
  stream = false,
): WireRequest {
  return toResponses({ model: 'gpt-5', input: [USER], ...options }, context, stream);
}

function sent(...input: readonly InputItem[]): readonly JsonObject[] {
  return itemsOf(request({ input }));
}

function itemsOf({ body }: WireRequest): readonly JsonObject[] {
  expect(requestViolations(body)).to.equal('');
  return body.input as readonly JsonObject[];
}

function withQuirks(quirks: Partial<VendorQuirks>): WireContext {
  const context = responsesContext();
  return { ...context, quirks: { ...context.quirks, ...quirks } };
}

function withCapabilities(capabilities: Partial<WireContext['capabilities']>): WireContext {
  const context = responsesContext();
  return { ...context, capabilities: { ...context.capabilities, ...capabilities } };
}

const ASYNC = withCapabilities({ supportsAsyncTools: true });

describe('toResponses: options', () => {
  it('sends the options that have the same name on the wire', () => {
    const options = {
      instructions: 'Be brief.',
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      parallel_tool_calls: false,
      previous_response_id: 'resp_1',
      store: true,
      reasoning: { effort: 'low', summary: 'auto' },
      metadata: { a: 'b' },
      user: 'u1',
    } as const;
    const { body, warnings } = request({ model: 'gpt-5.1', ...options });
    expect(body).to.deep.include(options);
    expect(warnings).to.deep.equal([]);
    expect(requestViolations(body)).to.equal('');
  });

  it('sends neither signal nor timeout', () => {
    expect(request({ signal: new AbortController().signal, timeout: 5 }).body).to.have.all.keys(
      'model',
      'input',
      'store',
      'include',
    );
  });

  it('requests a stream only for streaming calls', () => {
    expect(request({}, responsesContext(), true).body.stream).to.equal(true);
    expect(request().body).not.to.have.property('stream');
  });

  it('stores nothing unless a chain or the caller requires it', () => {
    expect(request().body.store).to.equal(false);
    expect(request({ previous_response_id: 'resp_1' }).body.store).to.equal(true);
    expect(request({ store: true }).body.store).to.equal(true);
    expect(request({ store: false, previous_response_id: 'resp_1' }).body.store).to.equal(false);
  });

  it('omits a temperature that the model refuses', () => {
    const { body, warnings } = request({ model: 'o4-mini', temperature: 0.2 }, wireContext('openai', 'o4-mini'));
    expect(body).not.to.have.property('temperature');
    expect(warnings).to.have.length(1);
  });

  it('sends xAI only the efforts that its model takes', () => {
    // https://docs.x.ai/docs/guides/reasoning
    const asked = (model: string, effort: string): WireRequest =>
      request({ model, reasoning: { effort, summary: 'auto' } }, wireContext('grok', model));
    expect(asked('grok-4.7', 'minimal').body.reasoning).to.deep.equal({ effort: 'low', summary: 'auto' });
    const { body, warnings } = asked('grok-4', 'high');
    expect(body.reasoning).to.deep.equal({ summary: 'auto' });
    expect(warnings).to.deep.equal(['"reasoning.effort" was omitted: grok does not support it for "grok-4".']);
    expect(request({ reasoning: { effort: 'minimal' } }).body.reasoning).to.deep.equal({ effort: 'minimal' });
  });

  it('requests encrypted reasoning if nothing is stored and the model reasons', () => {
    expect(request().body.include).to.deep.equal(['reasoning.encrypted_content']);
    expect(request({ store: true }).body).not.to.have.property('include');
    expect(request({}, withCapabilities({ supportsReasoning: false })).body).not.to.have.property('include');
  });

  it('names an unnamed schema', () => {
    const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
    expect(request({ response_format: { type: 'json_schema', schema } }).body.text).to.deep.equal({
      format: { type: 'json_schema', name: 'response', schema },
    });
    expect(
      request({ response_format: { type: 'json_schema', name: 'person', schema, strict: true } }).body.text,
    ).to.deep.equal({
      format: { type: 'json_schema', name: 'person', schema, strict: true },
    });
  });

  it('requests as much structure as the vendor supports, and warns about the rest', () => {
    const response_format = { type: 'json_schema', schema: { type: 'object' } } as const;
    const lesser = request({ response_format }, withQuirks({ structuredOutput: 'json_object' }));
    expect(lesser.body.text).to.deep.equal({ format: { type: 'json_object' } });
    expect(lesser.warnings).to.have.length(1);
    const none = request({ response_format }, withQuirks({ structuredOutput: 'none' }));
    expect(none.body).not.to.have.property('text');
    expect(none.warnings).to.have.length(1);
    expect(
      request({ response_format: { type: 'json_object' } }, withQuirks({ structuredOutput: 'none' })).warnings,
    ).to.have.length(1);
  });

  it('raises a limit of output tokens that the API would reject, and warns', () => {
    const { body, warnings } = request({ max_output_tokens: 1 });
    expect(body.max_output_tokens).to.equal(16);
    expect(requestViolations(body)).to.equal('');
    expect(warnings.join(' ')).to.include('"max_output_tokens"').and.include('16');
    expect(request({ max_output_tokens: 16 })).to.deep.include({ warnings: [] });
  });

  it('warns that the wire has no stop sequences', () => {
    const { body, warnings } = request({ stop: ['END'] });
    expect(body).not.to.have.property('stop');
    expect(warnings).to.have.length(1);
  });

  it('omits the fields that the vendor rejects, and warns about those that the caller set', () => {
    const context = withQuirks({ unsupportedFields: ['store', 'include', 'metadata', 'user'] });
    const { body, warnings } = request({ metadata: { a: 'b' } }, context);
    expect(body).to.have.all.keys('model', 'input');
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('metadata');
    expect(request({ store: true }, context).warnings[0]).to.include('store');
    const requested = request({ vendor: { openai_responses: { include: ['file_search_call.results'] } } }, context);
    expect(requested.warnings[0]).to.include('include');
  });

  it('omits parallel_tool_calls if the vendor does not support it', () => {
    const { body, warnings } = request({ parallel_tool_calls: true }, withQuirks({ supportsParallelToolCalls: false }));
    expect(body).not.to.have.property('parallel_tool_calls');
    expect(warnings).to.have.length(1);
  });

  it("merges passthrough fields, the vendor's own over its scheme's, and merges text", () => {
    const { body } = request({
      response_format: { type: 'json_object' },
      vendor: {
        openai_responses: { truncation: 'auto', service_tier: 'flex', text: { verbosity: 'low' } },
        openai: { service_tier: 'priority' },
        grok: { service_tier: 'default' },
        anthropic: { top_k: 1 },
      },
    });
    expect(body).to.deep.include({
      truncation: 'auto',
      service_tier: 'priority',
      text: { format: { type: 'json_object' }, verbosity: 'low' },
    });
    expect(body).not.to.have.property('top_k');
  });

  it('sends stream options only with streams', () => {
    const vendor = { openai_responses: { stream_options: { include_obfuscation: false } } };
    expect(request({ vendor }).body).not.to.have.property('stream_options');
    expect(request({ vendor }, responsesContext(), true).body.stream_options).to.deep.equal({
      include_obfuscation: false,
    });
  });
});

describe('toResponses: tools', () => {
  function tool(offered: FunctionTool | BuiltInTool, context = responsesContext()): JsonObject {
    const { body } = request({ tools: [offered] }, context);
    expect(requestViolations(body)).to.equal('');
    return (body.tools as JsonObject[])[0]!;
  }

  it('sends functions flat, without fields that are reserved for the domain model', () => {
    const offered: FunctionTool = {
      ...LOOK,
      strict: false,
      blocking: true,
      timeout: 5,
      sequential: true,
      idempotent: true,
      kind: 'external',
      external: true,
      needsApproval: () => true,
      delivery: 'silent',
      onDuplicate: 'join',
      onChange: 'ask',
      deferLoading: true,
      vendor: { anthropic: { cache_control: {} } },
    };
    expect(tool(offered)).to.deep.equal({ ...LOOK, strict: false });
  });

  it('sends the penalties of Open Responses to hosts that have them, and reports them for others', () => {
    const penalties = { presence_penalty: 0.5, frequency_penalty: -1 };
    const quirks = { ...responsesContext().quirks, ...openAICompatible.quirks };
    expect(request(penalties, responsesContext({ quirks })).body).to.include(penalties);
    const { body, warnings } = request(penalties);
    expect(body).not.to.have.any.keys('presence_penalty', 'frequency_penalty');
    expect(warnings).to.have.length(2);
  });

  it('never enables strict by itself, and omits it if the vendor does not support it', () => {
    expect(tool(LOOK)).to.deep.equal(LOOK);
    expect(tool({ ...LOOK, strict: true })).to.deep.include({ strict: true });
    const lenient = withQuirks({ supportsStrictTools: false });
    expect(tool({ ...LOOK, strict: true }, lenient)).to.deep.equal(LOOK);
    expect(request({ tools: [{ ...LOOK, strict: true }] }, lenient).warnings).to.have.length(1);
    expect(request({ tools: [{ ...LOOK, strict: false }] }, lenient).warnings).to.deep.equal([]);
  });

  it('offers non-blocking tools as async if the wire supports it', () => {
    expect(tool({ ...LOOK, blocking: false }, ASYNC)).to.deep.equal({ ...LOOK, async: true });
    expect(tool({ ...LOOK, blocking: false })).to.deep.equal(LOOK);
    expect(tool(LOOK, ASYNC)).to.deep.equal(LOOK);
  });

  it("merges a tool's own fields for this wire", () => {
    expect(tool({ ...LOOK, vendor: { openai_responses: { defer_loading: true } } })).to.deep.equal({
      ...LOOK,
      defer_loading: true,
    });
  });

  const builtIn: readonly (readonly [BuiltInTool, JsonObject])[] = [
    [
      { type: 'web_search', search_context_size: 'low', blocking: true },
      { type: 'web_search', search_context_size: 'low' },
    ],
    [
      { type: 'file_search', vector_store_ids: ['vs_1'] },
      { type: 'file_search', vector_store_ids: ['vs_1'] },
    ],
    [{ type: 'code_interpreter' }, { type: 'code_interpreter', container: { type: 'auto' } }],
    [
      { type: 'code_interpreter', container: 'cntr_1' },
      { type: 'code_interpreter', container: 'cntr_1' },
    ],
    [{ type: 'computer_use' }, { type: 'computer' }],
    [
      { type: 'computer_use', display_width: 1024, display_height: 768, environment: 'browser' },
      { type: 'computer_use_preview', display_width: 1024, display_height: 768, environment: 'browser' },
    ],
    [
      { type: 'mcp', server_label: 's', server_url: 'https://example.com' },
      { type: 'mcp', server_label: 's', server_url: 'https://example.com' },
    ],
    [{ type: 'image_generation' }, { type: 'image_generation' }],
    [{ type: 'tool_search' }, { type: 'tool_search' }],
  ];
  for (const [inner, wire] of builtIn) {
    it(`offers ${JSON.stringify(inner)} as ${JSON.stringify(wire)}`, () => expect(tool(inner)).to.deep.equal(wire));
  }

  for (const type of ['web_fetch', 'url_context'] as const) {
    it(`rejects ${type} before any request`, () => {
      expect(() => request({ tools: [LOOK, { type }] }))
        .to.throw(UnsupportedFeatureError)
        .with.property('path', 'tools[1]');
    });
  }

  const choices: readonly (readonly [ToolChoice, unknown])[] = [
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [
      { type: 'function', name: 'look' },
      { type: 'function', name: 'look' },
    ],
    [
      { type: 'allowed_tools', tools: [{ type: 'function', name: 'look' }] },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }] },
    ],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'computer_use' }] },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'computer' }] },
    ],
    [{ type: 'file_search' }, { type: 'file_search' }],
    [{ type: 'computer_use' }, { type: 'computer' }],
    [{ type: 'web_search' }, { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] }],
    [{ type: 'mcp' }, { type: 'mcp', server_label: 's' }],
  ];
  for (const [inner, wire] of choices) {
    it(`converts the choice ${JSON.stringify(inner)} to ${JSON.stringify(wire)}`, () => {
      const { body } = request({
        tools: [LOOK, { type: 'mcp', server_label: 's', server_url: 'https://example.com' }],
        tool_choice: inner,
      });
      expect(body.tool_choice).to.deep.equal(wire);
      expect(requestViolations(body)).to.equal('');
    });
  }

  it('rejects the choice of an MCP server if none or several are offered', () => {
    expect(() => request({ tools: [LOOK], tool_choice: { type: 'mcp' } })).to.throw(LLMInvalidRequestError);
  });
});

describe('toResponses: history', () => {
  it('passes items through that need no change, and converts none again after the second request', () => {
    const items = [USER, ANSWER, USER];
    const first = sent(...items);
    expect(first[0]).to.equal(USER);
    expect(first[1]).to.equal(ANSWER);
    const marked: MessageItem = { ...USER, vendor: { anthropic: { cache_control: { type: 'ephemeral' } } } };
    sent(marked);
    expect(sent(marked, ANSWER)[0]).to.equal(sent(marked, ANSWER, USER)[0]);
  });

  it('removes fields that only the domain model has', () => {
    const inner: readonly InputItem[] = [
      {
        ...USER,
        content: [{ type: 'input_text', text: 'Hello', vendor: { google: { thoughtSignature: 's' } } }],
        vendor: { anthropic: { a: 1 } },
      },
      { ...CALL, vendor: { google: { thoughtSignature: 's' } } },
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: [{ type: 'input_text', text: 'blue', vendor: { anthropic: {} } }],
        name: 'look',
        state: 'completed',
        deferred: false,
      },
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'x' },
        origin: OPENAI,
      },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed', origin: OPENAI },
    ];
    expect(sent(...inner)).to.deep.equal([
      USER,
      CALL,
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'blue' }] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' },
    ]);
  });

  it("merges this wire's own fields into items and parts", () => {
    const item: InputItem = {
      type: 'message',
      role: 'user',
      content: [
        {
          type: 'input_text',
          text: 'Hello',
          vendor: { openai_responses: { prompt_cache_breakpoint: { mode: 'explicit' } } },
        },
      ],
      vendor: { openai_responses: { id: 'msg_9' } },
    };
    expect(sent(item)).to.deep.equal([
      {
        type: 'message',
        role: 'user',
        id: 'msg_9',
        content: [{ type: 'input_text', text: 'Hello', prompt_cache_breakpoint: { mode: 'explicit' } }],
      },
    ]);
  });

  it('generates no ids', () => {
    const items = sent(
      assistantMessage('Hi'),
      USER,
      { type: 'function_call', call_id: 'toolu_1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'toolu_1', output: 'x' },
    );
    for (const item of items) expect(item).not.to.have.property('id');
  });

  it('gives parts the type that their role requires, and reports media in assistant messages as lost', () => {
    const picture = { type: 'input_image', image_url: 'https://example.com/a.png' } as const;
    const { body, losses } = request({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'output_text', text: 'said before', annotations: [] },
            { type: 'refusal', refusal: 'no' },
            picture,
          ],
        },
        { type: 'message', role: 'assistant', content: [{ type: 'input_text', text: 'mine' }, picture] },
        { type: 'message', role: 'assistant', content: [picture] },
      ],
    });
    expect(body.input).to.deep.equal([
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'said before' }, { type: 'input_text', text: 'no' }, picture],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'mine', annotations: [] }] },
    ]);
    expect(losses.map(({ path }) => path)).to.deep.equal(['input[1].content[1]', 'input[2].content[0]']);
  });

  it('shortens overlong call ids consistently for call and result', () => {
    const call_id = 'x'.repeat(80);
    const [, call, answer] = sent(USER, { ...CALL, call_id }, { type: 'function_call_output', call_id, output: 'x' });
    expect(call?.call_id).to.have.length.at.most(64);
    expect(answer?.call_id).to.equal(call?.call_id);
  });

  it('reports losses by their path in the request, even after the history was repaired', () => {
    const { losses } = request({
      input: [USER, CALL, USER, { ...REASONING, origin: { wire: 'anthropic_messages', vendor: 'anthropic' } }, ANSWER],
    });
    expect(losses.map(({ path }) => path)).to.deep.equal(['input[1]', 'input[3]']);
  });
});

describe('toResponses: reasoning', () => {
  const OUTPUT: InputItem = { type: 'function_call_output', call_id: 'call_1', output: 'blue' };

  it('replays encrypted reasoning without ids if nothing is stored', () => {
    const items = sent(
      USER,
      REASONING,
      CALL,
      OUTPUT,
      { ...REASONING, id: 'rs_2', encrypted_content: 'more' },
      ANSWER,
      USER,
    );
    const { id: _a, ...call } = CALL;
    const { id: _b, ...answer } = ANSWER;
    expect(items).to.deep.equal([
      USER,
      { type: 'reasoning', summary: [], encrypted_content: 'sealed' },
      call,
      OUTPUT,
      { type: 'reasoning', summary: [], encrypted_content: 'more' },
      answer,
      USER,
    ]);
  });

  it('keeps the ids of hosted items, which require them', () => {
    const search: InputItem = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'x' },
      origin: OPENAI,
    };
    expect(sent(USER, REASONING, search, ANSWER).map(({ id }) => id)).to.deep.equal([
      undefined,
      undefined,
      'ws_1',
      undefined,
    ]);
  });

  it('replays reasoning with its id if the vendor stores responses', () => {
    const { origin: _, ...stored } = REASONING;
    const { body, losses } = request({ input: [USER, REASONING, ANSWER, USER], store: true });
    expect(body.input).to.deep.equal([USER, stored, ANSWER, USER]);
    expect(losses).to.deep.equal([]);
  });

  it('sends reasoning without an origin as the caller wrote it', () => {
    const { origin: _, ...written } = REASONING;
    expect(sent(USER, written, ANSWER, USER)).to.deep.equal([USER, written, ANSWER, USER]);
  });

  it('omits the id of reasoning whose message was replaced by a message without one', () => {
    const { origin: _, ...written } = REASONING;
    const { body, losses } = request({ input: [USER, written, assistantMessage('42'), USER], store: true });
    expect((body.input as JsonObject[])[1]).to.deep.equal({
      type: 'reasoning',
      summary: [],
      encrypted_content: 'sealed',
    });
    expect(losses).to.deep.equal([]);
  });

  it('sends only citations that the API has, and those of other wires with a range', () => {
    const own = { type: 'url_citation', url: 'https://a', title: 'A', start_index: 0, end_index: 1 };
    const annotations = [
      own,
      // Claude's, which have no range: https://platform.claude.com/docs/en/build-with-claude/citations
      { type: 'url_citation', url: 'https://b', title: 'B', cited_text: 'b' },
      { type: 'file_citation', index: 0, filename: 'c', cited_text: 'c', start: 0, end: 1 },
      // OpenRouter's
      { type: 'file', file: { hash: 'd' } },
      // The Interactions API's: `Annotation` of @google/genai
      { type: 'file_citation', document_uri: 'f', file_name: 'f', start_index: 0, end_index: 1 },
      { type: 'place_citation', place_id: 'g', name: 'G', start_index: 0, end_index: 1 },
      // Gemini's, of file search
      { type: 'file_citation', filename: 'h', start_index: 0, end_index: 1 },
    ];
    const cited = { ...ANSWER, content: [{ type: 'output_text', text: 'Hi', annotations }] } as MessageItem;
    const { body, losses } = request({ input: [USER, cited, USER] });
    expect(requestViolations(body)).to.equal('');
    expect(body.input)
      .to.have.nested.property('[1].content[0].annotations')
      .that.deep.equals([own, { type: 'url_citation', url: 'https://b', title: 'B', start_index: 0, end_index: 2 }]);
    expect(losses.map(({ path, what }) => [path, what])).to.deep.equal([['input[1].content[0]', 'annotations']]);
  });

  it('gives citations of hosts that state no range one, and omits log probabilities in another form', () => {
    // Xiaomi's citations, and Hugging Face's bytes as base64.
    const annotations = [{ type: 'url_citation', url: 'https://a', title: 'A', site_name: 'a' }];
    const logprob = { token: 'Hi', logprob: -1, bytes: 'SGk=', top_logprobs: [] };
    const content = [{ type: 'output_text', text: 'Hi', annotations, logprobs: [logprob] }];
    const { body } = request({ input: [USER, { ...ANSWER, content } as MessageItem, USER] });
    expect(requestViolations(body)).to.equal('');
    expect(body.input).to.have.deep.nested.property('[1].content', [
      {
        type: 'output_text',
        text: 'Hi',
        annotations: [{ type: 'url_citation', url: 'https://a', title: 'A', start_index: 0, end_index: 2 }],
      },
    ]);
  });

  it('sends the result of a call that a conversation of the vendor holds', () => {
    // https://platform.openai.com/docs/guides/conversation-state
    const output: InputItem = { type: 'function_call_output', call_id: 'call_1', output: 'done' };
    const vendor = { openai_responses: { conversation: 'conv_1' } };
    expect(request({ input: [output], vendor }).body).to.deep.include({ conversation: 'conv_1', input: [output] });
  });

  it('sends xAI the summary of reasoning whose message has no id', () => {
    // Accepted in https://github.com/0xPlaygrounds/rig/tree/main/tests/cassettes/xai/reasoning_roundtrip
    const written: ReasoningItem = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] };
    const input = [USER, written, assistantMessage('42'), USER];
    expect((request({ input }, wireContext('grok', 'grok-4.7')).body.input as JsonObject[])[1]).to.deep.equal(written);
    expect(request({ input }).losses.map(({ path }) => path)).to.deep.equal(['input[1]']);
  });

  it('drops reasoning that only the vendor can read and will not find', () => {
    const { encrypted_content: _, ...withoutContent } = REASONING;
    const { body, losses } = request({ input: [USER, withoutContent, ANSWER, USER] });
    const { id: _id, ...answer } = ANSWER;
    expect(body.input).to.deep.equal([USER, answer, USER]);
    expect(losses.map(({ path }) => path)).to.deep.equal(['input[1]']);
    expect(request({ input: [USER, withoutContent, ANSWER, USER], store: true }).losses).to.deep.equal([]);
  });

  it('keeps readable reasoning of the same vendor', () => {
    const {
      encrypted_content: _e,
      origin: _o,
      ...readable
    } = { ...REASONING, content: [{ type: 'reasoning_text', text: 'hm' }] as const };
    expect(sent(USER, { ...readable, origin: OPENAI }, ANSWER)).to.deep.equal([USER, readable, ANSWER]);
  });

  for (const [what, input] of [
    ['at the end', [USER, REASONING]],
    ['before a user message', [USER, REASONING, USER]],
    ['before the result of a call', [USER, CALL, REASONING, OUTPUT]],
    ['before reasoning that nothing follows', [USER, REASONING, { ...REASONING, id: 'rs_2' }]],
  ] as const) {
    it(`drops reasoning ${what}, with a loss`, () => {
      for (const store of [false, true]) {
        const { body, losses } = request({ input, store });
        expect((body.input as JsonObject[]).some(({ type }) => type === 'reasoning')).to.equal(false);
        expect(losses).to.have.length(input.filter(({ type }) => type === 'reasoning').length);
      }
    });
  }

  it('keeps encrypted reasoning that the caller wrote without an id, whatever follows', () => {
    const { id: _id, origin: _, ...written } = REASONING;
    const { body, losses } = request({ input: [USER, written, written, USER], store: true });
    expect(body.input).to.deep.equal([USER, written, written, USER]);
    expect(losses).to.deep.equal([]);
  });

  it('keeps several reasoning items before one item', () => {
    expect(sent(USER, REASONING, { ...REASONING, id: 'rs_2' }, ANSWER).map(({ type }) => type)).to.deep.equal([
      'message',
      'reasoning',
      'reasoning',
      'message',
    ]);
  });

  const thought = {
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'hm' }],
  } as const satisfies ReasoningItem;
  const foreign: readonly (readonly ['encrypted' | 'readable', string, ReasoningItem])[] = [
    ['encrypted', 'grok', { ...REASONING, origin: { wire: 'responses', vendor: 'grok' } }],
    [
      'encrypted',
      'anthropic',
      { ...thought, encrypted_content: 'signature', origin: { wire: 'anthropic_messages', vendor: 'anthropic' } },
    ],
    [
      'encrypted',
      'azure_openai',
      { type: 'reasoning', id: 'rs_1', summary: [], origin: { wire: 'responses', vendor: 'azure_openai' } },
    ],
    ['readable', 'groq', { ...thought, origin: { wire: 'chat_completions', vendor: 'groq' } }],
    [
      'readable',
      'google',
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'hm' }],
        origin: { wire: 'gemini', vendor: 'google' },
      },
    ],
  ];
  for (const [kind, vendor, reasoning] of foreign) {
    it(`reports ${kind} reasoning of ${vendor} as lost and does not send it`, () => {
      const { body, losses } = request({ input: [USER, reasoning, ANSWER, USER] });
      const { id: _, ...answer } = ANSWER;
      expect(body.input).to.deep.equal([USER, answer, USER]);
      expect(losses).to.have.length(1);
      expect(losses[0]).to.include({ path: 'input[1]', what: `${kind} reasoning` });
      expect(losses[0]?.reason).to.include(vendor);
    });
  }

  it('sends items from another wire only to that wire, and reports them as lost otherwise', () => {
    const { body, losses } = request({
      input: [
        USER,
        {
          type: 'vendor_item',
          origin: { wire: 'anthropic_messages', vendor: 'anthropic' },
          item: { type: 'server_tool_use' },
        },
        { type: 'vendor_item', origin: { wire: 'responses', vendor: 'openai' }, item: { type: 'new_thing', id: 'x' } },
        {
          type: 'custom_tool_call',
          id: 'ctc_1',
          call_id: 'c1',
          name: 'run',
          input: 'x',
          origin: { wire: 'responses', vendor: 'azure_openai' },
        },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
        USER,
      ],
    });
    expect(body.input).to.deep.equal([USER, { type: 'new_thing', id: 'x' }, USER]);
    expect(losses.map(({ path, what }) => [path, what])).to.deep.equal([
      ['input[1]', 'server_tool_use'],
      ['input[3]', 'custom_tool_call'],
      ['input[4]', 'custom_tool_call_output'],
    ]);
  });
});

describe('toResponses: late results', () => {
  const call: FunctionCallItem = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' };
  const history: readonly InputItem[] = [
    USER,
    call,
    { type: 'function_call_output', call_id: 'call_1', output: 'accepted', status: 'in_progress', name: 'look' },
    assistantMessage('Wait.'),
    {
      type: 'function_call_output',
      call_id: 'call_1',
      output: 'blue',
      deferred: true,
      name: 'look',
      state: 'completed',
    },
  ];

  it('sends them as the result of their call, without an acknowledgement, if the wire has async tools', () => {
    expect(itemsOf(request({ input: history }, ASYNC))).to.deep.equal([
      USER,
      call,
      assistantMessage('Wait.'),
      { type: 'function_call_output', call_id: 'call_1', output: 'blue' },
    ]);
  });

  it('otherwise sends the acknowledgement as the result, and the late result as a user message', () => {
    const items = itemsOf(request({ input: history }));
    expect(items.slice(0, 4)).to.deep.equal([
      USER,
      call,
      { type: 'function_call_output', call_id: 'call_1', output: 'accepted' },
      assistantMessage('Wait.'),
    ]);
    expect(items).to.have.length(5);
    expect(items[4]).to.include({ type: 'message', role: 'user' });
    expect(JSON.stringify(items[4])).to.include('blue');
  });

  it('adds a result to an orphaned call, and keeps results whose calls the vendor stores', () => {
    const orphaned = request({ input: [USER, call, USER] });
    expect(itemsOf(orphaned).map(({ type }) => type)).to.deep.equal([
      'message',
      'function_call',
      'function_call_output',
      'message',
    ]);
    expect(orphaned.losses).to.have.length(1);
    const output: InputItem = { type: 'function_call_output', call_id: 'call_9', output: 'x' };
    const chained = request({ input: [output], previous_response_id: 'resp_1' });
    expect(itemsOf(chained)).to.deep.equal([output]);
    expect(chained.losses).to.deep.equal([]);
  });
});

describe('fromResponses', () => {
  const body = {
    id: 'resp_1',
    object: 'response',
    created_at: 7,
    status: 'completed',
    model: 'gpt-5',
    output: [ANSWER],
    usage: {
      input_tokens: 3,
      output_tokens: 2,
      total_tokens: 5,
      input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      output_tokens_details: { reasoning_tokens: 1 },
    },
  };

  it('returns the domain response', () => {
    expect(
      fromResponses(
        body,
        responsesResponseContext({
          requestId: 'req_1',
          warnings: ['w'],
          losses: [{ path: 'p', what: 'x', reason: 'y' }],
        }),
      ),
    ).to.deep.equal({
      id: 'resp_1',
      object: 'response',
      created_at: 7,
      status: 'completed',
      model: 'gpt-5',
      output: [ANSWER],
      output_text: 'Hi',
      usage: {
        input_tokens: 3,
        output_tokens: 2,
        total_tokens: 5,
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
        output_tokens_details: { reasoning_tokens: 1 },
      },
      vendor: {
        name: 'openai',
        wire: 'responses',
        finish_reason: 'completed',
        request_id: 'req_1',
        warnings: ['w'],
        losses: [{ path: 'p', what: 'x', reason: 'y' }],
        fields: {},
        usage: body.usage,
      },
    });
  });

  it('does not copy what stays unchanged', () => {
    expect(fromResponses(body, responsesResponseContext()).output[0]).to.equal(ANSWER);
  });

  it('keeps unknown fields, parts and items', () => {
    const item = { type: 'hologram_call', id: 'h_1', status: 'completed', beams: [{ vendor: 'x' }] };
    const message = { ...ANSWER, mood: 'good', content: [{ type: 'output_hologram', data: [1] }] };
    const response = fromResponses(
      { ...body, output: [item, message], billing: { payer: 'developer' } },
      responsesResponseContext(),
    );
    expect(response.output).to.deep.equal([{ ...item, origin: { ...OPENAI } }, message]);
    expect(response.vendor.fields).to.deep.equal({ billing: { payer: 'developer' } });
  });

  it('counts missing usage as zero and warns', () => {
    for (const usage of [null, undefined]) {
      const response = fromResponses({ ...body, usage }, responsesResponseContext());
      expect(response.usage).to.deep.equal(NO_USAGE);
      expect(response.vendor.warnings).to.have.length(1);
    }
  });

  it('shares no missing usage that who receives it could change for all others', () => {
    const { usage } = fromResponses({ ...body, usage: undefined }, responsesResponseContext());
    for (const counts of [usage, usage.input_tokens_details, usage.output_tokens_details])
      for (const [name, count] of Object.entries(counts)) if (count === 0) Reflect.set(counts, name, 7);
    const { usage: next } = fromResponses({ ...body, usage: undefined }, responsesResponseContext());
    expect([next.input_tokens, next.input_tokens_details.cached_tokens]).to.deep.equal([0, 0]);
  });

  it('sums totals that the vendor omitted', () => {
    expect(
      fromResponses({ ...body, usage: { input_tokens: 3, output_tokens: 2 } }, responsesResponseContext()).usage,
    ).to.deep.equal({ ...NO_USAGE, input_tokens: 3, output_tokens: 2, total_tokens: 5 });
  });

  it("treats a refusal as a filtered response, and keeps the vendor's status", () => {
    const refusal = { ...ANSWER, content: [{ type: 'refusal', refusal: 'No.' }] };
    const response = fromResponses({ ...body, output: [refusal] }, responsesResponseContext());
    expect(response).to.deep.include({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output_text: '',
    });
    expect(response.vendor.finish_reason).to.equal('completed');
  });

  it('keeps the reason why a response is incomplete', () => {
    const response = fromResponses(
      { ...body, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      responsesResponseContext(),
    );
    expect(response).to.deep.include({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  });

  it('treats an unknown or missing status as completed, with a warning', () => {
    for (const status of ['pondering', undefined]) {
      const response = fromResponses({ ...body, status }, responsesResponseContext());
      expect(response.status).to.equal('completed');
      expect(response.vendor.finish_reason).to.equal(status ?? null);
      expect(response.vendor.warnings).to.have.length(1);
    }
  });

  it('omits an id of an item that is no string', () => {
    for (const item of [ANSWER, CALL, REASONING, { type: 'web_search_call', status: 'completed' }]) {
      const { output } = fromResponses({ ...body, output: [{ ...item, id: 9 }] }, responsesResponseContext());
      expect(output[0]).to.include({ type: item.type }).and.not.to.have.property('id');
    }
  });

  it('throws a failed response with the response attached', () => {
    const failed = { ...body, status: 'failed', output: undefined, error: { code: 'server_error', message: 'oops' } };
    expect(() => fromResponses(failed, responsesResponseContext()))
      .to.throw(LLMError, 'oops')
      .that.deep.includes({ vendor: 'openai', vendorCode: 'server_error' })
      .and.has.nested.property('response.usage.total_tokens', 5);
  });

  it('throws an error that has status 200', () => {
    expect(() =>
      fromResponses(
        { error: { type: 'invalid_request_error', code: 'content_filter', message: 'filtered' } },
        responsesResponseContext(),
      ),
    ).to.throw(LLMContentFilterError, 'filtered');
  });

  const broken: readonly (readonly [string, unknown, RegExp])[] = [
    ['a page of HTML', '<!DOCTYPE html><html>', /<!DOCTYPE/],
    ['nothing', undefined, /it is empty/],
    ['a list', [], /list/],
    ["another wire's response", { id: 'chatcmpl-1', choices: [] }, /choices/],
    ['a response without output', { ...body, output: undefined }, /output/],
    ['an item without a type', { ...body, output: [{}] }, /output\[0\]\.type/],
    ['an item that is null', { ...body, output: [ANSWER, null] }, /output\[1\]/],
    ['a message whose content is an object', { ...body, output: [{ ...ANSWER, content: {} }] }, /output\[0\]\.content/],
    [
      'a part without text',
      { ...body, output: [{ ...ANSWER, content: [{ type: 'output_text' }] }] },
      /output\[0\]\.content\[0\]\.text/,
    ],
    ['a call without a name', { ...body, output: [{ ...CALL, name: 7 }] }, /output\[0\]\.name/],
    [
      'a call whose arguments are not a string',
      { ...body, output: [{ ...CALL, arguments: {} }] },
      /output\[0\]\.arguments/,
    ],
    [
      'reasoning whose summary is a text',
      { ...body, output: [{ type: 'reasoning', id: 'rs_1', summary: 'hm' }] },
      /output\[0\]\.summary/,
    ],
  ];
  for (const [what, value, message] of broken) {
    it(`rejects ${what} and names the problem`, () => {
      expect(() => fromResponses(value, responsesResponseContext())).to.throw(LLMStreamError, message);
    });
  }
});
