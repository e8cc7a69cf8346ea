/** The rules for converting chat completions to responses. */
import { expect } from 'chai';
import {
  fromChatCompletions,
  toChatCompletions,
} from '../../../../../../imports/business/ai/infrastructure/converters/chat/ChatCompletionsConverter';
import {
  LLMError,
  LLMRateLimitError,
  LLMStreamError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { writeChatCompletions } from '../../../../../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import type { LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { chatContext, chatResponseContext } from '../../../../../support/chatRecordings';

const THOUGHT = {
  type: 'thinking',
  thinking: [
    { type: 'text', text: 'hm, ' },
    { type: 'text', text: 'well' },
  ],
  closed: true,
};
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function completion(message: JsonObject, choice: JsonObject = {}, fields: JsonObject = {}): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'a-model-2025-01-01',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice }],
    usage: USAGE,
    ...fields,
  };
}

function read(
  message: JsonObject,
  choice: JsonObject = {},
  fields: JsonObject = {},
  context = chatResponseContext(),
): LLMResponse {
  return fromChatCompletions(completion(message, choice, fields), context);
}

function call(fields: JsonObject): JsonObject {
  return { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' }, ...fields };
}

/** The assistant message that is sent back with the next request. */
function replayed(response: LLMResponse, model = 'asked-model'): JsonObject {
  const { body } = toChatCompletions(
    {
      model,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] }, ...response.output],
    },
    chatContext('openai'),
    false,
  );
  return (body.messages as readonly JsonObject[])[1] ?? {};
}

describe('fromChatCompletions', () => {
  describe('status', () => {
    const ENDS = [
      ['stop', 'completed', undefined],
      ['tool_calls', 'completed', undefined],
      ['function_call', 'completed', undefined],
      ['length', 'incomplete', 'max_output_tokens'],
      ['content_filter', 'incomplete', 'content_filter'],
      // Together
      ['eos', 'completed', undefined],
      // Z.ai: https://docs.z.ai/api-reference/llm/chat-completion
      ['sensitive', 'incomplete', 'content_filter'],
      ['model_context_window_exceeded', 'incomplete', 'max_output_tokens'],
    ] as const;
    for (const [word, status, reason] of ENDS) {
      it(`is ${status} for ${word}${reason === undefined ? '' : `, because of ${reason}`}`, () => {
        const response = read({ content: 'x' }, { finish_reason: word });
        expect(response).to.include({ status });
        expect(response.incomplete_details?.reason).to.equal(reason);
        expect(response.vendor.finish_reason).to.equal(word);
        expect(response.vendor.warnings).to.deep.equal([]);
        expect(response.output[0]).to.have.property('status', status);
      });
    }

    it('treats an unknown finish reason as completed, preserves it and warns', () => {
      const response = read({ content: 'x' }, { finish_reason: 'toString' });
      expect(response.status).to.equal('completed');
      expect(response.vendor.finish_reason).to.equal('toString');
      expect(response.vendor.warnings).to.deep.equal([
        'Unknown finish_reason "toString"; the response was treated as completed.',
      ]);
    });

    it('treats a missing finish reason as completed and warns', () => {
      const response = read({ content: 'x' }, { finish_reason: null });
      expect(response).to.include({ status: 'completed' });
      expect(response.vendor).to.include({ finish_reason: null });
      expect(response.vendor.warnings).to.have.length(1);
    });

    for (const message of [undefined, null])
      it(`is incomplete for content_filter with ${String(message)} as the message, as Azure sends it`, () => {
        const choice = { index: 0, message, finish_reason: 'content_filter', content_filter_results: {} };
        const response = fromChatCompletions({ ...completion({}), choices: [choice] }, chatResponseContext());
        expect(response).to.deep.include({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
        expect(response).to.include({ output_text: '' }).and.have.nested.property('usage.total_tokens', 15);
        expect(response.vendor.warnings).to.deep.equal([]);
      });

    it('treats a message with a refusal as filtered, whatever its finish reason', () => {
      const response = read({ content: null, refusal: 'No.' });
      expect(response).to.deep.include({
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
        output_text: '',
      });
      expect(response.vendor.finish_reason).to.equal('stop');
      expect(replayed(response)).to.deep.equal({ role: 'assistant', content: null, refusal: 'No.' });
    });
  });

  describe('items', () => {
    it('are reasoning, text and calls, in this order', () => {
      const { output } = read({
        content: 'I look',
        reasoning_content: 'hm',
        tool_calls: [call({}), call({ id: 'call_2' })],
      });
      expect(output.map(({ type }) => type)).to.deep.equal(['reasoning', 'message', 'function_call', 'function_call']);
      expect(output[0]).to.deep.equal({
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'hm' }],
        status: 'completed',
        origin: { wire: 'chat_completions', vendor: 'openai', model: 'asked-model' },
        vendor: { openai: { from: 'openai', reasoning_fields: ['reasoning_content'] } },
      });
    });

    it('contain reasoning once if it came in two fields', () => {
      const response = read({ content: 'x', reasoning_content: 'hm', reasoning: 'hm' });
      expect(response.output).to.have.length(2);
      expect(replayed(response)).to.deep.include({ reasoning_content: 'hm', reasoning: 'hm' });
    });

    it('contain no message if there are only calls', () => {
      for (const content of [null, '']) {
        const response = read({ content, tool_calls: [call({})] });
        expect(response.output.map(({ type }) => type)).to.deep.equal(['function_call']);
        expect(replayed(response)).to.deep.equal({ role: 'assistant', content, tool_calls: [call({})] });
      }
      expect(replayed(read({ tool_calls: [call({})] }))).to.deep.equal({ role: 'assistant', tool_calls: [call({})] });
    });

    it('contain an empty message if there is nothing else', () => {
      expect(read({ content: null }, { finish_reason: 'length' }).output).to.deep.equal([
        { type: 'message', role: 'assistant', content: [], status: 'incomplete' },
      ]);
      expect(read({ content: '' }).output).to.deep.equal([
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: '', annotations: [] }],
          status: 'completed',
        },
      ]);
    });

    it('have an id for a call without one, and an empty object for missing arguments', () => {
      const { output } = read({
        tool_calls: [{ function: { name: 'look' } }, { id: '', function: { name: 'go', arguments: '' } }],
      });
      expect(output).to.deep.include.members([
        {
          type: 'function_call',
          call_id: 'chatcmpl-1_call_0',
          name: 'look',
          arguments: '{}',
          status: 'completed',
          vendor: { openai: { from: 'openai', message: {} } },
        },
        { type: 'function_call', call_id: 'chatcmpl-1_call_1', name: 'go', arguments: '{}', status: 'completed' },
      ]);
    });

    it('have arguments as text if the vendor sent an object', () => {
      expect(read({ tool_calls: [call({ function: { name: 'look', arguments: { a: 1 } } })] }).output[0]).to.include({
        arguments: '{"a":1}',
      });
    });

    it('contain a call without a name, so that the model can be informed', () => {
      expect(read({ tool_calls: [call({ function: { arguments: '{}' } })] }).output[0]).to.include({
        type: 'function_call',
        name: '',
      });
    });

    it('contain a call in the deprecated form, which is sent back unchanged', () => {
      const response = read(
        { content: null, function_call: { name: 'look', arguments: '{"a":1}' } },
        { finish_reason: 'function_call' },
      );
      expect(response.output[0]).to.include({ type: 'function_call', name: 'look', arguments: '{"a":1}' });
      expect(replayed(response)).to.deep.equal({
        role: 'assistant',
        content: null,
        function_call: { name: 'look', arguments: '{"a":1}' },
      });
    });

    it('contain no call for the empty fields of a host that writes every field', () => {
      const { output } = read({ content: 'x', function_call: { name: '', arguments: '' }, tool_calls: null });
      expect(output.map(({ type }) => type)).to.deep.equal(['message']);
      const written = call({ custom: { name: '', input: '' } });
      expect(read({ content: null, tool_calls: [written] }).output[0]).to.include({
        type: 'function_call',
        name: 'look',
      });
    });

    it('contain custom calls', () => {
      const custom = { id: 'call_1', type: 'custom', custom: { name: 'sh', input: 'ls' } };
      const response = read({ content: null, tool_calls: [custom] });
      expect(response.output[0]).to.include({ type: 'custom_tool_call', call_id: 'call_1', name: 'sh', input: 'ls' });
      expect(replayed(response)).to.deep.equal({ role: 'assistant', content: null, tool_calls: [custom] });
    });

    it('have flat citations', () => {
      const { output } = read({
        content: 'x',
        annotations: [{ type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 0, end_index: 1 } }],
      });
      expect(output[0]).to.deep.include({
        content: [
          {
            type: 'output_text',
            text: 'x',
            annotations: [{ type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 }],
          },
        ],
      });
    });

    it('contain the tools that the vendor ran, before the text', () => {
      const { output } = read({
        content: 'x',
        reasoning: 'hm',
        executed_tools: [{ index: 0, type: 'search', arguments: '{}', output: 'found' }],
      });
      expect(output.map(({ type }) => type)).to.deep.equal(['reasoning', 'vendor_item', 'message']);
      expect(output[1]).to.deep.equal({
        type: 'vendor_item',
        origin: { wire: 'chat_completions', vendor: 'openai', model: 'asked-model' },
        item: { index: 0, type: 'search', arguments: '{}', output: 'found' },
      });
    });

    it('carry fields that only the vendor understands back to it: of the message, of a call, the id of spoken audio', () => {
      const response = read({
        content: 'x',
        reasoning_details: [{ type: 'reasoning.encrypted', data: 's' }],
        audio: { id: 'audio_1', data: 'AAAA' },
        tool_calls: [call({ index: 0, extra_content: { google: { thought_signature: 's' } } })],
      });
      expect(replayed(response)).to.deep.equal({
        role: 'assistant',
        content: 'x',
        reasoning_details: [{ type: 'reasoning.encrypted', data: 's' }],
        audio: { id: 'audio_1' },
        tool_calls: [call({ extra_content: { google: { thought_signature: 's' } } })],
      });
    });

    it('contain the text next to parts of unknown types', () => {
      const parts = [
        { type: 'reference', reference_ids: [1] },
        { type: 'text', text: 'x' },
      ];
      const response = read({ content: parts });
      expect(response.output_text).to.equal('x');
      expect(replayed(response)).to.deep.equal({ role: 'assistant', content: parts });
    });

    for (const [form, content] of Object.entries({
      'before the text': [THOUGHT, { type: 'text', text: 'x' }],
      'of which none is text': [THOUGHT],
      'after the text': [{ type: 'text', text: 'x' }, THOUGHT],
    }))
      it(`contain the reasoning of parts ${form}, which goes back to its model as it came`, () => {
        const response = read({ content });
        expect(response.output[0]).to.deep.include({
          type: 'reasoning',
          content: [{ type: 'reasoning_text', text: 'hm, well' }],
        });
        expect(response.output_text).to.equal(content.length === 1 ? '' : 'x');
        expect(replayed(response)).to.deep.equal({ role: 'assistant', content });
        expect(writeChatCompletions(response)).to.deep.equal(completion({ content }));
      });

    it('keep reasoning of parts from other models, whether calls follow it or text', () => {
      expect(replayed(read({ content: [THOUGHT, { type: 'text', text: 'x' }] }), 'other')).to.deep.equal({
        role: 'assistant',
        content: [{ type: 'text', text: 'x' }],
      });
      const calling = read({ content: [THOUGHT], tool_calls: [call({})] });
      expect(replayed(calling)).to.deep.equal({
        role: 'assistant',
        content: [THOUGHT],
        tool_calls: [call({})],
      });
      expect(replayed(calling, 'other')).to.deep.equal({ role: 'assistant', content: null, tool_calls: [call({})] });
    });

    it('contain structured output that came parsed as its JSON', () => {
      const response = read({ content: { answer: 42 } });
      expect(response.output_text).to.equal('{"answer":42}');
      expect(response.vendor.warnings).to.deep.equal([]);
      expect(replayed(response)).to.deep.equal({ role: 'assistant', content: '{"answer":42}' });
    });
  });

  describe('several choices', () => {
    it('uses the first one and warns about the others', () => {
      const body = completion({ content: 'x' });
      const response = fromChatCompletions(
        {
          ...body,
          choices: [
            ...(body.choices as readonly JsonObject[]),
            { index: 1, message: { content: 'y' } },
            { message: { content: 'z' } },
          ],
        },
        chatResponseContext(),
      );
      expect(response.output_text).to.equal('x');
      expect(response.vendor.warnings).to.deep.equal([
        'The response has 3 choices; only the first was used. Ignored: 1, 2.',
      ]);
    });
  });

  describe('usage', () => {
    it('counts the cached tokens of a vendor that reports them beside the details', () => {
      const usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
      for (const [reported, cached_tokens] of [
        // DeepSeek: https://api-docs.deepseek.com/guides/kv_cache
        [{ prompt_cache_hit_tokens: 64 }, 64],
        [{ prompt_cache_hit_tokens: 64, prompt_tokens_details: { cached_tokens: 32 } }, 32],
        // Moonshot: https://platform.moonshot.ai/docs/api/chat
        [{ cached_tokens: 48 }, 48],
        // Mistral's older models: https://github.com/vercel/ai/blob/main/packages/mistral/src/convert-mistral-usage.ts
        [{ num_cached_tokens: 16 }, 16],
      ] as const)
        expect(
          read({ content: 'x' }, {}, { usage: { ...usage, ...reported } }).usage.input_tokens_details,
        ).to.deep.equal({ cached_tokens, cache_write_tokens: 0 });
    });

    it("counts what was written to Model Studio's cache", () => {
      // https://www.alibabacloud.com/help/en/model-studio/context-cache
      const prompt_tokens_details = { cached_tokens: 3, cache_creation_input_tokens: 5 };
      expect(
        read({ content: 'x' }, {}, { usage: { ...USAGE, prompt_tokens_details } }).usage.input_tokens_details,
      ).to.deep.equal({ cached_tokens: 3, cache_write_tokens: 5 });
    });

    it('has the cost that Perplexity reports with its parts', () => {
      // https://docs.perplexity.ai/api-reference/chat-completions-post
      const cost = { input_tokens_cost: 0.0001, output_tokens_cost: 0.0002, request_cost: 0.005, total_cost: 0.0053 };
      expect(read({ content: 'x' }, {}, { usage: { ...USAGE, cost } }).vendor).to.include({ cost: 0.0053 });
    });

    it("counts cached and reasoning tokens, and preserves the vendor's own usage", () => {
      const usage = {
        ...USAGE,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
        queue_time: 0.1,
      };
      const response = read({ content: 'x' }, {}, { usage });
      expect(response.usage).to.deep.equal({
        input_tokens: 10,
        output_tokens: 5,
        total_tokens: 15,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        output_tokens_details: { reasoning_tokens: 3 },
      });
      expect(response.vendor.usage).to.deep.equal(usage);
    });

    it('adds reasoning tokens if the vendor excludes them from the completion', () => {
      const usage = {
        prompt_tokens: 137,
        completion_tokens: 7,
        total_tokens: 270,
        completion_tokens_details: { reasoning_tokens: 126 },
      };
      expect(read({ content: 'x' }, {}, { usage }, chatResponseContext('grok')).usage).to.include({
        input_tokens: 137,
        output_tokens: 133,
        total_tokens: 270,
      });
      expect(
        read({ content: 'x' }, {}, { usage: { ...usage, completion_tokens: 133 } }, chatResponseContext('grok')).usage
          .output_tokens,
      ).to.equal(133);
      expect(read({ content: 'x' }, {}, { usage }).usage.output_tokens).to.equal(7);
    });

    it('is zero if the vendor reports none, with a warning', () => {
      const response = read({ content: 'x' }, {}, { usage: null });
      expect(response.usage.total_tokens).to.equal(0);
      expect(response.vendor.warnings).to.deep.equal(['openai reported no usage; its tokens count as zero.']);
    });
  });

  describe('missing fields', () => {
    it('are taken from the request: model, time, id', () => {
      const bare = { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], usage: USAGE };
      expect(fromChatCompletions(bare, chatResponseContext('openai', { requestId: 'req_1' }))).to.include({
        id: 'req_1',
        model: 'asked-model',
        created_at: 1_760_000_000,
      });
    });

    it('includes the losses of the request', () => {
      const context = chatResponseContext('openai', {
        warnings: ['w'],
        losses: [{ path: 'p', what: 'x', reason: 'r' }],
      });
      expect(read({ content: 'x' }, {}, {}, context).vendor).to.deep.include({
        warnings: ['w'],
        losses: [{ path: 'p', what: 'x', reason: 'r' }],
      });
    });
  });

  describe('invalid bodies', () => {
    const BROKEN = [
      ['<!doctype html><title>502</title>', /an HTML or XML page/],
      ['Bad Gateway', /plain text/],
      ['', /empty/],
      [undefined, /empty/],
      [null, /null/],
      [[], /an array/],
      [7, /a number/],
      [{ id: 'x' }, /no "choices"/],
      [{ choices: [] }, /no "choices"/],
      [{ choices: ['x'] }, /first choice is not an object/],
      [{ choices: [{ finish_reason: 'stop' }] }, /no "message"/],
    ] as const;
    for (const [body, what] of BROKEN) {
      it(`are rejected: ${JSON.stringify(body)}`, () => {
        expect(() => fromChatCompletions(body, chatResponseContext())).to.throw(LLMStreamError, what);
      });
    }

    it('includes a vendor error with status 200, or inside a choice', () => {
      const error = { message: 'Rate limit reached', type: 'tokens', code: 'rate_limit_exceeded' };
      expect(() => fromChatCompletions({ error }, chatResponseContext())).to.throw(
        LLMRateLimitError,
        'Rate limit reached',
      );
      expect(() =>
        fromChatCompletions({ choices: [{ error, message: { content: '' } }] }, chatResponseContext()),
      ).to.throw(LLMRateLimitError);
      // MiniMax: https://platform.minimax.io/docs/api-reference/errorcode
      const limited = { choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } };
      expect(() => fromChatCompletions(limited, chatResponseContext())).to.throw(LLMRateLimitError, 'rate limit');
      const fine = { ...completion({ content: 'x' }), base_resp: { status_code: 0, status_msg: '' } };
      expect(fromChatCompletions(fine, chatResponseContext()).output_text).to.equal('x');
      expect(() =>
        fromChatCompletions({ code: 'x', error: 'Incorrect API key provided' }, chatResponseContext('grok')),
      ).to.throw(LLMError, 'Incorrect API key');
      expect(
        fromChatCompletions({ ...completion({ content: 'x' }), error: null }, chatResponseContext()).output_text,
      ).to.equal('x');
    });
  });
});
