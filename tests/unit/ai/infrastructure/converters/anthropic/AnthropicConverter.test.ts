/** The rules of the Anthropic wire, one by one: messages and content out, answers back. */
import { expect } from 'chai';
import {
  LLMError,
  LLMOverloadedError,
  LLMStreamError,
  UnsupportedFeatureError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import {
  fromAnthropic,
  toAnthropic,
} from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/AnthropicConverter';
import { anthropicContext, anthropicReply } from '../../../../../support/anthropicRecordings';
import { assertAnthropicBody } from '../../../../../support/publishedSchemas';
import type { NormalizedOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type {
  Content,
  InputContent,
  InputItem,
  MessageRole,
} from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import type { WireRequest } from '../../../../../../imports/business/ai/infrastructure/converters/Wire';

const HERE = { wire: 'anthropic_messages', vendor: 'anthropic', model: 'claude-sonnet-4-5' } as const;

function say(role: MessageRole, ...content: readonly (string | Content)[]): InputItem {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  const parts = content.map((part): Content => {
    if (typeof part !== 'string') return part;
    return type === 'output_text' ? { type, text: part, annotations: [] } : { type, text: part };
  });
  return { type: 'message', role, content: parts };
}

function call(call_id: string, args = '{}', name = 'weather'): InputItem {
  return { type: 'function_call', call_id, name, arguments: args };
}

function result(call_id: string, output: string | readonly InputContent[], state?: string): InputItem {
  return { type: 'function_call_output', call_id, output, ...(state === undefined ? {} : { state }) };
}

/** Every body that a test makes must be within the vendor's types. */
function send(
  input: readonly InputItem[],
  options: Partial<NormalizedOptions> = {},
  context = anthropicContext(),
): WireRequest {
  const request = toAnthropic({ model: 'claude-sonnet-4-5', input, ...options }, context, false);
  assertAnthropicBody(request.body);
  return request;
}

function messages(request: WireRequest): readonly JsonObject[] {
  return request.body.messages as readonly JsonObject[];
}

const text = (words: string): JsonObject => ({ type: 'text', text: words });

describe('toAnthropic: who speaks', () => {
  it('sends instructions and what the operator says first as the system prompt', () => {
    const request = send([say('developer', 'Use metres.'), say('system', 'Be kind.'), say('user', 'Hi')], {
      instructions: 'Be brief.',
    });
    expect(request.body.system).to.deep.equal([text('Be brief.'), text('Use metres.'), text('Be kind.')]);
    expect(messages(request)).to.deep.equal([{ role: 'user', content: [text('Hi')] }]);
  });

  it('sends one plain system text as a string, one with a cache mark as a block', () => {
    const marked: Content = {
      type: 'input_text',
      text: 'Long.',
      vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
    };
    expect(send([say('user', 'Hi')], { instructions: 'Be brief.' }).body.system).to.equal('Be brief.');
    expect(send([say('system', marked), say('user', 'Hi')]).body.system).to.deep.equal([
      { ...text('Long.'), cache_control: { type: 'ephemeral' } },
    ]);
    expect(send([say('user', 'Hi')])).to.not.have.nested.property('body.system');
  });

  it('joins neighbours of one role into one turn', () => {
    const request = send([
      say('user', 'One'),
      say('user', 'Two'),
      say('assistant', 'Three'),
      say('assistant', 'Four'),
      say('user', 'Five'),
    ]);
    expect(messages(request)).to.deep.equal([
      { role: 'user', content: [text('One'), text('Two')] },
      { role: 'assistant', content: [text('Three'), text('Four')] },
      { role: 'user', content: [text('Five')] },
    ]);
  });

  it('keeps the order of thinking, text and calls in a turn', () => {
    const thinking: InputItem = {
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
      encrypted_content: 'sig',
      origin: HERE,
    };
    const request = send([say('user', 'Hi'), thinking, say('assistant', 'I look.'), call('a'), result('a', 'sun')]);
    expect(messages(request)[1]?.content).to.deep.equal([
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      text('I look.'),
      { type: 'tool_use', id: 'a', name: 'weather', input: {} },
    ]);
  });

  it('puts all results of a turn first, in one user message', () => {
    const request = send([
      say('user', 'Hi'),
      call('a'),
      call('b'),
      result('a', 'sun'),
      result('b', 'rain'),
      say('user', 'And?'),
    ]);
    expect(messages(request)).to.have.lengthOf(3);
    expect(messages(request)[2]?.content).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'a', content: 'sun' },
      { type: 'tool_result', tool_use_id: 'b', content: 'rain' },
      text('And?'),
    ]);
  });

  it('puts results first also where the user or the operator spoke before them', () => {
    const request = send([
      say('user', 'Hi'),
      call('a'),
      say('user', 'Well?'),
      say('developer', 'Hurry.'),
      result('a', 'sun'),
    ]);
    const content = messages(request)[2]?.content as readonly JsonObject[];
    expect(content.map(({ type }) => type)).to.deep.equal(['tool_result', 'text', 'text']);
  });

  it('joins the turns around one of which nothing is left', () => {
    const request = send([say('user', 'One'), say('assistant', ' '), say('user', 'Two')]);
    expect(messages(request)).to.deep.equal([{ role: 'user', content: [text('One'), text('Two')] }]);
  });

  it('answers a call without a recorded result, and reports it', () => {
    const request = send([say('user', 'Hi'), call('a'), say('user', 'Never mind')]);
    expect(messages(request)[2]?.content).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'a', content: 'No result was recorded for this call.' },
      text('Never mind'),
    ]);
    expect(request.losses).to.have.lengthOf(1);
  });

  it('says that the assistant began where no user did', () => {
    const request = send([say('assistant', 'Hello!'), say('user', 'Hi')]);
    expect(messages(request).map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
    expect(request.losses.map(({ path }) => path)).to.deep.equal(['input']);
  });

  it('keeps the rank of what the operator says later, after the user, where the model knows how', () => {
    const request = send(
      [say('user', 'Hi'), say('assistant', 'Yes?'), say('developer', 'Speak French.'), say('user', 'Go on')],
      { model: 'claude-opus-4-8' },
    );
    expect(messages(request).slice(2)).to.deep.equal([
      { role: 'user', content: [text('Go on')] },
      { role: 'system', content: [text('Speak French.')] },
    ]);
    expect(request.losses).to.deep.equal([]);
  });

  it('sends it as marked user text in its place on other models, and reports the loss', () => {
    const request = send([
      say('user', 'Hi'),
      say('assistant', 'Yes?'),
      say('developer', 'Speak French.'),
      say('user', 'Go on'),
    ]);
    expect(messages(request)[2]).to.deep.equal({
      role: 'user',
      content: [text('<operator_message>\nSpeak French.\n</operator_message>'), text('Go on')],
    });
    expect(request.losses).to.deep.equal([
      {
        path: 'input[2]',
        what: 'role of a developer message',
        reason: 'No system message is allowed at this position, so it is sent as tagged user text.',
      },
    ]);
  });

  it('sends a system message after the results of a turn, but not right after the assistant', () => {
    const after = send([say('user', 'Hi'), call('a'), result('a', 'sun'), say('system', 'Hurry.')], {
      model: 'claude-opus-5',
    });
    expect(messages(after).map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'system']);
    const alone = send([say('user', 'Hi'), say('assistant', 'Yes?'), say('system', 'Hurry.')], {
      model: 'claude-opus-5',
    });
    expect(messages(alone)[2]).to.deep.equal({
      role: 'user',
      content: [text('<operator_message>\nHurry.\n</operator_message>')],
    });
  });

  it('refuses images in what the operator says', () => {
    const image: Content = { type: 'input_image', image_url: 'https://example.org/a.png' };
    expect(() => send([say('system', image), say('user', 'Hi')])).to.throw(UnsupportedFeatureError, 'input[0]');
  });
});

describe('toAnthropic: content', () => {
  it('leaves blank texts out, as the API refuses them, but not its own', () => {
    const own: Content = { type: 'output_text', text: '\n\n', annotations: [], vendor: { anthropic: {} } };
    const request = send([
      say('user', 'Hi', '  '),
      say('assistant', ''),
      say('assistant', own, ''),
      say('user', 'Go on'),
    ]);
    expect(messages(request)).to.deep.equal([
      { role: 'user', content: [text('Hi')] },
      { role: 'assistant', content: [text('\n\n')] },
      { role: 'user', content: [text('Go on')] },
    ]);
  });

  it('sends images from data URIs, URLs and file ids', () => {
    const request = send([
      say(
        'user',
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
        { type: 'input_image', image_url: 'https://example.org/a.jpg' },
        { type: 'input_image', file_id: 'file_1' },
        {
          type: 'input_image',
          image_url: 'data:image/jpg;base64,/9j/4AA=',
          vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
        },
      ),
    ]);
    expect(messages(request)[0]?.content).to.deep.equal([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'image', source: { type: 'url', url: 'https://example.org/a.jpg' } },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/4AA=' },
        cache_control: { type: 'ephemeral' },
      },
    ]);
  });

  it('sends PDFs as documents, texts as text documents, and image files as images', () => {
    const hello = Buffer.from('Grüß dich').toString('base64');
    const request = send([
      say(
        'user',
        { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
        { type: 'input_file', file_data: 'JVBERi0=', filename: 'b.PDF' },
        { type: 'input_file', file_data: `data:text/csv;base64,${hello}` },
        { type: 'input_file', file_data: hello, filename: 'c.md' },
        { type: 'input_file', file_url: 'https://example.org/d.pdf' },
        { type: 'input_file', file_id: 'file_2', filename: 'e.pdf' },
        { type: 'input_file', file_data: 'data:image/png;base64,iVBORw0KGgo=', filename: 'f.png' },
      ),
    ]);
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    const words = { type: 'text', media_type: 'text/plain', data: 'Grüß dich' };
    expect(messages(request)[0]?.content).to.deep.equal([
      { type: 'document', source: pdf, title: 'a.pdf' },
      { type: 'document', source: pdf, title: 'b.PDF' },
      { type: 'document', source: words },
      { type: 'document', source: words, title: 'c.md' },
      { type: 'document', source: { type: 'url', url: 'https://example.org/d.pdf' } },
      { type: 'document', source: { type: 'file', file_id: 'file_2' }, title: 'e.pdf' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
    ]);
  });

  for (const [what, part] of [
    [
      'images of a kind that Claude does not see',
      { type: 'input_image', image_url: 'data:image/tiff;base64,SUkqAA==' },
    ],
    [
      'files of a kind that Claude does not read',
      { type: 'input_file', file_data: 'data:application/zip;base64,UEsDBA==' },
    ],
    ['bare data that no name explains', { type: 'input_file', file_data: 'UEsDBA==' }],
  ] as const) {
    it(`refuses ${what}, and says where they stand`, () => {
      expect(() => send([say('user', 'Look'), say('user', part)]))
        .to.throw(UnsupportedFeatureError, 'input[1]')
        .with.property('path', 'input[1]');
    });
  }

  it('refuses images, files and URLs where model or host cannot take them', () => {
    const image: Content = { type: 'input_image', image_url: 'https://example.org/a.png' };
    const file: Content = { type: 'input_file', file_id: 'file_1' };
    expect(() =>
      send([say('user', image)], {}, anthropicContext({ capabilities: { supportsVision: false } })),
    ).to.throw(UnsupportedFeatureError, 'does not support images');
    expect(() => send([say('user', image)], {}, anthropicContext({ quirks: { fetchesImageUrls: false } }))).to.throw(
      UnsupportedFeatureError,
      'does not fetch URLs',
    );
    expect(() => send([say('user', file)], {}, anthropicContext({ capabilities: { supportsFiles: false } }))).to.throw(
      UnsupportedFeatureError,
      'does not support files',
    );
  });

  it('carries parts of its own kinds and refuses those of others', () => {
    const search = {
      type: 'search_result',
      source: 'https://example.org',
      title: 'A',
      content: [text('B')],
    } as unknown as Content;
    const audio = { type: 'input_audio', input_audio: {} } as unknown as Content;
    expect(messages(send([say('user', search)]))[0]?.content).to.deep.equal([search]);
    expect(() => send([say('user', audio)])).to.throw(UnsupportedFeatureError, 'input_audio');
  });

  it('marks results of calls that failed, and keeps images in results', () => {
    const image: InputContent = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' };
    const request = send([
      say('user', 'Hi'),
      call('a'),
      call('b'),
      call('c'),
      result('a', 'no', 'failed'),
      result('b', 'late', 'timeout'),
      result('c', [image]),
    ]);
    expect(messages(request)[2]?.content).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'a', is_error: true, content: 'no' },
      { type: 'tool_result', tool_use_id: 'b', is_error: true, content: 'late' },
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }],
      },
    ]);
  });

  it("names the toolset in the answers to its members' calls", () => {
    const member: InputItem = { ...call('a', '{}', 'screenshot'), vendor: { anthropic: { toolset_name: 'computer' } } };
    const request = send([say('user', 'Hi'), member, call('b'), result('a', 'seen'), result('b', 'sun')]);
    expect(
      (messages(request)[2]?.content as readonly JsonObject[]).map(({ toolset_name }) => toolset_name),
    ).to.deep.equal(['computer', undefined]);
  });

  it('sends arguments that are no JSON object in a field of one, and reports it', () => {
    const request = send([say('user', 'Hi'), call('a', '{"city":"Ro'), result('a', 'invalid')]);
    expect((messages(request)[1]?.content as readonly JsonObject[])[0]?.input).to.deep.equal({
      arguments: '{"city":"Ro',
    });
    expect(request.losses).to.deep.include({
      path: 'input[1].arguments',
      what: 'arguments',
      reason: 'They are not a JSON object, so their text is sent as a field of one.',
    });
  });

  it('makes the call ids of other vendors valid, the same for call and answer', () => {
    const id = `call|${'x'.repeat(80)}:1`;
    const [, assistant, user] = messages(send([say('user', 'Hi'), call(id), result(id, 'sun')]));
    const sent = (assistant?.content as readonly JsonObject[])[0]?.id;
    expect(sent).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
    expect((user?.content as readonly JsonObject[])[0]?.tool_use_id).to.equal(sent);
  });

  it('drops what other vendors sealed, and names it', () => {
    const elsewhere = { wire: 'responses', vendor: 'openai' } as const;
    const request = send([
      say('user', 'Hi'),
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'x', origin: elsewhere },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] },
      { type: 'reasoning', summary: [], encrypted_content: 'x', origin: { ...HERE, vendor: 'llama' } },
      { type: 'vendor_item', origin: { wire: 'gemini' }, item: { executableCode: {} } },
      { type: 'web_search_call', status: 'completed' },
      { type: 'compaction', encrypted_content: 'x' },
      say('assistant', {
        type: 'output_text',
        text: 'Yes',
        annotations: [{ type: 'url_citation', url: 'https://example.org' }],
      }),
      say('user', 'Go on'),
    ]);
    expect(messages(request)[1]).to.deep.equal({ role: 'assistant', content: [text('Yes')] });
    expect(request.losses.map(({ path, what }) => `${path} ${what}`)).to.deep.equal([
      'input[1] reasoning',
      'input[2] reasoning',
      'input[3] reasoning',
      'input[4] vendor_item',
      'input[5] web_search_call',
      'input[6] compaction',
      'input[7].content[0] annotations',
    ]);
  });

  it('puts a cache mark on a message on its last block', () => {
    const message = {
      ...say('user', 'One', 'Two'),
      vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
    } as InputItem;
    expect(messages(send([message]))).to.deep.equal([
      { role: 'user', content: [text('One'), { ...text('Two'), cache_control: { type: 'ephemeral' } }] },
    ]);
  });

  it('converts an item once, however often its history is sent', () => {
    const items = [say('user', 'Hi'), call('a'), result('a', 'sun')];
    const [first, second] = [send(items), send([...items, say('user', 'More')])].map((request) =>
      messages(request)
        .slice(0, 2)
        .map(({ content }) => (content as readonly JsonObject[])[0]),
    );
    expect(second?.[1]).to.equal(first?.[1]);
    expect(second?.[0]).to.equal(first?.[0]);
  });

  it('does not take one history for another that began alike', () => {
    const question = say('user', 'Hi');
    const told = (...items: readonly InputItem[]): unknown => messages(send([question, ...items])).at(-1)?.content;
    expect(told(say('assistant', 'One'))).to.deep.equal([text('One')]);
    expect(told(say('assistant', 'Two'))).to.deep.equal([text('Two')]);
    expect(told(call('a'), result('a', 'sun'), say('assistant', 'Three'))).to.deep.equal([text('Three')]);
    expect(told(say('assistant', 'One'))).to.deep.equal([text('One')]);
  });
});

describe('toAnthropic: fields', () => {
  it('always limits the answer: by the option, else by the model', () => {
    expect(send([say('user', 'Hi')]).body.max_tokens).to.equal(64_000);
    expect(send([say('user', 'Hi')], { max_output_tokens: 7 }).body.max_tokens).to.equal(7);
  });

  it('asks for a stream only when one is wanted', () => {
    const options = { model: 'claude-sonnet-4-5', input: [say('user', 'Hi')] };
    expect(toAnthropic(options, anthropicContext(), true).body.stream).to.equal(true);
    expect(toAnthropic(options, anthropicContext(), false).body).to.not.have.property('stream');
  });

  it('maps stop, user and nothing else of the metadata', () => {
    const request = send([say('user', 'Hi')], { stop: ['END'], user: 'u1', metadata: { project: 'x' } });
    expect(request.body).to.deep.include({ stop_sequences: ['END'], metadata: { user_id: 'u1' } });
    expect(request.warnings).to.deep.equal(['metadata project was omitted: the Messages API accepts only user_id.']);
  });

  it('says that it keeps no responses', () => {
    expect(send([say('user', 'Hi')], { previous_response_id: 'r1', store: true }).warnings).to.have.lengthOf(2);
  });

  it('merges verbatim fields last, `output_config` field by field', () => {
    const request = send([say('user', 'Hi')], {
      temperature: 0.5,
      response_format: {
        type: 'json_schema',
        schema: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
      },
      vendor: { anthropic: { temperature: 0.1, top_k: 5, output_config: { effort: 'low' }, service_tier: 'auto' } },
    });
    expect(request.body).to.deep.include({ temperature: 0.1, top_k: 5, service_tier: 'auto' });
    expect(request.body.output_config).to.have.all.keys('effort', 'format');
  });

  it('drops the fields that a host refuses, and reports them', () => {
    const request = send(
      [say('user', 'Hi')],
      { temperature: 0.5, user: 'u1' },
      anthropicContext({ quirks: { unsupportedFields: ['metadata', 'thinking'] } }),
    );
    expect(request.body).to.not.have.property('metadata');
    expect(request.body.temperature).to.equal(0.5);
    expect(request.warnings).to.deep.equal(['metadata was omitted: the vendor does not support it.']);
  });

  it('asks for betas by header: those that fields need, and those that the caller names', () => {
    const vendor = {
      anthropic: {
        betas: ['my-beta'],
        context_management: { edits: [{ type: 'compact_20260112' }] },
        mcp_servers: [{ type: 'url', name: 'a', url: 'https://example.org' }],
      },
    };
    const request = send([say('user', 'Hi')], { vendor });
    expect(request.headers).to.deep.equal({
      'anthropic-beta': 'my-beta,context-management-2025-06-27,mcp-client-2025-11-20,compact-2026-01-12',
    });
    expect(request.body).to.not.have.property('betas');
    expect(send([say('user', 'Hi')])).to.not.have.property('headers');
  });

  it('names the version that the caller writes in, by header and not in the body', () => {
    const request = send([say('user', 'Hi')], {
      vendor: { anthropic: { anthropic_version: '2026-10-21', betas: ['my-beta'] } },
    });
    expect(request.headers).to.deep.equal({ 'anthropic-beta': 'my-beta', 'anthropic-version': '2026-10-21' });
    expect(request.body).to.not.have.property('anthropic_version');
    expect(
      send([say('user', 'Hi')], { vendor: { anthropic: { anthropic_version: '1\r\nx: y' } } }),
    ).to.not.have.property('headers');
  });
});

describe('fromAnthropic', () => {
  const MESSAGE = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [text('Hi')],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 2 },
  };

  for (const [word, status, reason] of [
    ['end_turn', 'completed', undefined],
    ['stop_sequence', 'completed', undefined],
    ['tool_use', 'completed', undefined],
    ['pause_turn', 'completed', undefined],
    ['max_tokens', 'incomplete', 'max_output_tokens'],
    ['model_context_window_exceeded', 'incomplete', 'max_output_tokens'],
    ['refusal', 'incomplete', 'content_filter'],
  ] as const) {
    it(`takes ${word} for ${reason ?? status}`, () => {
      const response = fromAnthropic({ ...MESSAGE, stop_reason: word }, anthropicReply());
      expect([response.status, response.incomplete_details?.reason, response.vendor.finish_reason]).to.deep.equal([
        status,
        reason,
        word,
      ]);
      expect(response.vendor.warnings).to.deep.equal([]);
    });
  }

  it('takes an unknown stop_reason for completed, verbatim and with a warning', () => {
    const response = fromAnthropic({ ...MESSAGE, stop_reason: 'tired' }, anthropicReply({ warnings: ['before'] }));
    expect(response).to.deep.include({ status: 'completed' });
    expect(response.vendor).to.deep.include({
      finish_reason: 'tired',
      warnings: ['before', 'The response has the unknown stop_reason "tired" and counts as completed.'],
    });
  });

  it('makes one message of neighbouring texts, and items of everything else, in order', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: [1] }, caller: { type: 'direct' } };
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      text('A'),
      text('B'),
      search,
      text('C'),
      call,
    ];
    const { output, output_text } = fromAnthropic({ ...MESSAGE, content }, anthropicReply());
    const origin = { wire: 'anthropic_messages', vendor: 'anthropic', model: 'claude-x' };
    const part = (words: string) => ({ type: 'output_text', text: words, annotations: [] });
    expect(output).to.deep.equal([
      {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Hm' }],
        encrypted_content: 'sig',
        origin,
      },
      { type: 'message', role: 'assistant', status: 'completed', content: [part('A'), part('B')] },
      { type: 'vendor_item', origin, item: search },
      { type: 'message', role: 'assistant', status: 'completed', content: [part('C')] },
      {
        type: 'function_call',
        call_id: 'toolu_1',
        name: 'look',
        arguments: '{"a":[1]}',
        status: 'completed',
        vendor: { anthropic: { caller: { type: 'direct' } } },
      },
    ]);
    expect(output_text).to.equal('ABC');
  });

  it('takes an empty content for a whole answer', () => {
    expect(fromAnthropic({ ...MESSAGE, content: [] }, anthropicReply())).to.deep.include({
      status: 'completed',
      output: [],
      output_text: '',
    });
  });

  it('writes citations as annotations and keeps them as they came', () => {
    const citations = [
      {
        type: 'web_search_result_location',
        url: 'https://example.org',
        title: 'T',
        cited_text: 'c',
        encrypted_index: 'e',
      },
      {
        type: 'page_location',
        cited_text: 'p',
        document_index: 0,
        document_title: 'a.pdf',
        start_page_number: 1,
        end_page_number: 2,
        file_id: null,
      },
      { type: 'star_location', star: 3 },
    ];
    const [message] = fromAnthropic({ ...MESSAGE, content: [{ ...text('Hi'), citations }] }, anthropicReply()).output;
    expect(message).to.have.nested.property('content[0].vendor.anthropic.citations').that.deep.equals(citations);
    expect(message)
      .to.have.nested.property('content[0].annotations')
      .that.deep.equals([
        { type: 'url_citation', url: 'https://example.org', title: 'T', cited_text: 'c' },
        {
          type: 'file_citation',
          index: 0,
          filename: 'a.pdf',
          file_id: null,
          cited_text: 'p',
          start_page: 1,
          end_page: 2,
        },
        { type: 'star_location', star: 3 },
      ]);
  });

  it('counts every cached part as input', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 30,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 4 },
    };
    expect(fromAnthropic({ ...MESSAGE, usage }, anthropicReply()).usage).to.deep.equal({
      input_tokens: 240,
      output_tokens: 5,
      total_tokens: 245,
      input_tokens_details: { cached_tokens: 200, cache_write_tokens: 30 },
      output_tokens_details: { reasoning_tokens: 4 },
    });
  });

  it('gives zeros and a warning where usage is missing, and the asked model where none is named', () => {
    const { usage: _, model: __, ...bare } = MESSAGE;
    const response = fromAnthropic(bare, anthropicReply());
    expect(response.usage.total_tokens).to.equal(0);
    expect(response.vendor.warnings).to.deep.equal(['The response has no usage, so all token counts are zero.']);
    expect(response.model).to.equal('asked-model');
  });

  it("turns the answer tool's input back into the answer's text", () => {
    const content = [{ type: 'tool_use', id: 'toolu_1', name: 'respond_with_json', input: { city: 'Rome' } }];
    const response = fromAnthropic(
      { ...MESSAGE, content, stop_reason: 'tool_use' },
      anthropicReply({ structuredOutputTool: 'respond_with_json' }),
    );
    expect(response.output_text).to.equal('{"city":"Rome"}');
    expect(response.output.map(({ type }) => type)).to.deep.equal(['message']);
    const list = [{ type: 'tool_use', id: 'toolu_1', name: 'respond_with_json_value', input: { value: [1, 2] } }];
    expect(
      fromAnthropic({ ...MESSAGE, content: list }, anthropicReply({ structuredOutputTool: 'respond_with_json_value' }))
        .output_text,
    ).to.equal('[1,2]');
  });

  for (const [what, body, message] of [
    ['an HTML page', '<!DOCTYPE html><html></html>', 'Expected a message, got an HTML page.'],
    ['plain text', 'upstream timed out', 'Expected a message, got plain text.'],
    ['nothing', undefined, 'Expected a message, got an empty body.'],
    ['a list', [], 'Expected a message, got a list.'],
    ['another kind of object', { object: 'chat.completion' }, 'Expected a response of type "message", got none.'],
    ['a message without content', { ...MESSAGE, content: 'Hi' }, 'The message has no list of "content" blocks.'],
    ['a message without an id', { ...MESSAGE, id: undefined }, 'The message has no "id".'],
    [
      'a message that does not say how it ended',
      { ...MESSAGE, stop_reason: null },
      'The response has no "stop_reason", so it may be incomplete.',
    ],
  ] as const) {
    it(`names what is wrong with ${what}`, () => {
      expect(() => fromAnthropic(body, anthropicReply())).to.throw(LLMStreamError, message);
    });
  }

  it('allows a missing stop_reason where the row says that the host leaves it out', () => {
    const context = anthropicReply(anthropicContext({ quirks: { allowsNullFinishReason: true } }));
    expect(fromAnthropic({ ...MESSAGE, stop_reason: null }, context)).to.deep.include({ status: 'completed' });
  });

  it('throws the error that came with status 200', () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_9' };
    expect(() => fromAnthropic(body, anthropicReply()))
      .to.throw(LLMOverloadedError, 'Overloaded')
      .with.property('requestId', 'req_1');
    expect(() => fromAnthropic(body, anthropicReply()))
      .to.throw(LLMError)
      .with.property('vendor', 'anthropic');
  });
});
