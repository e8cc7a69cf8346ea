/** The rules for converting requests to the chat wire. */
import { expect } from 'chai';
import { toChatCompletions } from '../../../../../../imports/business/ai/infrastructure/converters/chat/ChatCompletionsConverter';
import { UnsupportedFeatureError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { NormalizedOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type {
  InputContent,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type {
  JsonObject,
  VendorName,
  VendorQuirks,
} from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { chatContext } from '../../../../../support/chatRecordings';
import { chatViolations } from '../../../../../support/publishedSchemas';

const IMAGE = 'data:image/png;base64,AA==';

function user(...content: readonly (string | InputContent)[]): MessageItem {
  return {
    type: 'message',
    role: 'user',
    content: content.map((part) => (typeof part === 'string' ? { type: 'input_text', text: part } : part)),
  };
}
function assistantText(text: string): MessageItem {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] };
}
function call(call_id: string, args = '{}'): InputItem {
  return { type: 'function_call', call_id, name: 'look', arguments: args };
}
function gave(call_id: string, output: string | readonly InputContent[]): InputItem {
  return { type: 'function_call_output', call_id, output };
}

interface Sent {
  readonly body: JsonObject;
  readonly messages: readonly JsonObject[];
  readonly warnings: readonly string[];
  readonly losses: readonly { readonly path: string; readonly what: string }[];
}

/** The request that is sent; every body is checked against the vendor's schema. */
function sent(
  options: Partial<NormalizedOptions>,
  vendor: VendorName = 'openai',
  quirks: Partial<VendorQuirks> = {},
  stream = false,
): Sent {
  const fullOptions = { model: 'a-model', input: [user('hi')], ...options };
  const { body, warnings, losses } = toChatCompletions(fullOptions, chatContext(vendor, quirks), stream);
  expect(chatViolations(vendor, body)).to.equal('');
  return { body, messages: body.messages as readonly JsonObject[], warnings, losses };
}

function refused(
  options: Partial<NormalizedOptions>,
  vendor: VendorName = 'openai',
  quirks: Partial<VendorQuirks> = {},
): UnsupportedFeatureError {
  try {
    toChatCompletions({ model: 'a-model', input: [user('hi')], ...options }, chatContext(vendor, quirks), false);
  } catch (error) {
    if (error instanceof UnsupportedFeatureError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('toChatCompletions', () => {
  describe('messages', () => {
    it("sends the instructions first, in the vendor's role for them", () => {
      expect(sent({ instructions: 'be brief' }).messages[0]).to.deep.equal({ role: 'developer', content: 'be brief' });
      expect(sent({ instructions: 'be brief' }, 'groq').messages[0]).to.deep.equal({
        role: 'system',
        content: 'be brief',
      });
    });

    it('leaves system messages in place, and renames only the newer role', () => {
      const input: InputItem[] = [
        user('a'),
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'b' }] },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'c' }] },
      ];
      expect(sent({ input }).messages.map(({ role }) => role)).to.deep.equal(['user', 'developer', 'system']);
      expect(sent({ input }, 'grok').messages.map(({ role }) => role)).to.deep.equal(['user', 'system', 'system']);
    });

    it('rejects images in system messages', () => {
      const input: InputItem[] = [
        { type: 'message', role: 'system', content: [{ type: 'input_image', image_url: IMAGE }] },
      ];
      expect(refused({ input }).path).to.equal('input[0]');
    });

    it('sends images by data URI or URL, with their detail', () => {
      const input = [
        user(
          'see',
          { type: 'input_image', image_url: 'https://a.example/i.png', detail: 'low' },
          { type: 'input_image', image_url: IMAGE },
        ),
      ];
      expect(sent({ input }).messages[0]?.content).to.deep.equal([
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'https://a.example/i.png', detail: 'low' } },
        { type: 'image_url', image_url: { url: IMAGE } },
      ]);
    });

    it('rejects image URLs that the vendor does not fetch, and images by file id', () => {
      const byUrl = [user({ type: 'input_image', image_url: 'https://a.example/i.png' })];
      expect(refused({ input: byUrl }, 'openai_compatible', { fetchesImageUrls: false }))
        .to.include({ path: 'input[0].content[0]' })
        .and.match(/inline this one/);
      expect(refused({ input: [user('x', { type: 'input_image', file_id: 'f' })] }).path).to.equal(
        'input[0].content[1]',
      );
    });

    it('sends files by id or data, audio as audio, and rejects files by URL', () => {
      const input = [
        user(
          { type: 'input_file', file_id: 'f1' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'QQ==' },
          { type: 'input_file', file_data: 'data:audio/mpeg;base64,QUI=' },
        ),
      ];
      expect(sent({ input }).messages[0]?.content).to.deep.equal([
        { type: 'file', file: { file_id: 'f1' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' } },
        { type: 'input_audio', input_audio: { data: 'QUI=', format: 'mp3' } },
      ]);
      expect(refused({ input: [user({ type: 'input_file', file_url: 'https://a.example/a.pdf' })] }).message).to.match(
        /inline the file/,
      );
      expect(refused({ input: [user({ type: 'input_file', file_id: 'f1' })] }, 'groq').message).to.match(
        /does not accept files/,
      );
      expect(refused({ input: [user({ type: 'input_file', file_data: 'QQ==' })] }).message).to.match(/filename/);
    });

    it('joins the text and calls of one turn, but nothing across turns', () => {
      const input = [
        user('a'),
        assistantText('I look'),
        call('c1'),
        assistantText('and again'),
        call('c2'),
        gave('c1', '1'),
        gave('c2', '2'),
        assistantText('done'),
        user('b'),
        assistantText('yes'),
      ];
      expect(sent({ input }).messages).to.deep.equal([
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: 'I look\n\nand again',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } },
            { id: 'c2', type: 'function', function: { name: 'look', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '1' },
        { role: 'tool', tool_call_id: 'c2', content: '2' },
        { role: 'assistant', content: 'done' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: 'yes' },
      ]);
    });

    it('writes no content with calls alone, but always their arguments', () => {
      const [, message] = sent({ input: [user('a'), call('c1', ''), gave('c1', '')] }).messages;
      expect(message).to.deep.equal({
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      });
    });

    it('omits an empty assistant message', () => {
      expect(
        sent({ input: [user('a'), { type: 'message', role: 'assistant', content: [] }, user('b')] }).messages,
      ).to.have.length(2);
    });

    it("writes another vendor's refusal as text", () => {
      const input: InputItem[] = [
        user('a'),
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      ];
      expect(sent({ input }).messages[1]).to.deep.equal({ role: 'assistant', content: 'No.' });
    });

    it('adds a result to a call without one, and reports it as lost', () => {
      const { messages, losses } = sent({ input: [user('a'), call('c1'), user('b')] });
      expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'user']);
      expect(losses).to.have.length(1);
    });

    it('shortens rejected call ids consistently for call and result', () => {
      const id = 'x'.repeat(60);
      const { messages } = sent({ input: [user('a'), call(id), gave(id, 'ok')] });
      const [called] = messages[1]?.tool_calls as readonly { readonly id: string }[];
      expect(called?.id).to.have.length.at.most(40);
      expect(messages[2]?.tool_call_id).to.equal(called?.id);
    });

    it('keeps call ids of any length for hosts that are not known to reject them', () => {
      const id = `call_${'x'.repeat(45)}`;
      for (const vendor of ['grok', 'groq', 'llama', 'openai_compatible'] as const) {
        const { messages } = sent({ input: [user('a'), call(id), gave(id, 'ok')] }, vendor);
        expect(messages[1], vendor).to.have.nested.property('tool_calls[0].id', id);
        expect(messages[2], vendor).to.include({ tool_call_id: id });
      }
      const limited = sent({ input: [user('a'), call(id), gave(id, 'ok')] }, 'openai_compatible', {
        maxCallIdLength: 40,
      });
      expect(limited.messages[2]?.tool_call_id).to.have.length.at.most(40);
    });
  });

  describe('tool results', () => {
    const image: InputContent = { type: 'input_image', image_url: IMAGE };
    const text: InputContent = { type: 'input_text', text: 'seen' };

    it('sends text, in one part or several', () => {
      expect(sent({ input: [user('a'), call('c1'), gave('c1', [text])] }).messages[2]?.content).to.equal('seen');
      expect(sent({ input: [user('a'), call('c1'), gave('c1', [text, text])] }).messages[2]?.content).to.deep.equal([
        { type: 'text', text: 'seen' },
        { type: 'text', text: 'seen' },
      ]);
    });

    it('sends images if the vendor accepts them', () => {
      expect(
        sent({ input: [user('a'), call('c1'), gave('c1', [text, image])] }, 'grok').messages[2]?.content,
      ).to.deep.equal([
        { type: 'text', text: 'seen' },
        { type: 'image_url', image_url: { url: IMAGE } },
      ]);
    });

    it('otherwise sends images after all results of the turn', () => {
      const { messages } = sent({
        input: [user('a'), call('c1'), call('c2'), gave('c1', [text, image]), gave('c2', 'ok'), assistantText('done')],
      });
      expect(messages.map(({ role }) => role)).to.deep.equal([
        'user',
        'assistant',
        'tool',
        'tool',
        'user',
        'assistant',
      ]);
      expect(messages[2]?.content).to.match(/^seen\n\[An attachment follows/);
      expect(messages[4]?.content).to.deep.equal([
        { type: 'text', text: 'Attached to the result of the tool call c1:' },
        { type: 'image_url', image_url: { url: IMAGE } },
      ]);
    });

    it('sends late results as user messages', () => {
      const acknowledged: InputItem = {
        type: 'function_call_output',
        call_id: 'c1',
        output: 'accepted',
        status: 'in_progress',
      };
      const late: InputItem = { type: 'function_call_output', call_id: 'c1', output: '{"n":1}', deferred: true };
      const { messages } = sent({ input: [user('a'), call('c1'), acknowledged, assistantText('wait'), late] });
      expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'assistant', 'user']);
      expect(messages[4]?.content).to.match(/^<tool_result call_id="c1"/);
    });

    it('sends results of custom calls like any other', () => {
      const custom: InputItem = { type: 'custom_tool_call', call_id: 'c1', name: 'sh', input: 'ls' };
      const output: InputItem = { type: 'custom_tool_call_output', call_id: 'c1', output: 'a b' };
      expect(sent({ input: [user('a'), custom, output] }, 'groq').messages.slice(1)).to.deep.equal([
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'sh', arguments: '{"input":"ls"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a b' },
      ]);
    });
  });

  describe('reasoning', () => {
    function thought(vendor: string, fields: readonly string[], model = 'a-model'): ReasoningItem {
      return {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'hm' }],
        origin: { wire: 'chat_completions', vendor, model },
        vendor: { openai: { from: vendor, reasoning_fields: fields } },
      };
    }

    it('sends reasoning back to the model that wrote it, in its field', () => {
      const input = [user('a'), thought('groq', ['reasoning']), call('c1'), gave('c1', 'ok')];
      expect(sent({ input }, 'groq').messages[1]).to.include({ role: 'assistant', reasoning: 'hm' });
    });

    it('sends it to no other vendor, model or wire, and reports it as lost', () => {
      const sealed: ReasoningItem = {
        type: 'reasoning',
        summary: [],
        encrypted_content: 'sealed',
        origin: { wire: 'responses', vendor: 'groq', model: 'a-model' },
      };
      for (const item of [thought('openai', ['reasoning']), thought('groq', ['reasoning'], 'b-model'), sealed]) {
        const { messages, losses } = sent({ input: [user('a'), item, assistantText('yes')] }, 'groq');
        expect(messages[1]).to.deep.equal({ role: 'assistant', content: 'yes' });
        expect(losses).to.deep.include.members([
          { path: 'input[1]', what: 'reasoning', reason: 'It was created by another model, vendor or wire.' },
        ]);
      }
    });

    it('omits it if the vendor rejects its field', () => {
      const { messages, losses } = sent(
        { input: [user('a'), thought('groq', ['reasoning_content']), assistantText('yes')] },
        'groq',
      );
      expect(messages[1]).to.deep.equal({ role: 'assistant', content: 'yes' });
      expect(losses.map(({ what }) => what)).to.deep.equal(['reasoning']);
    });
  });

  describe('content that only other wires support', () => {
    it('omits it and reports it as lost', () => {
      const input: InputItem[] = [
        user('a'),
        { type: 'web_search_call', id: 'ws_1' },
        { type: 'vendor_item', origin: { wire: 'gemini' }, item: {} },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', url: 'u' }] }],
        },
      ];
      const { losses } = sent({ input });
      expect(losses.map(({ path, what }) => `${path} ${what}`)).to.deep.equal([
        'input[1] web_search_call',
        'input[2] vendor_item',
        'input[3].content[0] annotations',
      ]);
    });

    it('rejects it if the conversation would change without it', () => {
      expect(refused({ input: [{ type: 'compaction', encrypted_content: 'x' }] }).path).to.equal('input[0]');
      expect(refused({ input: [{ type: 'item_reference', id: 'x' }] }).path).to.equal('input[0]');
      expect(refused({ previous_response_id: 'resp_1' }).path).to.equal('previous_response_id');
    });

    it('sends an image of the assistant in a user message', () => {
      const input: InputItem[] = [
        user('draw'),
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'Here.', annotations: [] },
            { type: 'input_image', image_url: IMAGE },
          ],
        },
        user('now blue'),
      ];
      expect(sent({ input }).messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'user']);
    });
  });

  describe('passthrough fields', () => {
    const prefixed: InputItem = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'a' }],
      vendor: { openai: { name: 'bob' } },
    };

    it("merges them, the vendor's own over its wire's", () => {
      const { body } = sent(
        { temperature: 1, vendor: { openai: { seed: 1, temperature: 0.5 }, grok: { seed: 2, deferred: true } } },
        'grok',
      );
      expect(body).to.include({ seed: 2, temperature: 0.5, deferred: true });
    });

    it('sends those of a message, unless they came from another vendor', () => {
      expect(sent({ input: [prefixed] }).messages[0]).to.deep.equal({ role: 'user', content: 'a', name: 'bob' });
      const foreign: InputItem = {
        ...assistantText('x'),
        vendor: { openai: { from: 'openai_compatible', message: { reasoning_details: [] } } },
      };
      const { messages, losses } = sent({ input: [user('a'), foreign] });
      expect(messages[1]).to.deep.equal({ role: 'assistant', content: 'x' });
      expect(losses.map(({ what }) => what)).to.deep.equal(['reasoning_details']);
    });

    it('omits those that the vendor rejects, with a warning', () => {
      const { messages, losses } = sent({ input: [prefixed] }, 'groq');
      expect(messages[0]).to.deep.equal({ role: 'user', content: 'a' });
      expect(losses).to.have.length(1);
      const { body, warnings } = sent(
        { store: false, vendor: { openai: { logit_bias: { 1: 1 }, top_logprobs: null } } },
        'groq',
      );
      expect(body).to.have.all.keys('model', 'messages');
      expect(warnings).to.have.length(2);
    });

    it('does not let them decide about streaming', () => {
      const { body } = sent({
        vendor: { openai: { stream: true, stream_options: { include_usage: false, include_obfuscation: false } } },
      });
      expect(body).to.not.have.any.keys('stream', 'stream_options');
      expect(
        sent(
          { vendor: { openai: { stream_options: { include_usage: false, include_obfuscation: false } } } },
          'openai',
          {},
          true,
        ).body,
      ).to.deep.include({
        stream: true,
        stream_options: { include_usage: true, include_obfuscation: false },
      });
    });
  });

  describe('options', () => {
    it('limits the output in the field that the vendor has', () => {
      expect(sent({ max_output_tokens: 7 }).body.max_completion_tokens).to.equal(7);
      expect(sent({ max_output_tokens: 7 }, 'openai_compatible').body.max_tokens).to.equal(7);
    });

    it('requests usage if the vendor supports it', () => {
      expect(sent({}, 'openai', {}, true).body.stream_options).to.deep.equal({ include_usage: true });
      expect(sent({}, 'groq', {}, true).body.stream_options).to.deep.equal({ include_usage: true });
      expect(sent({}, 'groq', { supportsStreamUsage: false }, true).body).to.have.all.keys(
        'model',
        'messages',
        'stream',
      );
    });

    it('never omits stop sequences', () => {
      expect(sent({ stop: ['a', 'b'] }).body.stop).to.deep.equal(['a', 'b']);
      expect(refused({ stop: ['a', 'b', 'c', 'd', 'e'] }).path).to.equal('stop');
      expect(sent({ stop: ['a', 'b', 'c', 'd'] }, 'openai_compatible').body.stop).to.have.length(4);
    });

    it('sends the nearest supported effort, with a warning', () => {
      expect(sent({ reasoning: { effort: 'minimal' } }).body.reasoning_effort).to.equal('minimal');
      const { body, warnings } = sent({ reasoning: { effort: 'minimal', summary: 'auto' } }, 'groq');
      expect(body.reasoning_effort).to.equal('low');
      expect(warnings).to.have.length(2);
      expect(sent({ reasoning: { effort: 'xhigh' } }, 'groq').body.reasoning_effort).to.equal('high');
      expect(sent({ model: 'grok-3-mini', reasoning: { effort: 'medium' } }, 'grok').body.reasoning_effort).to.equal(
        'high',
      );
    });

    it("sends the efforts of Groq's models", () => {
      // `reasoning_effort` in groq-sdk
      const asked = (model: string, effort: string): unknown =>
        sent({ model, reasoning: { effort } }, 'groq').body.reasoning_effort;
      expect(['none', 'low', 'high'].map((effort) => asked('qwen/qwen3-32b', effort))).to.deep.equal([
        'none',
        'default',
        'default',
      ]);
      expect(['none', 'default', 'high'].map((effort) => asked('openai/gpt-oss-20b', effort))).to.deep.equal([
        'low',
        'medium',
        'high',
      ]);
    });

    it('omits a temperature that reasoning models of OpenAI refuse', () => {
      for (const vendor of ['openai', 'azure_openai'] as const) {
        const { body, warnings } = sent({ model: 'gpt-5-mini', temperature: 0.2, top_p: 1 }, vendor);
        expect(body).to.include({ top_p: 1 }).and.not.to.have.property('temperature');
        expect(warnings).to.deep.equal([`"temperature" was omitted: ${vendor} has only 1 for "gpt-5-mini".`]);
        for (const model of ['gpt-5-chat-latest', 'gpt-5.1', 'gpt-4o'])
          expect(sent({ model, temperature: 0.2 }, vendor).body, model).to.include({ temperature: 0.2 });
      }
    });

    it("finds reasoning models in the names of Azure's deployments", () => {
      const temperatureOf = (model: string): unknown =>
        sent({ model, temperature: 0.2 }, 'azure_openai').body.temperature;
      expect(['gpt-5-mini-eu', 'GPT-5-prod', 'o3-batch'].map(temperatureOf)).to.deep.equal([
        undefined,
        undefined,
        undefined,
      ]);
      expect(['gpt-5-1', 'gpt-5-chat-eu', 'gpt-4o-eu'].map(temperatureOf)).to.deep.equal([0.2, 0.2, 0.2]);
    });

    it('omits what a model of the vendor rejects', () => {
      const { body, warnings } = sent({ model: 'grok-4', stop: ['x'], reasoning: { effort: 'low' } }, 'grok');
      expect(body).to.have.all.keys('model', 'messages');
      expect(warnings).to.have.length(2);
      expect(sent({ model: 'grok-4-fast-non-reasoning', stop: ['x'] }, 'grok').body.stop).to.deep.equal(['x']);
      expect(sent({ model: 'grok-4.3', reasoning: { effort: 'none' } }, 'grok').body.reasoning_effort).to.equal('none');
    });

    it('sends metadata only if it is stored', () => {
      expect(sent({ metadata: { a: 'b' }, store: true }).body).to.deep.include({ metadata: { a: 'b' }, store: true });
      expect(sent({ metadata: { a: 'b' } }).warnings).to.have.length(1);
      expect(sent({ metadata: { a: 'b' } }).body).to.not.have.property('metadata');
    });

    it('passes user and sampling options through', () => {
      expect(sent({ user: 'u', temperature: 0, top_p: 0.1 }).body).to.include({
        user: 'u',
        temperature: 0,
        top_p: 0.1,
      });
    });
  });

  describe('tools', () => {
    const tools = [
      {
        type: 'function',
        name: 'look',
        description: 'Looks',
        parameters: { type: 'object' },
        strict: true,
        blocking: false,
      },
      { type: 'function', name: 'go' },
    ] as const;

    it('nests functions, without fields that are reserved for the domain model', () => {
      expect(sent({ tools }).body.tools).to.deep.equal([
        {
          type: 'function',
          function: { name: 'look', description: 'Looks', parameters: { type: 'object' }, strict: true },
        },
        { type: 'function', function: { name: 'go' } },
      ]);
    });

    it('omits strict if the vendor does not support it', () => {
      const { body, warnings } = sent({ tools }, 'openai_compatible', { supportsStrictTools: false });
      expect(JSON.stringify(body)).to.not.match(/strict/);
      expect(warnings).to.have.length(1);
    });

    it('converts every form of tool choice', () => {
      expect(sent({ tools, tool_choice: 'required' }).body.tool_choice).to.equal('required');
      expect(sent({ tools, tool_choice: { type: 'function', name: 'go' } }).body.tool_choice).to.deep.equal({
        type: 'function',
        function: { name: 'go' },
      });
      const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'go' }] } as const;
      expect(sent({ tools, tool_choice: allowed }).body.tool_choice).to.deep.equal({
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'go' } }] },
      });
    });

    it('omits the choice if there are no tools', () => {
      expect(sent({ tool_choice: 'required', parallel_tool_calls: true }).body).to.have.all.keys('model', 'messages');
    });

    it('offers only the allowed tools if the vendor has no such choice', () => {
      const { body, warnings } = sent(
        { tools, tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'go' }] } },
        'groq',
      );
      expect(body.tool_choice).to.equal('auto');
      expect(body.tools).to.deep.equal([{ type: 'function', function: { name: 'go' } }]);
      expect(warnings).to.have.length(1);
    });

    it('sends parallel_tool_calls only with tools', () => {
      expect(sent({ tools, parallel_tool_calls: false }).body.parallel_tool_calls).to.equal(false);
      expect(sent({ parallel_tool_calls: false }).body).to.not.have.property('parallel_tool_calls');
      expect(
        sent({ tools, parallel_tool_calls: false }, 'openai_compatible', { supportsParallelToolCalls: false }).warnings,
      ).to.have.length(1);
    });

    it("enables built-in tools in the vendor's own way", () => {
      const search = [
        { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Rome' } },
      ] as const;
      expect(sent({ model: 'gpt-4o-search-preview', tools: search }).body.web_search_options).to.deep.equal({
        search_context_size: 'low',
        user_location: { type: 'approximate', approximate: { city: 'Rome' } },
      });
      expect(sent({ model: 'openai/gpt-oss-20b', tools: search }, 'groq').body.tools).to.deep.equal([
        { type: 'browser_search' },
      ]);
      expect(
        sent({ model: 'groq/compound', tools: [{ type: 'web_search' }, { type: 'code_interpreter' }] }, 'groq').body
          .compound_custom,
      ).to.deep.equal({ tools: { enabled_tools: ['web_search', 'code_interpreter'] } });
    });

    it('rejects built-in tools that the vendor does not have', () => {
      expect(refused({ model: 'gpt-4o', tools: [{ type: 'web_search' }] }).path).to.equal('tools[0]');
      expect(refused({ model: 'grok-4', tools: [{ type: 'web_search' }] }, 'grok').path).to.equal('tools[0]');
      expect(refused({ tools: [...tools], tool_choice: { type: 'web_search' } }).path).to.equal('tool_choice');
    });
  });

  describe('structured output', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema', schema, strict: true } as const;

    it('keeps defaults in strict schemas for OpenAI, but not for Azure, which rejects them', () => {
      const withDefault = { ...schema, properties: { a: { type: 'integer', default: 1 } } };
      const sentTo = (vendor: VendorName): unknown =>
        sent({ response_format: { ...format, schema: withDefault } }, vendor).body.response_format;
      expect(sentTo('openai')).to.have.deep.nested.property('json_schema.schema', withDefault);
      expect(sentTo('azure_openai')).to.have.deep.nested.property('json_schema.schema', schema);
    });

    it('keeps optional properties in strict schemas for xAI, which takes them as they are', () => {
      const withOptional = { ...schema, properties: { a: { type: 'integer' }, b: { type: 'string' } } };
      const sentTo = (vendor: VendorName): unknown =>
        sent({ response_format: { ...format, schema: withOptional } }, vendor).body.response_format;
      expect(sentTo('grok')).to.have.deep.nested.property('json_schema.schema', withOptional);
      expect(sentTo('openai')).to.have.deep.nested.property('json_schema.schema.required', ['a', 'b']);
    });

    it('keeps tuples in strict schemas for OpenAI alone', () => {
      const pair = { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], items: { type: 'string' } };
      const withTuple = { ...schema, properties: { a: pair } };
      const sentTo = (vendor: VendorName): unknown =>
        sent({ response_format: { ...format, schema: withTuple } }, vendor).body.response_format;
      expect(sentTo('openai')).to.have.deep.property('json_schema', {
        name: 'response',
        schema: withTuple,
        strict: true,
      });
      expect(sentTo('azure_openai')).to.have.deep.property('json_schema', { name: 'response', schema: withTuple });
    });

    it("uses the vendor's own format, with a name", () => {
      expect(sent({ response_format: format }).body.response_format).to.deep.equal({
        type: 'json_schema',
        json_schema: { name: 'response', schema, strict: true },
      });
      expect(sent({ response_format: { type: 'json_object' } }).body.response_format).to.deep.equal({
        type: 'json_object',
      });
    });

    it('mentions JSON with json_object, because vendors reject it otherwise', () => {
      expect(sent({ response_format: { type: 'json_object' } }).messages[0]).to.deep.equal({
        role: 'developer',
        content: 'Answer with one JSON object, without code fences and without any other text.',
      });
      expect(
        sent({ response_format: { type: 'json_object' }, instructions: 'Give JSON.' }).messages[0]?.content,
      ).to.equal('Give JSON.');
      expect(sent({ response_format: { type: 'json_object' }, input: [user('x', 'as json')] }).messages).to.have.length(
        1,
      );
    });

    it('requests JSON, and the schema in the prompt, if the vendor enforces no schema', () => {
      const { body, messages, losses } = sent({ instructions: 'be brief', response_format: format }, 'groq');
      expect(body.response_format).to.deep.equal({ type: 'json_object' });
      expect(messages[0]?.content).to.match(/^be brief\n\nGive the final answer as JSON[\s\S]*"integer"/);
      expect(losses).to.deep.equal([
        {
          path: 'response_format',
          what: 'enforcement of json_schema',
          reason: 'groq does not support this format; it was requested in the prompt instead.',
        },
      ]);
    });

    it('requests it only in the prompt if the vendor has no format, or none together with tools', () => {
      const { body, messages } = sent({ response_format: format }, 'openai_compatible', { structuredOutput: 'none' });
      expect(body).to.not.have.property('response_format');
      expect(messages[0]?.role).to.equal('system');
      const beside = sent(
        { model: 'openai/gpt-oss-120b', response_format: format, tools: [{ type: 'function', name: 'go' }] },
        'groq',
      );
      expect(beside.body).to.not.have.property('response_format');
      expect(beside.losses).to.have.length(1);
      expect(
        sent({ model: 'openai/gpt-oss-120b', response_format: format }, 'groq').body.response_format,
      ).to.have.property('type', 'json_schema');
    });
  });
});
