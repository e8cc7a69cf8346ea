/** Reading clients' Responses requests, and writing responses of any vendor. */
import { expect } from 'chai';
import { addUsage, NO_USAGE } from '../../../../../../../imports/business/ai/domain/entities/Response';
import { LLMInvalidRequestError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import {
  fromResponses,
  toResponses,
} from '../../../../../../../imports/business/ai/infrastructure/converters/responses/ResponsesConverter';
import {
  readResponsesRequest,
  writeResponses,
} from '../../../../../../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { RESPONSES, responsesContext, responsesResponseContext } from '../../../../../../support/responsesRecordings';
import { requestViolations, responseViolations } from '../../../../../../support/publishedSchemas';
import type {
  LLMResponse,
  OutputItem,
  ReasoningItem,
  VendorItem,
} from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';

function resent(request: JsonObject): JsonObject {
  const { stream, ...options } = readResponsesRequest(request);
  return toResponses({ model: 'none', ...options }, responsesContext(), stream ?? false).body;
}

describe('readResponsesRequest', () => {
  it('reads a request into options', () => {
    const format = { type: 'json_schema', name: 'person', schema: { type: 'object' }, strict: true };
    expect(
      readResponsesRequest({
        model: 'gpt-5',
        input: 'Hello',
        instructions: 'Be brief.',
        stream: true,
        store: false,
        temperature: 1,
        text: { format, verbosity: 'low' },
        truncation: 'auto',
        user: null,
        tool_choice: 'required',
        tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
      }),
    ).to.deep.equal({
      model: 'gpt-5',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      instructions: 'Be brief.',
      stream: true,
      store: false,
      temperature: 1,
      response_format: format,
      tool_choice: 'required',
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
      vendor: { openai_responses: { truncation: 'auto', user: null, text: { verbosity: 'low' } } },
    });
  });

  it('defaults store to true, as this API does', () => {
    expect(readResponsesRequest({ input: 'Hello' }).store).to.equal(true);
    expect(readResponsesRequest({ input: 'Hello', store: false }).store).to.equal(false);
  });

  it('accepts what the format forbids: no input, messages without a type, references by id alone, nulls', () => {
    expect(readResponsesRequest({}).input).to.deep.equal([]);
    expect(readResponsesRequest({ input: null }).input).to.deep.equal([]);
    const input = [
      { role: 'assistant', content: 'Hi', id: null, status: null },
      { id: 'msg_1' },
      { type: 'reasoning', summary: [], content: null, encrypted_content: null },
    ];
    const read = readResponsesRequest({ input }).input;
    expect(read.map(({ type }) => type)).to.deep.equal(['message', 'item_reference', 'reasoning']);
    for (const item of read) for (const [name, value] of Object.entries(item)) expect(value, name).not.to.equal(null);
  });

  it('does not let a client say what supplies the results of a tool', () => {
    const own = { kind: 'timer', external: true };
    expect(readResponsesRequest({ tools: [{ type: 'function', name: 'look', ...own }] }).tools).to.deep.equal([
      { type: 'function', name: 'look', vendor: { openai_responses: own } },
    ]);
  });

  it('does not let a client set fields that are reserved for the domain model', () => {
    const [tool] =
      readResponsesRequest({
        tools: [
          { type: 'function', name: 'look', blocking: false, timeout: 1, needsApproval: false, vendor: { x: 1 } },
        ],
      }).tools ?? [];
    expect(tool).to.deep.equal({
      type: 'function',
      name: 'look',
      vendor: { openai_responses: { blocking: false, timeout: 1, needsApproval: false, vendor: { x: 1 } } },
    });
    const [output] = readResponsesRequest({
      input: [
        { type: 'function_call_output', call_id: 'c', output: 'x', deferred: true, state: 'failed', name: 'look' },
      ],
    }).input;
    expect(output).to.deep.equal({
      type: 'function_call_output',
      call_id: 'c',
      output: 'x',
      vendor: { openai_responses: { deferred: true, state: 'failed', name: 'look' } },
    });
  });

  const tools: readonly JsonObject[] = [
    { type: 'function', name: 'look', description: null, parameters: null, strict: null },
    { type: 'function', name: 'look', parameters: {}, strict: true, defer_loading: true, async: true },
    { type: 'web_search_preview', search_context_size: 'low' },
    { type: 'web_search_2025_08_26' },
    { type: 'web_search', user_location: null },
    { type: 'computer' },
    { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'browser' },
    { type: 'code_interpreter' },
    { type: 'code_interpreter', container: { type: 'auto', file_ids: [] } },
    { type: 'custom', name: 'math', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    { type: 'namespace', name: 'crm', description: 'x', tools: [] },
    { type: 'hologram', blocking: 'maybe' },
  ];
  for (const tool of tools)
    it(`passes the tool ${JSON.stringify(tool)} through unchanged`, () =>
      expect(resent({ input: 'x', tools: [tool] }).tools).to.deep.equal([tool]));

  it("maps the API's different names of a tool to one type that other vendors understand", () => {
    const read =
      readResponsesRequest({
        tools: [
          { type: 'web_search_preview' },
          { type: 'computer_use_preview', environment: 'mac' },
          { type: 'computer' },
        ],
      }).tools ?? [];
    expect(read.map(({ type }) => type)).to.deep.equal(['web_search', 'computer_use', 'computer_use']);
  });

  const choices: readonly unknown[] = [
    'auto',
    'none',
    'required',
    { type: 'function', name: 'look' },
    { type: 'web_search_preview' },
    { type: 'web_search' },
    { type: 'computer_use' },
    { type: 'mcp', server_label: 's', name: null },
    { type: 'custom', name: 'math' },
    { type: 'apply_patch' },
    {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'look' }, { type: 'web_search_preview' }],
    },
  ];
  for (const choice of choices) {
    it(`passes the choice ${JSON.stringify(choice)} through unchanged`, () => {
      expect(
        resent({
          input: 'x',
          tools: [{ type: 'function', name: 'look' }, { type: 'web_search_preview' }],
          tool_choice: choice,
        }).tool_choice,
      ).to.deep.equal(choice);
    });
  }

  const texts: readonly JsonObject[] = [
    { format: { type: 'text' } },
    { format: { type: 'json_object' }, verbosity: 'high' },
    { format: { type: 'json_schema', name: 'p', schema: {}, description: null, strict: null } },
    { format: { type: 'grammar', definition: 'x' } },
    { verbosity: 'low' },
    {},
  ];
  for (const text of texts)
    it(`passes text ${JSON.stringify(text)} through unchanged`, () =>
      expect(resent({ input: 'x', text }).text).to.deep.equal(text));

  const wrong: readonly (readonly [unknown, string])[] = [
    [undefined, ''],
    [[], ''],
    [{ input: 7 }, 'input'],
    [{ input: [7] }, 'input[0]'],
    [{ input: [{ type: 'message', role: 'user', content: [{}] }] }, 'input[0].content[0].type'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'n', arguments: {} }] }, 'input[0].arguments'],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id'],
    [{ input: [{ type: 'reasoning', summary: [], encrypted_content: 'bolide.1.AAAA' }] }, 'input[0].encrypted_content'],
    [{ model: 7 }, 'model'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ metadata: [] }, 'metadata'],
    [{ tools: {} }, 'tools'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ tools: [{ type: 'function', name: 'x', parameters: [] }] }, 'tools[0].parameters'],
    [{ tool_choice: 7 }, 'tool_choice'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.name'],
    [{ tool_choice: { type: 'allowed_tools', tools: [{}] } }, 'tool_choice.tools[0].type'],
    [{ text: 'json' }, 'text'],
    [{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format.schema'],
  ];
  for (const [body, path] of wrong) {
    it(`rejects ${JSON.stringify(body)} at '${path}'`, () => {
      expect(() => readResponsesRequest(body))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', path);
    });
  }
});

describe('writeResponses', () => {
  const message: OutputItem = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
  };
  const thinking: ReasoningItem = {
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'hm' }],
    encrypted_content: 'signature',
    origin: { wire: 'anthropic_messages', vendor: 'anthropic', model: 'claude' },
    vendor: { anthropic: { type: 'thinking' } },
  };
  const search: VendorItem = {
    type: 'vendor_item',
    origin: { wire: 'anthropic_messages', vendor: 'anthropic' },
    item: { type: 'server_tool_use', id: 'srvtoolu_1' },
  };
  const call: OutputItem = {
    type: 'function_call',
    call_id: 'toolu_1',
    name: 'look',
    arguments: '{}',
    vendor: { google: { thoughtSignature: 'sig' } },
  };
  const usage = { ...NO_USAGE, input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  const foreign: LLMResponse = {
    id: 'msg_01',
    object: 'response',
    created_at: 7,
    status: 'completed',
    model: 'claude',
    output: [thinking, search, message, call],
    output_text: 'Hi',
    usage,
    vendor: { name: 'anthropic', wire: 'anthropic_messages', finish_reason: 'end_turn', warnings: [], losses: [] },
  };
  const ALL_FIELDS = [
    'id',
    'object',
    'created_at',
    'completed_at',
    'status',
    'incomplete_details',
    'model',
    'previous_response_id',
    'instructions',
    'output',
    'error',
    'tools',
    'tool_choice',
    'truncation',
    'parallel_tool_calls',
    'text',
    'top_p',
    'presence_penalty',
    'frequency_penalty',
    'top_logprobs',
    'temperature',
    'reasoning',
    'usage',
    'max_output_tokens',
    'max_tool_calls',
    'store',
    'background',
    'service_tier',
    'metadata',
    'safety_identifier',
    'prompt_cache_key',
  ];

  it('writes a response from another wire with all 31 fields, and every item with an id, a type and a status', () => {
    const body = writeResponses(foreign);
    expect(body).to.have.all.keys(ALL_FIELDS);
    expect(ALL_FIELDS).to.have.length(31);
    const items = body.output as readonly JsonObject[];
    expect(items.map(({ id, type, status }) => [id, type, status])).to.deep.equal([
      ['rs_msg_01_0', 'reasoning', 'completed'],
      ['rs_msg_01_1', 'reasoning', 'completed'],
      ['msg_msg_01_2', 'message', 'completed'],
      ['fc_msg_01_3', 'function_call', 'completed'],
    ]);
    expect(body.usage).to.equal(usage);
    expect(responseViolations(body)).to.equal('');
  });

  it('writes citations of other wires as the format has them: with a range, and without pages of documents', () => {
    const cited = { type: 'url_citation', url: 'u', title: 'T', cited_text: 'q' };
    const page = { type: 'file_citation', index: 0, filename: 'a.pdf', cited_text: 'c', start_page: 1, end_page: 2 };
    const content = [{ type: 'output_text', text: 'Hi.', annotations: [cited, page] }] as const;
    const [item] = writeResponses({ ...foreign, output: [{ ...message, content }] }).output as readonly JsonObject[];
    expect(item?.content).to.deep.equal([
      { type: 'output_text', text: 'Hi.', annotations: [{ ...cited, start_index: 0, end_index: 3 }] },
    ]);
  });

  it("overrides the defaults with the request's own fields", () => {
    expect(
      writeResponses(foreign, { temperature: 0.2, store: false, tools: [{ type: 'web_search' }] }),
    ).to.deep.include({ temperature: 0.2, store: false, tools: [{ type: 'web_search' }] });
  });

  it('marks the last item of a truncated response as incomplete', () => {
    const body = writeResponses({
      ...foreign,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect((body.output as readonly JsonObject[]).map(({ status }) => status)).to.deep.equal([
      'completed',
      'completed',
      'completed',
      'incomplete',
    ]);
    expect(body.completed_at).to.equal(null);
  });

  it("restores another vendor's encrypted content, and sends it only to that vendor", () => {
    const items = writeResponses(foreign).output as readonly JsonObject[];
    const { input } = readResponsesRequest({
      input: JSON.parse(JSON.stringify([{ role: 'user', content: 'Hello' }, ...items])) as unknown,
    });
    expect(input[1]).to.deep.equal(thinking);
    expect(input[2]).to.deep.equal(search);
    expect(input[4]).to.deep.include({ vendor: { google: { thoughtSignature: 'sig' } } });
    const { body, losses } = toResponses({ model: 'gpt-5', input }, responsesContext(), false);
    expect(losses.map(({ path }) => path)).to.have.members(['input[1]', 'input[2]', 'input[4]']);
    expect(JSON.stringify(body)).not.to.include('sig');
    expect(requestViolations(body)).to.equal('');
  });

  it('shows clients readable reasoning of other vendors', () => {
    expect((writeResponses(foreign).output as readonly JsonObject[])[0]).to.deep.include({
      summary: [],
      content: [{ type: 'reasoning_text', text: 'hm' }],
    });
  });

  const [recorded] = RESPONSES;
  const same = fromResponses(JSON.parse(recorded!.text), responsesResponseContext());

  const oddities: Readonly<Record<string, JsonObject>> = {
    'a refusal': {
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'refusal', refusal: 'No.' }],
        },
      ],
      incomplete_details: null,
    },
    'an unknown status': { status: 'pondering' },
    'no usage': { usage: null },
    'usage with vendor-specific counts': { usage: { input_tokens: 3, output_tokens: 2, cost_in_usd_ticks: 5 } },
    'metadata that are not strings': { metadata: { n: 1 } },
    'an error without a code': { error: { code: null, message: 'odd' } },
    'an id that is not a string': { id: 7, created_at: '2026', model: null },
    'an output_text field': { output_text: 'Hi' },
  };
  for (const [what, changes] of Object.entries(oddities)) {
    it(`writes a response with ${what} as its vendor sent it`, () => {
      const body = { ...(JSON.parse(recorded!.text) as JsonObject), ...changes };
      expect(writeResponses(fromResponses(body, responsesResponseContext()))).to.deep.equal(body);
    });
  }

  it('writes what has changed since a response came over this wire', () => {
    expect(writeResponses({ ...same, id: 'resp_mine', model: 'openai/gpt-5' })).to.deep.include({
      id: 'resp_mine',
      model: 'openai/gpt-5',
    });
    const summed = addUsage(same.usage, usage);
    expect(writeResponses({ ...same, usage: summed }).usage).to.deep.equal(summed);
    expect(writeResponses(same).usage).to.equal(same.vendor.usage);
  });
});
