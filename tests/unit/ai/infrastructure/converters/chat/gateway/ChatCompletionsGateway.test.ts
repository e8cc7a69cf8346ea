/** Reading clients' chat completions requests, and writing responses of any vendor. */
import { expect } from 'chai';
import {
  readChatCompletionsRequest,
  writeChatCompletions,
} from '../../../../../../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import { LLMInvalidRequestError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type {
  InputFile,
  LLMResponse,
  MessageItem,
  OutputContent,
  OutputItem,
} from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import { toChatCompletions } from '../../../../../../../imports/business/ai/infrastructure/converters/chat/ChatCompletionsConverter';
import { chatCompletionsWire } from '../../../../../../../imports/business/ai/infrastructure/converters/chat/chatCompletionsWire';
import { chatContext } from '../../../../../../support/chatRecordings';
import { response } from '../../../../../../../imports/testing/responses';

const messages = [{ role: 'user', content: 'hi' }];

function write(output: readonly OutputItem[], fields: Partial<LLMResponse> = {}): JsonObject {
  return writeChatCompletions(response({ output, ...fields }));
}

function choiceOf(body: JsonObject): { readonly message: JsonObject; readonly finish_reason: string } {
  const [choice] = body.choices as readonly { readonly message: JsonObject; readonly finish_reason: string }[];
  return choice!;
}

describe('readChatCompletionsRequest', () => {
  it('reads every option with a domain equivalent', () => {
    const request = {
      model: 'm',
      messages,
      stream: true,
      temperature: 0.5,
      top_p: 0.1,
      max_completion_tokens: 9,
      stop: 'x',
      user: 'u',
      store: false,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      tool_choice: { type: 'function', function: { name: 'look' } },
      tools: [{ type: 'function', function: { name: 'look', description: '', parameters: {}, strict: true } }],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, description: 'd', strict: false } },
    };
    expect(readChatCompletionsRequest(request)).to.deep.equal({
      model: 'm',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
      stream: true,
      temperature: 0.5,
      top_p: 0.1,
      max_output_tokens: 9,
      stop: ['x'],
      user: 'u',
      store: false,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      reasoning: { effort: 'low' },
      tool_choice: { type: 'function', name: 'look' },
      tools: [{ type: 'function', name: 'look', description: '', parameters: {}, strict: true }],
      response_format: { type: 'json_schema', name: 'n', schema: {}, description: 'd', strict: false },
    });
  });

  it('preserves the rest verbatim: unknown fields, nulls, values that could not be restored', () => {
    const rest = {
      seed: 1,
      temperature: null,
      stop: [],
      tools: [],
      max_tokens: 3,
      response_format: { type: 'json_schema', json_schema: { name: 'n' } },
    };
    expect(readChatCompletionsRequest({ messages, max_completion_tokens: 9, ...rest })).to.deep.include({
      max_output_tokens: 9,
      vendor: { openai: rest },
    });
  });

  it('preserves limits that local servers take for none', () => {
    // LM Studio's examples have -1, Ollama takes 0: https://lmstudio.ai/docs/developer/openai-compat
    for (const max_tokens of [-1, 0]) {
      const read = readChatCompletionsRequest({ messages, max_tokens });
      expect(read)
        .to.deep.include({ vendor: { openai: { max_tokens } } })
        .and.not.to.have.property('max_output_tokens');
    }
    // No server takes others for none, so they are refused as a limit.
    expect(readChatCompletionsRequest({ messages, max_tokens: -5 })).to.include({ max_output_tokens: -5 });
  });

  it('reads functions without a type, and the choice "any", as Mistral does', () => {
    const { tools, tool_choice } = readChatCompletionsRequest({
      messages,
      tools: [{ function: { name: 'a' } }],
      tool_choice: 'any',
    });
    expect([tools, tool_choice]).to.deep.equal([[{ type: 'function', name: 'a' }], 'required']);
  });

  it("reads the images and documents of Mistral's clients, and writes what the vendor takes", () => {
    // https://docs.mistral.ai/capabilities/vision, https://docs.mistral.ai/capabilities/document_ai/document_qna
    const content = [
      { type: 'image_url', image_url: 'data:image/png;base64,aaaa' },
      { type: 'document_url', document_url: 'https://example.com/a.pdf', document_name: 'a.pdf' },
      { type: 'document_url', document_url: 'data:application/pdf;base64,bbbb' },
    ];
    const { input } = readChatCompletionsRequest({ messages: [{ role: 'user', content }] });
    const [message] = input as readonly MessageItem[];
    expect(message?.content.map(({ vendor: _, ...part }) => part)).to.deep.equal([
      { type: 'input_image', image_url: 'data:image/png;base64,aaaa' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf', filename: 'a.pdf' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,bbbb' },
    ]);
    const context = chatContext('openai_compatible');
    expect(chatCompletionsWire.fetchesUrl(message?.content[1] as InputFile, context.quirks)).to.equal(true);
    const sent = (to: typeof context, parts = message!.content): unknown =>
      toChatCompletions({ model: 'm', input: [{ ...message!, content: parts }] }, to, false).body.messages;
    // Mistral takes an image in either form: `ImageURLChunk` of its SDK.
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aaaa' } };
    expect(sent(context)).to.deep.equal([{ role: 'user', content: [image, ...content.slice(1)] }]);
    const openai = chatContext('openai');
    expect(chatCompletionsWire.fetchesUrl(message?.content[1] as InputFile, openai.quirks)).to.equal(false);
    const [first, , third] = message!.content;
    const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,bbbb' } };
    expect(sent(openai, [first!, third!])).to.deep.equal([{ role: 'user', content: [image, file] }]);
  });

  it('reads videos and audio by URL, and sends them as they came to hosts of this wire', () => {
    const content = [
      { type: 'video_url', video_url: { url: 'data:video/mp4;base64,aaaa', fps: 2 } },
      { type: 'audio_url', audio_url: { url: 'https://example.com/a.mp3' } },
      { type: 'input_audio', input_audio: { data: 'bbbb', format: 'flac' } },
    ];
    const { input } = readChatCompletionsRequest({ messages: [{ role: 'user', content }] });
    const [message] = input as readonly MessageItem[];
    expect(message?.content.map(({ vendor: _, ...part }) => part)).to.deep.equal([
      { type: 'input_file', file_data: 'data:video/mp4;base64,aaaa' },
      { type: 'input_file', file_url: 'https://example.com/a.mp3' },
      { type: 'input_file', file_data: 'data:audio/flac;base64,bbbb' },
    ]);
    const context = chatContext('openai_compatible');
    expect(chatCompletionsWire.fetchesUrl(message?.content[1] as InputFile, context.quirks)).to.equal(true);
    const { body } = toChatCompletions({ model: 'm', input: [message!] }, context, false);
    expect(body.messages).to.deep.equal([{ role: 'user', content }]);
  });

  it('reads a choice among allowed tools', () => {
    const { tool_choice } = readChatCompletionsRequest({
      messages,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'a' } }] },
      },
    });
    expect(tool_choice).to.deep.equal({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'a' }],
    });
  });

  it('distinguishes custom calls and calls in the deprecated form from all others', () => {
    const { input } = readChatCompletionsRequest({
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'a' },
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: 'b' },
      ],
    });
    const items = input as readonly OutputItem[];
    expect(items.map(({ type }) => type)).to.deep.equal([
      'custom_tool_call',
      'custom_tool_call_output',
      'function_call',
      'function_call_output',
    ]);
    expect(items[3]).to.include({ call_id: (items[2] as { call_id: string }).call_id });
  });

  const WRONG: readonly (readonly [unknown, string])[] = [
    [null, ''],
    [[], ''],
    [{}, 'messages'],
    [{ messages, stream: 'yes' }, 'stream'],
    [{ messages: ['hi'] }, 'messages[0]'],
    [{ messages: [{ role: 'robot' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'function', content: 'x' }] }, 'messages[0].name'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{}] }] }, 'messages[0].content[0]'],
    [{ messages, temperature: 'hot' }, 'temperature'],
    [{ messages, store: 'no' }, 'store'],
    [{ messages, stop: 3 }, 'stop'],
    [{ messages, metadata: [] }, 'metadata'],
    [{ messages, tools: {} }, 'tools'],
    [{ messages, tools: [{}] }, 'tools[0]'],
    [{ messages, tools: [{ type: 'function' }] }, 'tools[0].function.name'],
    [
      { messages, tools: [{ type: 'function', function: { name: 'a', parameters: 'x' } }] },
      'tools[0].function.parameters',
    ],
    [{ messages, tool_choice: 3 }, 'tool_choice'],
    [{ messages, response_format: 'json' }, 'response_format'],
    [{ messages, reasoning_effort: 3 }, 'reasoning_effort'],
  ];
  for (const [body, path] of WRONG) {
    it(`rejects ${path === '' ? 'the body' : path} in ${JSON.stringify(body)}`, () => {
      expect(() => readChatCompletionsRequest(body))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', path);
    });
  }
});

describe('writeChatCompletions', () => {
  it('converts a response from another wire', () => {
    const body = write([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'thought' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', url: 'u' }] }],
      },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"a":1}' },
    ]);
    expect(body).to.deep.include({
      object: 'chat.completion',
      created: 1_750_000_000,
      model: 'scripted-model',
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
    expect(choiceOf(body)).to.deep.equal({
      index: 0,
      logprobs: null,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: 'x',
        refusal: null,
        reasoning_content: 'thought',
        annotations: [{ type: 'url_citation', url_citation: { url: 'u', title: '', start_index: 0, end_index: 1 } }],
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
      },
    });
  });

  it('writes citations of other wires as the format has them: of URLs, with a range in the entire content', () => {
    const cite = (url: string, more: JsonObject = {}): JsonObject => ({
      type: 'url_citation',
      url,
      title: 'T',
      ...more,
    });
    const said = (text: string, ...annotations: readonly JsonObject[]): OutputContent => ({
      type: 'output_text',
      text,
      annotations,
    });
    const page = { type: 'file_citation', index: 0, filename: 'a.pdf', cited_text: 'c', start_page: 1, end_page: 2 };
    const body = write([
      { type: 'message', role: 'assistant', content: [said('I '), said('say', cite('u', { cited_text: 'q' }), page)] },
      { type: 'message', role: 'assistant', content: [said(' more.', cite('v', { start_index: 1, end_index: 5 }))] },
    ]);
    expect(choiceOf(body).message).to.deep.include({
      content: 'I say more.',
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'u', title: 'T', cited_text: 'q', start_index: 2, end_index: 5 },
        },
        { type: 'url_citation', url_citation: { url: 'v', title: 'T', start_index: 6, end_index: 10 } },
      ],
    });
  });

  it('writes the finish reason', () => {
    const text: OutputItem = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'x', annotations: [] }],
    };
    expect(choiceOf(write([text])).finish_reason).to.equal('stop');
    expect(
      choiceOf(write([text], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }))
        .finish_reason,
    ).to.equal('length');
    expect(
      choiceOf(write([text], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } })).finish_reason,
    ).to.equal('content_filter');
  });

  it('writes a refusal to the field that this wire has for it', () => {
    const refusal: OutputItem = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] };
    expect(
      choiceOf(write([refusal], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } })).message,
    ).to.deep.equal({ role: 'assistant', content: null, refusal: 'No.' });
  });
});
