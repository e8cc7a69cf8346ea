/** Requests and responses of the Anthropic wire, rule by rule. */
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
import { anthropicContext, anthropicResponseContext } from '../../../../../support/anthropicRecordings';
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

const ORIGIN = { wire: 'anthropic_messages', vendor: 'anthropic', model: 'claude-sonnet-4-5' } as const;

function message(role: MessageRole, ...content: readonly (string | Content)[]): InputItem {
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

/** Also asserts that the body conforms to the vendor's schema. */
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

const text = (value: string): JsonObject => ({ type: 'text', text: value });

describe('toAnthropic: roles', () => {
  it('sends instructions and leading system messages as the system prompt', () => {
    const request = send([message('developer', 'Use metres.'), message('system', 'Be kind.'), message('user', 'Hi')], {
      instructions: 'Be brief.',
    });
    expect(request.body.system).to.deep.equal([text('Be brief.'), text('Use metres.'), text('Be kind.')]);
    expect(messages(request)).to.deep.equal([{ role: 'user', content: [text('Hi')] }]);
  });

  it('sends a single plain system text as a string, and one with cache_control as a block', () => {
    const marked: Content = {
      type: 'input_text',
      text: 'Long.',
      vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
    };
    expect(send([message('user', 'Hi')], { instructions: 'Be brief.' }).body.system).to.equal('Be brief.');
    expect(send([message('system', marked), message('user', 'Hi')]).body.system).to.deep.equal([
      { ...text('Long.'), cache_control: { type: 'ephemeral' } },
    ]);
    expect(send([message('user', 'Hi')])).to.not.have.nested.property('body.system');
  });

  it('asks the model to follow instructions that are the entire input, since a request must have a message', () => {
    // https://github.com/braintrustdata/braintrust-proxy/pull/250
    const request = send([message('developer', 'Say hello.'), message('user', '')]);
    expect(request.body.system).to.equal('Say hello.');
    expect(messages(request)).to.deep.equal([{ role: 'user', content: [text('(Follow the instructions.)')] }]);
    expect(request.losses.map(({ path }) => path)).to.deep.equal(['input']);
  });

  it('joins adjacent messages of one role into one turn', () => {
    const request = send([
      message('user', 'One'),
      message('user', 'Two'),
      message('assistant', 'Three'),
      message('assistant', 'Four'),
      message('user', 'Five'),
    ]);
    expect(messages(request)).to.deep.equal([
      { role: 'user', content: [text('One'), text('Two')] },
      { role: 'assistant', content: [text('Three'), text('Four')] },
      { role: 'user', content: [text('Five')] },
    ]);
  });

  it('preserves the order of thinking, text and calls in a turn', () => {
    const thinking: InputItem = {
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hm.' }],
      encrypted_content: 'sig',
      origin: ORIGIN,
    };
    const request = send([
      message('user', 'Hi'),
      thinking,
      message('assistant', 'I look.'),
      call('a'),
      result('a', 'sun'),
    ]);
    expect(messages(request)[1]?.content).to.deep.equal([
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      text('I look.'),
      { type: 'tool_use', id: 'a', name: 'weather', input: {} },
    ]);
  });

  it('lets the assistant begin, after a note of the user only for models that require one', () => {
    const input = [message('assistant', 'Welcome.'), message('user', 'Hi')];
    const own = [
      { role: 'assistant', content: [text('Welcome.')] },
      { role: 'user', content: [text('Hi')] },
    ];
    for (const model of ['claude-sonnet-4-5', 'claude-opus-4-20250514', 'claude-opus-5', 'claude-new-9']) {
      const request = send(input, { model });
      expect(messages(request), model).to.deep.equal(own);
      expect(request.losses).to.deep.equal([]);
    }
    for (const model of ['claude-3-haiku-20240307', 'another-model']) {
      const request = send(input, { model });
      expect(messages(request).map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
      expect(messages(request).slice(1)).to.deep.equal(own);
      expect(request.losses.map(({ path }) => path)).to.deep.equal(['input']);
    }
  });

  it('puts all results of a turn first in one user message', () => {
    const request = send([
      message('user', 'Hi'),
      call('a'),
      call('b'),
      result('a', 'sun'),
      result('b', 'rain'),
      message('user', 'And?'),
    ]);
    expect(messages(request)).to.have.lengthOf(3);
    expect(messages(request)[2]?.content).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'a', content: 'sun' },
      { type: 'tool_result', tool_use_id: 'b', content: 'rain' },
      text('And?'),
    ]);
  });

  it('puts results first even if user or system messages precede them', () => {
    const request = send([
      message('user', 'Hi'),
      call('a'),
      message('user', 'Well?'),
      message('developer', 'Hurry.'),
      result('a', 'sun'),
    ]);
    const content = messages(request)[2]?.content as readonly JsonObject[];
    expect(content.map(({ type }) => type)).to.deep.equal(['tool_result', 'text', 'text']);
  });

  it('joins the turns around a message that becomes empty', () => {
    const request = send([message('user', 'One'), message('assistant', ' '), message('user', 'Two')]);
    expect(messages(request)).to.deep.equal([{ role: 'user', content: [text('One'), text('Two')] }]);
  });

  it('sends a placeholder for a call without a result, and reports it', () => {
    const request = send([message('user', 'Hi'), call('a'), message('user', 'Never mind')]);
    expect(messages(request)[2]?.content).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'a', content: 'No result was recorded for this call.' },
      text('Never mind'),
    ]);
    expect(request.losses).to.have.lengthOf(1);
  });

  it('sends later system messages with their role, after the user, if the model supports it', () => {
    const request = send(
      [
        message('user', 'Hi'),
        message('assistant', 'Yes?'),
        message('developer', 'Speak French.'),
        message('user', 'Go on'),
      ],
      { model: 'claude-opus-4-8' },
    );
    expect(messages(request).slice(2)).to.deep.equal([
      { role: 'user', content: [text('Go on')] },
      { role: 'system', content: [text('Speak French.')] },
    ]);
    expect(request.losses).to.deep.equal([]);
  });

  it('sends them as tagged user text in place on other models, and reports the loss', () => {
    const request = send([
      message('user', 'Hi'),
      message('assistant', 'Yes?'),
      message('developer', 'Speak French.'),
      message('user', 'Go on'),
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

  it('keeps several of them in their places among the texts of a turn', () => {
    const request = send([
      message('user', 'Hi'),
      message('assistant', 'Yes?'),
      message('user', 'One'),
      message('developer', 'Speak French.', 'Be brief.'),
      message('user', 'Two', 'Three'),
      message('system', 'Hurry.'),
      message('user', 'Four'),
    ]);
    const tagged = (words: string): object => text(`<operator_message>\n${words}\n</operator_message>`);
    const content = [text('One'), tagged('Speak French.'), tagged('Be brief.')];
    content.push(text('Two'), text('Three'), tagged('Hurry.'), text('Four'));
    expect(messages(request)[2]).to.deep.equal({ role: 'user', content });
    expect(request.losses.map(({ path }) => path)).to.deep.equal(['input[3]', 'input[5]']);
  });

  it('sends a system message after the results of a turn, but not directly after the assistant', () => {
    const after = send([message('user', 'Hi'), call('a'), result('a', 'sun'), message('system', 'Hurry.')], {
      model: 'claude-opus-5',
    });
    expect(messages(after).map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'system']);
    const alone = send([message('user', 'Hi'), message('assistant', 'Yes?'), message('system', 'Hurry.')], {
      model: 'claude-opus-5',
    });
    expect(messages(alone)[2]).to.deep.equal({
      role: 'user',
      content: [text('<operator_message>\nHurry.\n</operator_message>')],
    });
  });

  it('rejects images in system messages', () => {
    const image: Content = { type: 'input_image', image_url: 'https://example.org/a.png' };
    expect(() => send([message('system', image), message('user', 'Hi')])).to.throw(UnsupportedFeatureError, 'input[0]');
  });
});

describe('toAnthropic: content', () => {
  it('omits blank texts, which the API rejects unless it produced them', () => {
    const own: Content = { type: 'output_text', text: '\n\n', annotations: [], vendor: { anthropic: {} } };
    const request = send([
      message('user', 'Hi', '  '),
      message('assistant', ''),
      message('assistant', own, ''),
      message('user', 'Go on'),
    ]);
    expect(messages(request)).to.deep.equal([
      { role: 'user', content: [text('Hi')] },
      { role: 'assistant', content: [text('\n\n')] },
      { role: 'user', content: [text('Go on')] },
    ]);
  });

  it('sends images from data URIs, URLs and file ids', () => {
    const request = send([
      message(
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
      message(
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
    const textSource = { type: 'text', media_type: 'text/plain', data: 'Grüß dich' };
    expect(messages(request)[0]?.content).to.deep.equal([
      { type: 'document', source: pdf, title: 'a.pdf' },
      { type: 'document', source: pdf, title: 'b.PDF' },
      { type: 'document', source: textSource },
      { type: 'document', source: textSource, title: 'c.md' },
      { type: 'document', source: { type: 'url', url: 'https://example.org/d.pdf' } },
      { type: 'document', source: { type: 'file', file_id: 'file_2' }, title: 'e.pdf' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
    ]);
  });

  for (const [what, part] of [
    ['images of an unsupported type', { type: 'input_image', image_url: 'data:image/tiff;base64,SUkqAA==' }],
    ['files of an unsupported type', { type: 'input_file', file_data: 'data:application/zip;base64,UEsDBA==' }],
    ['bare base64 without a filename', { type: 'input_file', file_data: 'UEsDBA==' }],
  ] as const) {
    it(`rejects ${what} with their path`, () => {
      expect(() => send([message('user', 'Look'), message('user', part)]))
        .to.throw(UnsupportedFeatureError, 'input[1]')
        .with.property('path', 'input[1]');
    });
  }

  it('rejects images, files and URLs that the model or the vendor does not support', () => {
    const image: Content = { type: 'input_image', image_url: 'https://example.org/a.png' };
    const file: Content = { type: 'input_file', file_id: 'file_1' };
    expect(() =>
      send([message('user', image)], {}, anthropicContext({ capabilities: { supportsVision: false } })),
    ).to.throw(UnsupportedFeatureError, 'does not support images');
    expect(() =>
      send([message('user', image)], {}, anthropicContext({ quirks: { fetchesImageUrls: false } })),
    ).to.throw(UnsupportedFeatureError, 'does not fetch URLs');
    expect(() =>
      send([message('user', file)], {}, anthropicContext({ capabilities: { supportsFiles: false } })),
    ).to.throw(UnsupportedFeatureError, 'does not support files');
  });

  it("sends parts of Anthropic's own types and rejects unknown ones", () => {
    const search = {
      type: 'search_result',
      source: 'https://example.org',
      title: 'A',
      content: [text('B')],
    } as unknown as Content;
    const audio = { type: 'input_audio', input_audio: {} } as unknown as Content;
    expect(messages(send([message('user', search)]))[0]?.content).to.deep.equal([search]);
    expect(() => send([message('user', audio)])).to.throw(UnsupportedFeatureError, 'input_audio');
  });

  it('marks results of failed calls, and sends images in results', () => {
    const image: InputContent = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' };
    const request = send([
      message('user', 'Hi'),
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

  it('gives a failed call without output a text, since the API rejects an error without content', () => {
    // https://github.com/bytedance/trae-agent/issues/230
    const content = 'The tool failed without a message.';
    const failed = [
      result('a', '', 'failed'),
      result('b', [{ type: 'input_text', text: ' ' }], 'failed'),
      result('c', []),
    ];
    const request = send([message('user', 'Hi'), call('a'), call('b'), call('c'), ...failed]);
    expect(messages(request)[2]?.content).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'a', is_error: true, content },
      { type: 'tool_result', tool_use_id: 'b', is_error: true, content },
      { type: 'tool_result', tool_use_id: 'c' },
    ]);
  });

  it('names the toolset in the results of its members', () => {
    const member: InputItem = { ...call('a', '{}', 'screenshot'), vendor: { anthropic: { toolset_name: 'computer' } } };
    const request = send([message('user', 'Hi'), member, call('b'), result('a', 'seen'), result('b', 'sun')]);
    expect(
      (messages(request)[2]?.content as readonly JsonObject[]).map(({ toolset_name }) => toolset_name),
    ).to.deep.equal(['computer', undefined]);
  });

  it('wraps arguments that are not a JSON object, and reports it', () => {
    const request = send([message('user', 'Hi'), call('a', '{"city":"Ro'), result('a', 'invalid')]);
    expect((messages(request)[1]?.content as readonly JsonObject[])[0]?.input).to.deep.equal({
      arguments: '{"city":"Ro',
    });
    expect(request.losses).to.deep.include({
      path: 'input[1].arguments',
      what: 'arguments',
      reason: 'They are not a JSON object, so their text is sent as a field of one.',
    });
  });

  it('rewrites call ids of other vendors consistently for call and result', () => {
    const id = `call|${'x'.repeat(80)}:1`;
    const [, assistant, user] = messages(send([message('user', 'Hi'), call(id), result(id, 'sun')]));
    const sent = (assistant?.content as readonly JsonObject[])[0]?.id;
    expect(sent).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
    expect((user?.content as readonly JsonObject[])[0]?.tool_use_id).to.equal(sent);
  });

  it('drops reasoning and items of other vendors, and reports them', () => {
    const elsewhere = { wire: 'responses', vendor: 'openai' } as const;
    const request = send([
      message('user', 'Hi'),
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'x', origin: elsewhere },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] },
      { type: 'reasoning', summary: [], encrypted_content: 'x', origin: { ...ORIGIN, vendor: 'llama' } },
      { type: 'vendor_item', origin: { wire: 'gemini' }, item: { executableCode: {} } },
      { type: 'web_search_call', status: 'completed' },
      { type: 'compaction', encrypted_content: 'x' },
      message('assistant', {
        type: 'output_text',
        text: 'Yes',
        annotations: [{ type: 'url_citation', url: 'https://example.org' }],
      }),
      message('user', 'Go on'),
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

  it('returns thinking without a signature only to models that sign none', () => {
    const content = [{ type: 'reasoning_text', text: 'Hm' }] as const;
    const cutOff: InputItem = { type: 'reasoning', summary: [], content, encrypted_content: '', origin: ORIGIN };
    const input = [message('user', 'Hi'), cutOff, message('assistant', 'I think'), message('user', 'Go on')];
    const request = send(input);
    expect(messages(request)[1]?.content).to.deep.equal([text('I think')]);
    expect(request.losses.map(({ path }) => path)).to.deep.equal(['input[1]']);
    const other = send(input, { model: 'MiniMax-M2' });
    expect(messages(other)[1]?.content).to.deep.equal([
      { type: 'thinking', thinking: 'Hm', signature: '' },
      text('I think'),
    ]);
    expect(other.losses).to.deep.equal([]);
  });

  it("writes a message's cache_control on its last block", () => {
    const cached = {
      ...message('user', 'One', 'Two'),
      vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
    } as InputItem;
    expect(messages(send([cached]))).to.deep.equal([
      { role: 'user', content: [text('One'), { ...text('Two'), cache_control: { type: 'ephemeral' } }] },
    ]);
  });

  it('converts no item of a history again after its second request', () => {
    const items = [message('user', 'Hi'), call('a'), result('a', 'sun')];
    send(items);
    const [first, second] = [send(items), send([...items, message('user', 'More')])].map((request) =>
      messages(request)
        .slice(0, 2)
        .map(({ content }) => (content as readonly JsonObject[])[0]),
    );
    expect(second?.[1]).to.equal(first?.[1]);
    expect(second?.[0]).to.equal(first?.[0]);
  });

  it('distinguishes histories that start with the same item', () => {
    const question = message('user', 'Hi');
    const sentAfter = (...items: readonly InputItem[]): unknown => messages(send([question, ...items])).at(-1)?.content;
    expect(sentAfter(message('assistant', 'One'))).to.deep.equal([text('One')]);
    expect(sentAfter(message('assistant', 'Two'))).to.deep.equal([text('Two')]);
    expect(sentAfter(call('a'), result('a', 'sun'), message('assistant', 'Three'))).to.deep.equal([text('Three')]);
    expect(sentAfter(message('assistant', 'One'))).to.deep.equal([text('One')]);
  });
});

describe('toAnthropic: fields', () => {
  it('always sends max_tokens, from the option or the model', () => {
    expect(send([message('user', 'Hi')]).body.max_tokens).to.equal(64_000);
    expect(send([message('user', 'Hi')], { max_output_tokens: 7 }).body.max_tokens).to.equal(7);
  });

  it('requests a stream only if one is wanted', () => {
    const options = { model: 'claude-sonnet-4-5', input: [message('user', 'Hi')] };
    expect(toAnthropic(options, anthropicContext(), true).body.stream).to.equal(true);
    expect(toAnthropic(options, anthropicContext(), false).body).to.not.have.property('stream');
  });

  it('maps stop and the user id, and no other metadata', () => {
    const request = send([message('user', 'Hi')], { stop: ['END'], user: 'u1', metadata: { project: 'x' } });
    expect(request.body).to.deep.include({ stop_sequences: ['END'], metadata: { user_id: 'u1' } });
    expect(request.warnings).to.deep.equal(['Omitted metadata project: the Messages API accepts only user_id.']);
  });

  it('omits stop sequences of white space, which the API rejects, and warns', () => {
    // https://github.com/BerriAI/litellm/issues/3286
    const some = send([message('user', 'Hi')], { stop: ['\n', 'END', ' \t'] });
    expect(some.body.stop_sequences).to.deep.equal(['END']);
    expect(some.warnings).to.deep.equal(['Omitted stop sequences of white space: the Messages API rejects them.']);
    expect(send([message('user', 'Hi')], { stop: ['\n'] }).body).to.not.have.property('stop_sequences');
  });

  it('warns that the API stores no responses', () => {
    expect(send([message('user', 'Hi')], { previous_response_id: 'r1', store: true }).warnings).to.have.lengthOf(2);
  });

  it('merges passthrough fields last, `output_config` field by field', () => {
    const request = send([message('user', 'Hi')], {
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

  it('drops fields that the vendor does not support, and reports them', () => {
    const request = send(
      [message('user', 'Hi')],
      { temperature: 0.5, user: 'u1' },
      anthropicContext({ quirks: { unsupportedFields: ['metadata', 'thinking'] } }),
    );
    expect(request.body).to.not.have.property('metadata');
    expect(request.body.temperature).to.equal(0.5);
    expect(request.warnings).to.deep.equal(['Omitted fields that the vendor does not support: metadata.']);
  });

  it('sends a beta header for fields that require one and for betas named by the caller', () => {
    const vendor = {
      anthropic: {
        betas: ['my-beta'],
        context_management: { edits: [{ type: 'compact_20260112' }] },
        mcp_servers: [{ type: 'url', name: 'a', url: 'https://example.org' }],
      },
    };
    const request = send([message('user', 'Hi')], { vendor });
    expect(request.headers).to.deep.equal({
      'anthropic-beta': 'my-beta,context-management-2025-06-27,mcp-client-2025-11-20,compact-2026-01-12',
    });
    expect(request.body).to.not.have.property('betas');
    expect(send([message('user', 'Hi')])).to.not.have.property('headers');
  });

  it("sends the caller's API version as a header and not in the body", () => {
    const request = send([message('user', 'Hi')], {
      vendor: { anthropic: { anthropic_version: '2026-10-21', betas: ['my-beta'] } },
    });
    expect(request.headers).to.deep.equal({ 'anthropic-beta': 'my-beta', 'anthropic-version': '2026-10-21' });
    expect(request.body).to.not.have.property('anthropic_version');
    expect(
      send([message('user', 'Hi')], { vendor: { anthropic: { anthropic_version: '1\r\nx: y' } } }),
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

  for (const [stop_reason, status, reason] of [
    ['end_turn', 'completed', undefined],
    ['stop_sequence', 'completed', undefined],
    ['tool_use', 'completed', undefined],
    ['pause_turn', 'completed', undefined],
    ['max_tokens', 'incomplete', 'max_output_tokens'],
    ['model_context_window_exceeded', 'incomplete', 'max_output_tokens'],
    ['refusal', 'incomplete', 'content_filter'],
  ] as const) {
    it(`maps ${stop_reason} to ${reason ?? status}`, () => {
      const response = fromAnthropic({ ...MESSAGE, stop_reason }, anthropicResponseContext());
      expect([response.status, response.incomplete_details?.reason, response.vendor.finish_reason]).to.deep.equal([
        status,
        reason,
        stop_reason,
      ]);
      expect(response.vendor.warnings).to.deep.equal([]);
    });
  }

  it('treats an unknown stop_reason as completed, with a warning', () => {
    const response = fromAnthropic(
      { ...MESSAGE, stop_reason: 'tired' },
      anthropicResponseContext({ warnings: ['before'] }),
    );
    expect(response).to.deep.include({ status: 'completed' });
    expect(response.vendor).to.deep.include({
      finish_reason: 'tired',
      warnings: ['before', 'The response has the unknown stop_reason "tired" and counts as completed.'],
    });
  });

  it('joins adjacent texts to one message and makes every other block an item', () => {
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
    const { output, output_text } = fromAnthropic({ ...MESSAGE, content }, anthropicResponseContext());
    const origin = { wire: 'anthropic_messages', vendor: 'anthropic', model: 'claude-x' };
    const part = (value: string) => ({ type: 'output_text', text: value, annotations: [] });
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

  it('accepts a response without content', () => {
    expect(fromAnthropic({ ...MESSAGE, content: [] }, anthropicResponseContext())).to.deep.include({
      status: 'completed',
      output: [],
      output_text: '',
    });
  });

  it('converts citations to annotations and preserves the originals', () => {
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
    const [message] = fromAnthropic(
      { ...MESSAGE, content: [{ ...text('Hi'), citations }] },
      anthropicResponseContext(),
    ).output;
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

  it('counts all cached tokens as input', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 30,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 4 },
    };
    expect(fromAnthropic({ ...MESSAGE, usage }, anthropicResponseContext()).usage).to.deep.equal({
      input_tokens: 240,
      output_tokens: 5,
      total_tokens: 245,
      input_tokens_details: { cached_tokens: 200, cache_write_tokens: 30 },
      output_tokens_details: { reasoning_tokens: 4 },
    });
  });

  it('warns of thinking that the API has dropped from the request', () => {
    const dropped = { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' };
    const others = [{ ...dropped, type: 'thinking_mismatch_allowed' }, { type: 'newer' }];
    const response = { ...MESSAGE, input_transformations: [dropped, ...others, dropped] };
    expect(fromAnthropic(response, anthropicResponseContext()).vendor.warnings).to.deep.equal([
      'Anthropic left out 2 blocks of earlier thinking: what precedes them has changed, or another model wrote them.',
    ]);
    const none = { ...MESSAGE, input_transformations: [] };
    expect(fromAnthropic(none, anthropicResponseContext()).vendor.warnings).to.deep.equal([]);
  });

  it('reports zero usage with a warning, and the requested model, if the response has neither', () => {
    const { usage: _, model: __, ...bare } = MESSAGE;
    const response = fromAnthropic(bare, anthropicResponseContext());
    expect(response.usage.total_tokens).to.equal(0);
    expect(response.vendor.warnings).to.deep.equal(['The response has no usage, so all token counts are zero.']);
    expect(response.model).to.equal('asked-model');
  });

  it("converts the response tool's input back to text", () => {
    const content = [{ type: 'tool_use', id: 'toolu_1', name: 'respond_with_json', input: { city: 'Rome' } }];
    const response = fromAnthropic(
      { ...MESSAGE, content, stop_reason: 'tool_use' },
      anthropicResponseContext({ structuredOutputTool: 'respond_with_json' }),
    );
    expect(response.output_text).to.equal('{"city":"Rome"}');
    expect(response.output.map(({ type }) => type)).to.deep.equal(['message']);
    const list = [{ type: 'tool_use', id: 'toolu_1', name: 'respond_with_json_value', input: { value: [1, 2] } }];
    expect(
      fromAnthropic(
        { ...MESSAGE, content: list },
        anthropicResponseContext({ structuredOutputTool: 'respond_with_json_value' }),
      ).output_text,
    ).to.equal('[1,2]');
  });

  for (const [what, body, message] of [
    ['an HTML page', '<!DOCTYPE html><html></html>', 'Expected a message, got an HTML page.'],
    ['plain text', 'upstream timed out', 'Expected a message, got plain text.'],
    ['an empty body', undefined, 'Expected a message, got an empty body.'],
    ['a list', [], 'Expected a message, got a list.'],
    ['another type of object', { object: 'chat.completion' }, 'Expected a response of type "message", got none.'],
    ['a message without content', { ...MESSAGE, content: 'Hi' }, 'The message has no list of "content" blocks.'],
    ['a message without an id', { ...MESSAGE, id: undefined }, 'The message has no "id".'],
    [
      'a message without a stop reason',
      { ...MESSAGE, stop_reason: null },
      'The response has no "stop_reason", so it may be incomplete.',
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      expect(() => fromAnthropic(body, anthropicResponseContext())).to.throw(LLMStreamError, message);
    });
  }

  it("allows a missing stop_reason if the vendor's quirks allow it", () => {
    const context = anthropicResponseContext(anthropicContext({ quirks: { allowsNullFinishReason: true } }));
    expect(fromAnthropic({ ...MESSAGE, stop_reason: null }, context)).to.deep.include({ status: 'completed' });
  });

  it('throws the error of a body with status 200', () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_9' };
    expect(() => fromAnthropic(body, anthropicResponseContext()))
      .to.throw(LLMOverloadedError, 'Overloaded')
      .with.property('requestId', 'req_1');
    expect(() => fromAnthropic(body, anthropicResponseContext()))
      .to.throw(LLMError)
      .with.property('vendor', 'anthropic');
  });
});
