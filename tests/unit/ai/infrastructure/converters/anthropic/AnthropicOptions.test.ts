/**
 * Tools, thinking, sampling and structured output on the Anthropic wire, depending on the generation of Claude.
 */
import { expect } from 'chai';
import { UnsupportedFeatureError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { toAnthropic } from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/AnthropicConverter';
import { anthropicModelFeatures } from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/modelFeatures';
import { toOutputSchema } from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/request/outputSchema';
import { anthropicContext } from '../../../../../support/anthropicRecordings';
import { assertAnthropicBody } from '../../../../../support/publishedSchemas';
import { itInSoak } from '../../../../../support/soak';
import type { BuiltInTool, FunctionTool, Tool } from '../../../../../../imports/business/ai/domain/entities/Tool';
import type { NormalizedOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { InputItem } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import type { WireRequest } from '../../../../../../imports/business/ai/infrastructure/converters/Wire';

const HI: InputItem = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };

/** Also asserts that the body conforms to the vendor's schema. */
function send(options: Partial<NormalizedOptions>, context = anthropicContext()): WireRequest {
  const request = toAnthropic({ model: 'claude-sonnet-4-5', input: [HI], ...options }, context, false);
  assertAnthropicBody(request.body);
  return request;
}

const weather: FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'Tells the weather.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};
const clock: FunctionTool = { type: 'function', name: 'clock' };

describe('anthropicModelFeatures', () => {
  for (const [model, thinking, sampling, supportsForcedTools, supportsSystemMessages] of [
    ['claude-opus-5-5', 'always', 'none', false, true],
    ['claude-fable-5-2', 'always', 'none', false, true],
    ['claude-fable-5', 'always', 'none', true, true],
    ['claude-sonnet-5-5', 'default', 'none', false, true],
    ['claude-haiku-5-5', 'default', 'none', true, true],
    ['claude-sonnet-5', 'default', 'none', true, false],
    ['anthropic/claude-opus-4.8', 'request', 'none', true, true],
    ['claude-opus-4-7', 'request', 'none', true, false],
    ['us.anthropic.claude-opus-4-6-v1', 'request', 'one', true, false],
    ['claude-sonnet-4-5-20250929', 'budget', 'one', true, false],
    ['claude-sonnet-4@20250514', 'budget', 'both', true, false],
    ['claude-3-7-sonnet-20250219', 'budget', 'both', true, false],
    ['claude-3-5-haiku-20241022', 'none', 'both', true, false],
    ['claude-novel-9', 'always', 'none', false, true],
    ['kimi-k2', 'budget', 'both', true, false],
  ] as const) {
    it(`returns the features of ${model}`, () => {
      expect(anthropicModelFeatures(model)).to.deep.include({
        thinking,
        sampling,
        supportsForcedTools,
        supportsSystemMessages,
      });
    });
  }
});

describe('toAnthropic: tools', () => {
  it('sends functions with their schema, or an empty one', () => {
    expect(send({ tools: [weather, clock] }).body.tools).to.deep.equal([
      { name: 'weather', description: 'Tells the weather.', input_schema: weather.parameters },
      { name: 'clock', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  it("merges a tool's vendor fields", () => {
    const vendor = { anthropic: { cache_control: { type: 'ephemeral' }, defer_loading: true } };
    expect(send({ tools: [{ ...weather, vendor }] }).body.tools)
      .to.have.nested.property('[0]')
      .that.deep.includes(vendor.anthropic);
  });

  it('sends strict if the model and the schema allow it, otherwise omits it with a warning', () => {
    const open = { ...weather, strict: true, parameters: { type: 'object', properties: { city: { type: 'string' } } } };
    const bounded = {
      ...weather,
      strict: true,
      parameters: { ...weather.parameters, properties: { city: { type: 'string', maxLength: 5 } } },
    };
    expect(send({ tools: [{ ...weather, strict: true }] }).body.tools).to.have.nested.property('[0].strict', true);
    for (const [tool, context] of [
      [open, undefined],
      [bounded, undefined],
      [{ ...weather, strict: true }, anthropicContext({ quirks: { supportsStrictTools: false } })],
    ] as const) {
      const request = send({ tools: [tool] }, context);
      expect(request.body.tools).to.not.have.nested.property('[0].strict');
      expect(request.warnings).to.have.lengthOf(1);
    }
  });

  it('flattens a union at the root of a schema, which the API rejects', () => {
    const parameters = {
      anyOf: [
        {
          type: 'object',
          properties: { city: { type: 'string' }, unit: { type: 'string' } },
          required: ['city', 'unit'],
        },
        {
          type: 'object',
          properties: { zip: { type: 'string' }, unit: { type: 'string' } },
          required: ['zip', 'unit'],
        },
      ],
    };
    const request = send({ tools: [{ ...clock, parameters }] });
    expect(request.body.tools).to.deep.equal([
      {
        name: 'clock',
        input_schema: {
          type: 'object',
          properties: { city: { type: 'string' }, unit: { type: 'string' }, zip: { type: 'string' } },
          required: ['unit'],
        },
      },
    ]);
    expect(request.warnings[0]).to.include('anyOf');
  });

  it('rejects tools for a model without tool support', () => {
    expect(() => send({ tools: [clock] }, anthropicContext({ capabilities: { supportsTools: false } }))).to.throw(
      UnsupportedFeatureError,
    );
  });

  for (const [what, choice, expected] of [
    ['auto', 'auto', { type: 'auto' }],
    ['none', 'none', { type: 'none' }],
    ['required', 'required', { type: 'any' }],
    ['one function', { type: 'function', name: 'weather' }, { type: 'tool', name: 'weather' }],
    ['a built-in tool', { type: 'web_search' }, { type: 'tool', name: 'web_search' }],
  ] as const) {
    it(`maps the tool choice ${what}`, () => {
      expect(send({ tools: [weather, { type: 'web_search' }], tool_choice: choice }).body.tool_choice).to.deep.equal(
        expected,
      );
    });
  }

  it('offers only the allowed tools, with a warning', () => {
    const request = send({
      tools: [weather, clock],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'clock' }] },
    });
    expect(request.body.tools).to.deep.equal([{ name: 'clock', input_schema: { type: 'object', properties: {} } }]);
    expect(request.body.tool_choice).to.deep.equal({ type: 'any' });
    expect(request.warnings[0]).to.include('Only the allowed tools');
  });

  it('disables parallel calls with any tool choice', () => {
    expect(send({ tools: [clock], parallel_tool_calls: false }).body.tool_choice).to.deep.equal({
      type: 'auto',
      disable_parallel_tool_use: true,
    });
    expect(
      send({ tools: [clock], parallel_tool_calls: false, tool_choice: 'required' }).body.tool_choice,
    ).to.deep.equal({ type: 'any', disable_parallel_tool_use: true });
    expect(send({ tools: [clock], parallel_tool_calls: true }).body).to.not.have.property('tool_choice');
  });

  it('sends auto to models without forced tool calls, with a warning', () => {
    const request = send({ model: 'claude-opus-5-5', tools: [clock], tool_choice: 'required' });
    expect(request.body.tool_choice).to.deep.equal({ type: 'auto' });
    expect(request.warnings).to.deep.equal([
      'tool_choice is sent as auto: claude-opus-5-5 does not support forced tool calls.',
    ]);
  });
});

describe('toAnthropic: built-in tools', () => {
  function sent(tool: BuiltInTool, model = 'claude-sonnet-4-5'): JsonObject {
    return (send({ model, tools: [tool] }).body.tools as readonly JsonObject[])[0] ?? {};
  }

  it('uses the version that the model supports', () => {
    expect(sent({ type: 'web_search' })).to.deep.equal({ type: 'web_search_20250305', name: 'web_search' });
    expect(sent({ type: 'web_search' }, 'claude-opus-4-6')).to.deep.equal({
      type: 'web_search_20260318',
      name: 'web_search',
    });
    expect(sent({ type: 'web_fetch' })).to.deep.equal({ type: 'web_fetch_20250910', name: 'web_fetch' });
    expect(sent({ type: 'url_context' }, 'claude-sonnet-5')).to.deep.equal({
      type: 'web_fetch_20260318',
      name: 'web_fetch',
    });
    expect(sent({ type: 'code_interpreter', container: { type: 'auto' } })).to.deep.equal({
      type: 'code_execution_20250825',
      name: 'code_execution',
    });
    expect(sent({ type: 'tool_search' })).to.deep.equal({
      type: 'tool_search_tool_bm25_20251119',
      name: 'tool_search_tool_bm25',
    });
    expect(sent({ type: 'computer_use' }, 'claude-opus-5')).to.deep.equal({ type: 'computer_toolset_20260801' });
  });

  it('runs code in the container that the tool names, with its skills', () => {
    const container = { id: 'container_1', skills: [{ type: 'anthropic', skill_id: 'pptx', version: 'latest' }] };
    const run = (given: unknown): WireRequest => send({ tools: [{ type: 'code_interpreter', container: given }] });
    expect(run('container_1').body.container).to.equal('container_1');
    expect(run(container).body.container).to.deep.equal(container);
    const automatic = run({ type: 'auto', file_ids: ['file_1'] });
    expect(automatic.body).to.not.have.property('container');
    expect(automatic.warnings.join()).to.include('file_ids');
  });

  it('sends the screen size and the beta header for older computer tools', () => {
    const request = send({
      model: 'claude-opus-4-6',
      tools: [{ type: 'computer_use', display_width: 1024, display_height: 768 }],
    });
    expect(request.body.tools).to.deep.equal([
      { type: 'computer_20251124', name: 'computer', display_width_px: 1024, display_height_px: 768 },
    ]);
    expect(request.headers).to.deep.equal({ 'anthropic-beta': 'computer-use-2025-11-24' });
    expect(() => send({ model: 'claude-opus-4-6', tools: [{ type: 'computer_use' }] })).to.throw(
      UnsupportedFeatureError,
      'tools[0]',
    );
  });

  it("sends the settings that Anthropic's tool has, and reports the others", () => {
    const user_location = { type: 'approximate', city: 'Rome' };
    const request = send({
      tools: [
        {
          type: 'web_search',
          filters: { allowed_domains: ['example.org'] },
          user_location,
          search_context_size: 'low',
          max_uses: 3,
        },
      ],
    });
    expect(request.body.tools).to.deep.equal([
      { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['example.org'], max_uses: 3, user_location },
    ]);
    expect(request.warnings).to.deep.equal([
      `Omitted settings of the tool "web_search" that Anthropic's tool does not have: search_context_size.`,
    ]);
  });

  it('sends MCP servers that require no approval, with their beta header', () => {
    const tool: BuiltInTool = {
      type: 'mcp',
      server_label: 'wiki',
      server_url: 'https://example.org/mcp',
      authorization: 't',
      require_approval: 'never',
      allowed_tools: ['search'],
    };
    const request = send({ tools: [tool] });
    expect(request.body.mcp_servers).to.deep.equal([
      { type: 'url', url: 'https://example.org/mcp', name: 'wiki', authorization_token: 't' },
    ]);
    expect(request.body.tools).to.deep.equal([
      {
        type: 'mcp_toolset',
        mcp_server_name: 'wiki',
        default_config: { enabled: false },
        configs: { search: { enabled: true } },
      },
    ]);
    expect(request.headers).to.deep.equal({ 'anthropic-beta': 'mcp-client-2025-11-20' });
  });

  for (const [what, tool] of [
    [
      'an MCP server whose calls need approval',
      { type: 'mcp', server_label: 'wiki', server_url: 'https://example.org/mcp' },
    ],
    [
      'an MCP server that wants headers',
      {
        type: 'mcp',
        server_label: 'wiki',
        server_url: 'https://example.org/mcp',
        require_approval: 'never',
        headers: { a: 'b' },
      },
    ],
    ['an MCP connector', { type: 'mcp', server_label: 'wiki', connector_id: 'c1', require_approval: 'never' }],
    ['file search', { type: 'file_search' }],
    ['image generation', { type: 'image_generation' }],
  ] as const satisfies readonly (readonly [string, Tool])[]) {
    it(`rejects ${what} before any call`, () => {
      expect(() => send({ tools: [tool] })).to.throw(UnsupportedFeatureError, 'tools[0]');
    });
  }
});

describe('toAnthropic: thinking', () => {
  function thinking(
    model: string,
    reasoning: NormalizedOptions['reasoning'],
    more: Partial<NormalizedOptions> = {},
  ): unknown[] {
    const { body, warnings } = send({ model, ...more, ...(reasoning === undefined ? {} : { reasoning }) });
    return [body.thinking, body.output_config, warnings.length];
  }

  it('is adaptive with an effort since Claude 4.6', () => {
    expect(thinking('claude-opus-4-7', { effort: 'xhigh' })).to.deep.equal([
      { type: 'adaptive' },
      { effort: 'xhigh' },
      0,
    ]);
    expect(thinking('claude-opus-4-6', { effort: 'xhigh' })).to.deep.equal([
      { type: 'adaptive' },
      { effort: 'high' },
      1,
    ]);
    expect(thinking('claude-opus-4-6', { effort: 'minimal' })).to.deep.equal([
      { type: 'adaptive' },
      { effort: 'low' },
      1,
    ]);
    expect(thinking('claude-opus-5', { effort: 'medium' })).to.deep.equal([undefined, { effort: 'medium' }, 0]);
    expect(thinking('claude-opus-5', { effort: 'medium', summary: 'auto' })).to.deep.equal([
      { type: 'adaptive', display: 'summarized' },
      { effort: 'medium' },
      0,
    ]);
    expect(thinking('claude-opus-4-7', undefined)).to.deep.equal([undefined, undefined, 0]);
  });

  it('is disabled if possible, otherwise sent with low effort', () => {
    expect(thinking('claude-sonnet-5', { effort: 'none' })).to.deep.equal([{ type: 'disabled' }, undefined, 0]);
    expect(thinking('claude-sonnet-5-5', { effort: 'none' })).to.deep.equal([{ type: 'between_tools' }, undefined, 0]);
    expect(thinking('claude-opus-5-5', { effort: 'none' })).to.deep.equal([undefined, { effort: 'low' }, 1]);
    expect(thinking('claude-opus-4-7', { effort: 'none' })).to.deep.equal([undefined, undefined, 0]);
  });

  it('is a budget below max_tokens before Claude 4.6, with a warning', () => {
    expect(thinking('claude-sonnet-4-5', { effort: 'high' })).to.deep.equal([
      { type: 'enabled', budget_tokens: 16_384 },
      undefined,
      1,
    ]);
    expect(thinking('claude-sonnet-4-5', { effort: 'high' }, { max_output_tokens: 4000 })).to.deep.equal([
      { type: 'enabled', budget_tokens: 2000 },
      undefined,
      1,
    ]);
    expect(thinking('claude-sonnet-4-5', { effort: 'high' }, { max_output_tokens: 1500 })).to.deep.equal([
      undefined,
      undefined,
      1,
    ]);
    expect(thinking('claude-opus-4-5', { effort: 'high' })).to.deep.equal([
      { type: 'enabled', budget_tokens: 16_384 },
      { effort: 'high' },
      1,
    ]);
  });

  it('is omitted with a forced tool on models with a budget', () => {
    const forced = { tools: [clock], tool_choice: 'required' } as const;
    expect(thinking('claude-sonnet-4-5', { effort: 'high' }, forced)).to.deep.equal([undefined, undefined, 1]);
    expect(thinking('claude-opus-4-6', { effort: 'high' }, forced)).to.deep.equal([
      { type: 'adaptive' },
      { effort: 'high' },
      0,
    ]);
  });

  it('does not start in the middle of a turn on models with a budget', () => {
    const called: InputItem[] = [
      HI,
      { type: 'function_call', call_id: 'a', name: 'clock', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'noon' },
    ];
    const signed: InputItem = {
      type: 'reasoning',
      summary: [],
      encrypted_content: 'sig',
      content: [],
      origin: { wire: 'anthropic_messages' },
    };
    expect(thinking('claude-sonnet-4-5', { effort: 'high' }, { input: called })).to.deep.equal([
      undefined,
      undefined,
      1,
    ]);
    expect(
      thinking('claude-sonnet-4-5', { effort: 'high' }, { input: [HI, signed, ...called.slice(1)] })[0],
    ).to.deep.equal({ type: 'enabled', budget_tokens: 16_384 });
    expect(thinking('claude-sonnet-4-5', { effort: 'high' }, { input: [...called, HI] })[0]).to.equal(undefined);
  });

  it('lets the API drop earlier thinking whose context has changed, on models that reject it otherwise', () => {
    const thought = (vendor?: 'anthropic'): InputItem => ({
      type: 'reasoning',
      summary: [],
      encrypted_content: 'sig',
      content: [],
      origin: { wire: 'anthropic_messages', ...(vendor === undefined ? {} : { vendor }) },
    });
    const bound = (model: string, given: InputItem, more: Partial<NormalizedOptions> = {}): unknown =>
      send({ model, input: [HI, given, HI], ...more }).body.thinking;
    const block_binding = { prefix_mismatch_behavior: 'drop_block' };
    const own = thought('anthropic');
    expect(bound('claude-sonnet-5-5', own)).to.deep.equal({ type: 'adaptive', block_binding });
    expect(bound('claude-haiku-5-5', own, { reasoning: { effort: 'high', summary: 'auto' } })).to.deep.equal({
      type: 'adaptive',
      display: 'summarized',
      block_binding,
    });
    expect(bound('claude-sonnet-5-5', own, { reasoning: { effort: 'none' } })).to.deep.equal({ type: 'between_tools' });
    expect(bound('claude-opus-5', own)).to.equal(undefined);
    expect(bound('claude-sonnet-5-5', HI)).to.equal(undefined);
    // A client of this API decides on it for itself.
    expect(bound('claude-sonnet-5-5', thought())).to.equal(undefined);
    const { headers } = send({ model: 'claude-sonnet-5-5', input: [HI, own, HI] });
    expect(headers).to.deep.equal({ 'anthropic-beta': 'thinking-binding-controls-2026-08-01' });
  });

  it('is omitted with a warning on models without thinking', () => {
    expect(thinking('claude-3-5-haiku-20241022', { effort: 'high' })).to.deep.equal([undefined, undefined, 1]);
    expect(thinking('claude-3-5-haiku-20241022', { effort: 'none' })).to.deep.equal([undefined, undefined, 0]);
  });

  it("does not override the caller's passthrough fields", () => {
    const vendor = { anthropic: { thinking: { type: 'enabled', budget_tokens: 2000 } } };
    expect(thinking('claude-sonnet-4-5', { effort: 'high' }, { vendor })).to.deep.equal([
      { type: 'enabled', budget_tokens: 2000 },
      undefined,
      0,
    ]);
  });
});

describe('toAnthropic: sampling', () => {
  function sampling(model: string, options: Partial<NormalizedOptions>): unknown[] {
    const { body, warnings } = send({ model, ...options });
    return [body.temperature, body.top_p, warnings.length];
  }

  it('is omitted with a warning on newer models, which reject it', () => {
    expect(sampling('claude-opus-4-7', { temperature: 0.2, top_p: 0.9 })).to.deep.equal([undefined, undefined, 1]);
    expect(sampling('claude-opus-4-7', { temperature: 1 })).to.deep.equal([undefined, undefined, 0]);
  });

  it('sends one of the two parameters since Claude 4.1, both before', () => {
    expect(sampling('claude-sonnet-4-5', { temperature: 0.2, top_p: 0.9 })).to.deep.equal([0.2, undefined, 1]);
    expect(sampling('claude-sonnet-4-5', { top_p: 0.9 })).to.deep.equal([undefined, 0.9, 0]);
    expect(sampling('claude-sonnet-4-20250514', { temperature: 0.2, top_p: 0.9 })).to.deep.equal([0.2, 0.9, 0]);
  });

  it('is limited to 1', () => {
    expect(sampling('claude-sonnet-4-5', { temperature: 1.7 })).to.deep.equal([1, undefined, 1]);
  });

  it('is omitted together with thinking', () => {
    expect(sampling('claude-sonnet-4-5', { temperature: 0.2, reasoning: { effort: 'low' } })).to.deep.equal([
      undefined,
      undefined,
      2,
    ]);
  });
});

describe('toAnthropic: structured output', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

  it('uses the output format with a supported schema if the model has it', () => {
    const request = send({
      response_format: {
        type: 'json_schema',
        name: 'place',
        schema: { ...schema, properties: { city: { type: 'string', maxLength: 9 } } },
      },
    });
    expect(request.body.output_config).to.deep.equal({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { city: { type: 'string', description: '{maxLength: 9}' } },
          required: ['city'],
          additionalProperties: false,
        },
      },
    });
    expect(request.losses.map(({ path, what }) => [path, what])).to.deep.equal([
      ['response_format.schema.properties.city', 'maxLength'],
    ]);
    expect(request).to.not.have.property('structuredOutputTool');
  });

  it('uses one forced tool if the model has no output format', () => {
    const request = send(
      { response_format: { type: 'json_schema', name: 'place', schema } },
      anthropicContext({ capabilities: { supportsJSONSchema: false } }),
    );
    expect(request.structuredOutputTool).to.equal('respond_with_json');
    expect(request.body.tools).to.deep.equal([
      { name: 'respond_with_json', description: 'Gives the final answer (place).', input_schema: schema },
    ]);
    expect(request.body.tool_choice).to.deep.equal({ type: 'tool', name: 'respond_with_json' });
    expect(request.body.system).to.include('respond_with_json');
  });

  it('lets the model choose between its tools and the response tool', () => {
    const taken = { ...clock, name: 'respond_with_json' };
    const request = send(
      { tools: [taken], response_format: { type: 'json_schema', schema } },
      anthropicContext({ capabilities: { supportsJSONSchema: false } }),
    );
    expect((request.body.tools as readonly JsonObject[]).map(({ name }) => name)).to.deep.equal([
      'respond_with_json',
      'respond_with_json_2',
    ]);
    expect(request.structuredOutputTool).to.equal('respond_with_json_2');
    expect(request.body.tool_choice).to.deep.equal({ type: 'any' });
  });

  it('uses the response tool for unsupported schemas, and wraps values that are not objects', () => {
    const map = { type: 'object', additionalProperties: { type: 'number' } };
    const list = { type: 'array', items: { type: 'object' } };
    expect(send({ response_format: { type: 'json_schema', schema: map } }).structuredOutputTool).to.equal(
      'respond_with_json',
    );
    const wrapped = send({ response_format: { type: 'json_schema', schema: list } });
    expect(wrapped.structuredOutputTool).to.equal('respond_with_json_value');
    expect(wrapped.body.tools)
      .to.have.nested.property('[0].input_schema')
      .that.deep.equals({ type: 'object', properties: { value: list }, required: ['value'] });
  });

  it('does not force the tool on models without forced tool calls', () => {
    const request = send({
      model: 'claude-opus-5-5',
      response_format: { type: 'json_schema', schema: { type: 'object' } },
    });
    expect(request.body.tool_choice).to.deep.equal({ type: 'auto' });
  });

  it('requests a JSON object by an instruction', () => {
    const request = send({ instructions: 'Be brief.', response_format: { type: 'json_object' } });
    expect((request.body.system as readonly JsonObject[])[1]?.text).to.include('JSON object');
    expect(request.warnings).to.have.lengthOf(1);
  });

  it('adds nothing for text', () => {
    expect(send({ response_format: { type: 'text' } }).body).to.have.all.keys('model', 'max_tokens', 'messages');
  });
});

describe('toOutputSchema', () => {
  const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties,
    additionalProperties: false,
    ...more,
  });

  it('preserves supported keywords', () => {
    const schema = closed(
      {
        when: { type: 'string', format: 'date-time', description: 'When' },
        kind: { enum: ['a', 1, null] },
        list: { type: 'array', items: { $ref: '#/$defs/point' }, minItems: 1 },
        either: { anyOf: [{ type: 'null' }, closed({ x: { type: 'number' } })] },
        code: { type: 'string', pattern: '^[A-Z]{3}$' },
        fixed: { const: 3 },
      },
      { $defs: { point: closed({ x: { type: 'number' } }) }, required: ['when'] },
    );
    expect(toOutputSchema(schema)).to.deep.equal({ schema, dropped: [] });
    const leaf = { type: 'string' };
    const given = { type: 'object', properties: { a: leaf }, additionalProperties: false };
    expect(toOutputSchema(given)?.schema.properties, 'not copied').to.equal(given.properties);
  });

  it('takes definitions that refer to each other in long chains, but not in circles', () => {
    const chain = Array.from({ length: 20_000 }, (_, n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }] as const);
    const ending = (d20000: object): object => ({
      $ref: '#/$defs/d0',
      $defs: { ...Object.fromEntries(chain), d20000 },
    });
    expect(toOutputSchema(ending({ type: 'string' }) as JsonObject)).to.have.property('dropped').that.is.empty;
    expect(toOutputSchema(ending({ $ref: '#/$defs/d500' }) as JsonObject)).to.equal(undefined);
  });

  it('closes objects, and reports every keyword that it omits', () => {
    const result = toOutputSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      // Gemini's, which constrains nothing.
      propertyOrdering: ['age', 'tags'],
      properties: {
        age: { type: 'integer', minimum: 0, description: 'Years' },
        tags: { type: 'array', items: { type: 'string', format: 'regex' }, minItems: 3, uniqueItems: true },
        one: { oneOf: [{ type: 'string' }, { type: 'number' }] },
        open: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
        word: { type: 'string', pattern: '\\bx' },
      },
    });
    expect(result?.dropped.map(({ path, keyword }) => `${path} ${keyword}`)).to.have.members([
      '.properties.age minimum',
      '.properties.tags.items format',
      '.properties.tags minItems',
      '.properties.tags uniqueItems',
      '.properties.one oneOf',
      '.properties.open additionalProperties',
      '.properties.word pattern',
    ]);
    expect(result?.schema).to.deep.include({ additionalProperties: false });
    expect(result?.schema)
      .to.have.nested.property('properties.age')
      .that.deep.equals({ type: 'integer', description: 'Years\n\n{minimum: 0}' });
    expect(result?.schema)
      .to.have.nested.property('properties.one')
      .that.deep.equals({ anyOf: [{ type: 'string' }, { type: 'number' }] });
    expect(result?.schema).to.not.have.property('$schema');
  });

  for (const [what, schema] of [
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }],
    ['an object without fields', { type: 'object' }],
    ['a value of any kind', closed({ any: {} })],
    [
      'recursion',
      closed({ tree: { $ref: '#/$defs/tree' } }, { $defs: { tree: closed({ next: { $ref: '#/$defs/tree' } }) } }),
    ],
    [
      'recursion through two',
      closed(
        { a: { $ref: '#/$defs/a' } },
        { $defs: { a: closed({ b: { $ref: '#/$defs/b' } }), b: closed({ a: { $ref: '#/$defs/a' } }) } },
      ),
    ],
    ['a reference to the root', closed({ self: { $ref: '#' } })],
    ['a reference elsewhere', closed({ a: { $ref: 'https://example.org/a.json' } })],
    ['objects in an enumeration', closed({ a: { enum: [{ b: 1 }] } })],
    [
      'a reference under allOf',
      closed({ a: { allOf: [{ $ref: '#/$defs/a' }] } }, { $defs: { a: closed({ b: { type: 'string' } }) } }),
    ],
  ] as const) {
    it(`returns undefined for a schema with ${what}`, () => {
      expect(toOutputSchema(schema)).to.equal(undefined);
    });
  }
});

describe('unions at the root of a tool’s parameters', () => {
  const parameters = (keyword: 'allOf' | 'anyOf', variants: number): JsonObject => ({
    type: 'object',
    [keyword]: Array.from({ length: variants }, (_, at) => ({ required: [`p${at}`] })),
  });
  const convert = (keyword: 'allOf' | 'anyOf', variants: number): WireRequest =>
    toAnthropic(
      {
        model: 'claude-sonnet-4-5',
        input: [HI],
        tools: [{ type: 'function', name: 'f', parameters: parameters(keyword, variants) }],
      },
      anthropicContext(),
      false,
    );

  it('require what any part of an allOf does, and what all of an anyOf do', () => {
    const requiredBy = (keyword: 'allOf' | 'anyOf'): unknown =>
      (convert(keyword, 2).body.tools as readonly { readonly input_schema: JsonObject }[])[0]?.input_schema.required;
    expect(requiredBy('allOf')).to.deep.equal(['p0', 'p1']);
    expect(requiredBy('anyOf')).to.equal(undefined);
  });

  itInSoak('of tens of thousands of parts take a time that grows with their number alone', () => {
    // Other processes only make it longer.
    const shortestOf = (keyword: 'allOf' | 'anyOf'): number => {
      const times = Array.from({ length: 5 }, () => {
        const startedAt = performance.now();
        convert(keyword, 20_000);
        return performance.now() - startedAt;
      });
      return Math.min(...times);
    };
    expect(shortestOf('allOf') / shortestOf('anyOf')).to.be.lessThan(10);
  });
});
