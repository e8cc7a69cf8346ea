/** The chat wire on all of its recordings: responses, requests, and loops. */
import { expect } from 'chai';
import {
  fromChatCompletions,
  toChatCompletions,
} from '../../../../../../imports/business/ai/infrastructure/converters/chat/ChatCompletionsConverter';
import {
  readChatCompletionsRequest,
  writeChatCompletions,
} from '../../../../../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import { normalizeOptions } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { toolCalls } from '../../../../../../imports/business/ai/domain/entities/Response';
import { LLMError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import {
  requestOptions,
  CHAT,
  CHAT_RESPONSES,
  CHAT_REQUESTS,
  chatContext,
  responseContextFor,
  responseOf,
} from '../../../../../support/chatRecordings';
import { chatViolations } from '../../../../../support/publishedSchemas';
import { modelOf } from '../../../../../support/recordings';
import type { Recording } from '../../../../../support/recordings';
import { meaningOfChatRequest } from '../../../../../support/sameMeaning/chat';
import { quirksFor } from '../../../../../support/wireContexts';

/** The number of recordings of each API. */
function perApi(recordings: readonly Recording[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { api } of recordings) counts[api] = (counts[api] ?? 0) + 1;
  return counts;
}

function bodyOf(one: Recording): JsonObject {
  return JSON.parse(one.text) as JsonObject;
}

/** The content of a recorded response, read from its first choice without product code. */
interface RawMessage {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}
interface RawChoice {
  readonly finish_reason: string;
  readonly message: RawMessage;
}
interface RawUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly image_tokens?: number } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
}

describe('ChatCompletionsConverter on recorded traffic', () => {
  it('has recordings of every API that implements this wire', () => {
    expect(perApi(CHAT)).to.deep.equal({
      'openai.chat.completions': 16,
      'azure.openai.chat.completions': 12,
      'azure.ai-models.chat.completions': 6,
      'groq.chat.completions': 24,
      'openai-compatible.chat.completions': 16,
      'xai.chat.completions': 8,
    });
  });

  describe('responses', () => {
    it('covers all recordings', () => {
      expect(perApi(CHAT_RESPONSES)).to.deep.equal({
        'openai.chat.completions': 10,
        'azure.openai.chat.completions': 6,
        'azure.ai-models.chat.completions': 4,
        'groq.chat.completions': 16,
        'openai-compatible.chat.completions': 8,
        'xai.chat.completions': 2,
      });
    });

    for (const one of CHAT_RESPONSES) {
      it(`${one.name}: has the vendor's content in the domain model`, () => {
        const raw = bodyOf(one);
        const [choice] = raw.choices as readonly RawChoice[];
        const { message, finish_reason } = choice!;
        const usage = raw.usage as RawUsage;
        const response = fromChatCompletions(raw, responseContextFor(one));
        const isRefused = typeof message.refusal === 'string';
        expect(response.id).to.equal(raw.id);
        expect(response.model).to.equal(raw.model);
        expect(response.created_at).to.equal(raw.created);
        expect(response.status).to.equal(isRefused ? 'incomplete' : 'completed');
        expect(response.incomplete_details?.reason).to.equal(isRefused ? 'content_filter' : undefined);
        expect(response.vendor.finish_reason).to.equal(finish_reason);
        expect(response.output_text).to.equal(message.content ?? '');
        expect(
          toolCalls(response).map(({ call_id, name, arguments: text }) => ({
            id: call_id,
            function: { name, arguments: text },
          })),
        ).to.deep.equal(
          (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({
            id,
            function: { name, arguments: text },
          })),
        );
        const thought = message.reasoning ?? message.reasoning_content ?? undefined;
        expect(
          response.output.flatMap((item) => (item.type === 'reasoning' ? [item.content?.[0]?.text] : [])),
        ).to.deep.equal(thought === undefined ? [] : [thought]);
        const imageTokens = usage.prompt_tokens_details?.image_tokens ?? 0;
        expect(response.usage).to.deep.equal({
          input_tokens: usage.prompt_tokens,
          output_tokens: usage.completion_tokens,
          total_tokens: usage.total_tokens,
          input_tokens_details: {
            cached_tokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
            cache_write_tokens: 0,
            ...(imageTokens === 0 ? {} : { image_tokens: imageTokens }),
          },
          output_tokens_details: { reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens ?? 0 },
        });
        expect(response.vendor.warnings).to.deep.equal([]);
      });

      it(`${one.name}: is restored for a client as the vendor sent it, even from a store`, () => {
        const response = fromChatCompletions(bodyOf(one), responseContextFor(one));
        expect(writeChatCompletions(response)).to.deep.equal(bodyOf(one));
        expect(writeChatCompletions(JSON.parse(JSON.stringify(response)) as typeof response)).to.deep.equal(
          bodyOf(one),
        );
      });
    }

    for (const one of CHAT.filter(({ status }) => status !== 200)) {
      it(`${one.name}: never reads an error's body as a response`, () => {
        let body: unknown = one.text;
        try {
          body = JSON.parse(one.text);
        } catch {
          // The body is plain text.
        }
        expect(() => fromChatCompletions(body, responseContextFor(one))).to.throw(LLMError);
      });
    }
  });

  describe('requests', () => {
    it('covers all recordings', () => {
      expect(perApi(CHAT_REQUESTS)).to.deep.equal({
        'openai.chat.completions': 16,
        'azure.openai.chat.completions': 11,
        'azure.ai-models.chat.completions': 6,
        'groq.chat.completions': 23,
        'openai-compatible.chat.completions': 16,
        'xai.chat.completions': 8,
      });
    });

    for (const one of CHAT_REQUESTS) {
      it(`${one.name}: reaches the vendor with the client's meaning`, () => {
        const { body, losses, warnings } = toChatCompletions(requestOptions(one), chatContext(one.vendor), one.stream);
        expect(meaningOfChatRequest(body, quirksFor(one.vendor))).to.deep.equal(
          meaningOfChatRequest(expectedRequest(one), quirksFor(one.vendor)),
        );
        expect(losses).to.deep.equal([]);
        expect(warnings).to.deep.equal([]);
      });

      it(`${one.name}: matches the vendor's schema`, () => {
        const { body } = toChatCompletions(requestOptions(one), chatContext(one.vendor), one.stream);
        expect(chatViolations(one.vendor, body)).to.equal('');
      });
    }
  });

  describe('loops', () => {
    const steps = recordedLoops();

    it('covers all recordings', () => {
      expect(perApi(steps.map(({ next }) => next))).to.deep.equal({
        'azure.ai-models.chat.completions': 3,
        'azure.openai.chat.completions': 1,
        'groq.chat.completions': 4,
        'openai-compatible.chat.completions': 5,
        'openai.chat.completions': 1,
        'xai.chat.completions': 4,
      });
    });

    for (const { before, next } of steps) {
      it(`${before.name} → ${next.n}: sends the converted response back as the client did`, () => {
        const history = requestOptions(before);
        const response = responseOf(before);
        const added = messagesOf(next.request).slice(messagesOf(before.request).length + 1);
        const results = normalizeOptions({
          ...readChatCompletionsRequest({ messages: added }),
          model: modelOf(next),
        }).input;
        const { body, losses } = toChatCompletions(
          { ...requestOptions(next), input: [...history.input, ...response.output, ...results] },
          chatContext(next.vendor),
          next.stream,
        );
        expect(meaningOfChatRequest(body, quirksFor(next.vendor))).to.deep.equal(
          meaningOfChatRequest(expectedStep(next, messagesOf(before.request).length), quirksFor(next.vendor)),
        );
        expect(losses).to.deep.equal([]);
      });
    }
  });
});

/**
 * The recorded request with the three differences of ours: Azure's deployment also in the body, arguments that servers
 * of Llama require, and the request for usage.
 */
function expectedRequest(one: Recording & { readonly request: JsonObject }): JsonObject {
  const asksForUsage = one.stream && quirksFor(one.vendor).supportsStreamUsage;
  return {
    model: modelOf(one),
    ...one.request,
    messages: messagesOf(one.request).map(withArguments),
    ...(asksForUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

function withArguments(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message;
  const calls = message.tool_calls as readonly { readonly function: JsonObject }[];
  return {
    ...message,
    tool_calls: calls.map((call) => ({ ...call, function: { arguments: '{}', ...call.function } })),
  };
}

function messagesOf(request: JsonObject): readonly JsonObject[] {
  return request.messages as readonly JsonObject[];
}

interface Step {
  readonly before: Recording & { readonly request: JsonObject };
  readonly next: Recording & { readonly request: JsonObject };
}

/** Pairs of exchanges of which the second continues after the response of the first. */
function recordedLoops(): readonly Step[] {
  return CHAT_REQUESTS.flatMap((next) => {
    const before = CHAT_REQUESTS.find((one) => one.caseId === next.caseId && one.n === next.n - 1);
    if (before?.status !== 200 || (before.stream && !before.text.includes('[DONE]'))) return [];
    const reply = messagesOf(next.request)[messagesOf(before.request).length];
    return reply?.role === 'assistant' ? [{ before, next }] : [];
  });
}

/** How some recorded clients rewrote a response that they sent back. */
const HABITS: Readonly<Record<string, (message: JsonObject) => JsonObject>> = {
  // An empty text instead of none.
  'azure-chat-parallel-a 2': (message) => ({ ...message, content: null }),
  // Reasoning as marked text, although the vendor has a field for it.
  'groq-err400-tool-use-failed-a 3': reasoningOutOfText,
  // The same, next to the empty text that the stream started with.
  'groq-in-stream-error-a 3': (message) => ({ ...reasoningOutOfText(message), content: '' }),
  // Additionally the field's other name.
  'llama-stream-tool-a 2': ({ reasoning_content: _, ...message }) => message,
  'llama-stream-tool-a 4': ({ reasoning_content: _, ...message }) => message,
  // The arguments were dropped, and the vendor failed.
  'llama-err500-a 2': (message) => ({
    ...message,
    content: '',
    tool_calls: [
      {
        id: 'call_f7631c2901964a6db675853a',
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city": "Paris"}' },
      },
    ],
  }),
};

function reasoningOutOfText({ content, ...message }: JsonObject): JsonObject {
  const text = /^<think>\n([\s\S]*)\n<\/think>$/.exec(content as string)?.[1];
  return { ...message, reasoning: text };
}

function expectedStep(next: Step['next'], at: number): JsonObject {
  const habit = HABITS[next.name];
  const expected = expectedRequest(next);
  const written =
    habit === undefined
      ? messagesOf(expected)
      : messagesOf(expected).map((message, index) => (index === at ? habit(message) : message));
  return { ...expected, messages: written };
}
