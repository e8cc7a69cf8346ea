/** Official clients read what the encoders write, and get the content of the source. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenerativeAI } from '@google/generative-ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ServedScheme } from '../../imports/business/ai/domain/types/VendorTypes';
import { startSseServer } from '../support/sseServer';
import type { SseServer } from '../support/sseServer';
import { meaningOf, responseOf, STREAMS, transcodeRecording } from '../support/transcoding';
import type { Meaning } from '../support/transcoding';
import { allInSoak } from '../support/soak';

interface Read {
  readonly text: string;
  readonly calls: Meaning['calls'];
  readonly finish: string | null | undefined;
  /** Input and output tokens. */
  readonly counts: readonly (number | undefined)[];
}

type Reader = (url: string) => Promise<Read>;

const QUESTION = [{ role: 'user' as const, content: 'a question' }];

const READERS: Readonly<Record<ServedScheme, Reader>> = {
  openai: async (url) => {
    const client = new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 });
    const completion = await client.chat.completions
      .stream({ model: 'm', messages: QUESTION, stream_options: { include_usage: true } })
      .finalChatCompletion();
    const { message, finish_reason } = completion.choices[0]!;
    const calls = (message.tool_calls ?? []).flatMap((call) =>
      'function' in call ? [{ name: call.function.name, arguments: parsed(call.function.arguments) }] : [],
    );
    return {
      text: message.content ?? '',
      calls,
      finish: finish_reason,
      counts: [completion.usage?.prompt_tokens, completion.usage?.completion_tokens],
    };
  },
  openai_responses: async (url) => {
    const client = new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 });
    const stream = client.responses.stream({ model: 'm', input: 'a question' });
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => (text += delta));
    const response = await stream.finalResponse();
    const calls = response.output.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, arguments: parsed(item.arguments) }] : [],
    );
    expect(response.output_text, 'the deltas are the text').to.equal(text);
    return {
      text,
      calls,
      finish: response.status,
      counts: [response.usage?.input_tokens, response.usage?.output_tokens],
    };
  },
  anthropic: async (url) => {
    const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
    const message = await client.messages.stream({ model: 'm', max_tokens: 1, messages: QUESTION }).finalMessage();
    const calls = message.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: block.name, arguments: block.input as Record<string, unknown> }] : [],
    );
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = message.usage;
    const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return {
      text,
      calls,
      finish: message.stop_reason,
      counts: [input_tokens + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0), output_tokens],
    };
  },
  google: async (url) => {
    const model = new GoogleGenerativeAI('none').getGenerativeModel({ model: 'm' }, { baseUrl: url });
    const { stream, response } = await model.generateContentStream('a question');
    let text = '';
    const calls: Meaning['calls'][number][] = [];
    for await (const chunk of stream) {
      for (const part of chunk.candidates?.[0]?.content.parts ?? []) {
        if (part.text !== undefined && !('thought' in part)) text += part.text;
        if (part.functionCall !== undefined)
          calls.push({ name: part.functionCall.name, arguments: part.functionCall.args as Record<string, unknown> });
      }
    }
    const { candidates, usageMetadata } = await response;
    // The client's types declare fewer counts than the API has, and all of them as required.
    const counts = (usageMetadata ?? {}) as Partial<Record<string, number>>;
    const sum = (...fields: readonly string[]): number =>
      fields.reduce((total, field) => total + (counts[field] ?? 0), 0);
    return {
      text,
      calls,
      finish: candidates?.[0]?.finishReason,
      counts: [sum('promptTokenCount', 'toolUsePromptTokenCount'), sum('candidatesTokenCount', 'thoughtsTokenCount')],
    };
  },
};

function parsed(json: string): Record<string, unknown> {
  return JSON.parse(json) as Record<string, unknown>;
}

/** The expected finish reason, from the source's response. */
function finishIn(scheme: ServedScheme, { status, incomplete_details, output }: LLMResponse): string {
  const isCut = status === 'incomplete';
  const isFiltered = isCut && incomplete_details?.reason === 'content_filter';
  const calls = output.some((item) => item.type === 'function_call');
  switch (scheme) {
    case 'openai':
      return isFiltered ? 'content_filter' : isCut ? 'length' : calls ? 'tool_calls' : 'stop';
    case 'openai_responses':
      return status;
    case 'anthropic':
      return isFiltered ? 'refusal' : isCut ? 'max_tokens' : calls ? 'tool_use' : 'end_turn';
    case 'google':
      return isFiltered ? 'SAFETY' : isCut ? 'MAX_TOKENS' : 'STOP';
  }
}

/** On its own wire, a vendor's counts are passed on unchanged, without reasoning tokens if it excludes them. */
function countsIn(scheme: ServedScheme, { usage, vendor }: LLMResponse): Read['counts'] {
  const written =
    scheme === 'openai' && vendor.wire === 'chat_completions' ? vendor.usage?.completion_tokens : undefined;
  return [usage.input_tokens, typeof written === 'number' ? written : usage.output_tokens];
}

describe('the official clients', () => {
  let server: SseServer;
  before(async () => {
    server = await startSseServer();
  });
  after(() => server.close());

  for (const target of Object.keys(READERS) as ServedScheme[]) {
    for (const recording of allInSoak(STREAMS, 12)) {
      it(`read ${recording.name} in ${target}`, async () => {
        const response = await responseOf(recording);
        const { lines } = await transcodeRecording(recording, target, {
          relayUsageEvents: true,
          emitFunctionAnnouncements: true,
          rawReasoningName: 'reasoning_text',
        });
        server.serve(lines.filter((line) => line !== ''));
        if (response === undefined) {
          // Google's client accepts any JSON as a response.
          if (target === 'google') return;
          const outcome = await READERS[target](server.url).then(
            () => 'read',
            (error: unknown) => error,
          );
          expect(outcome).to.be.instanceOf(Error);
          return;
        }
        const { text, calls } = meaningOf(response);
        expect(await READERS[target](server.url)).to.deep.equal({
          text,
          calls,
          finish: finishIn(target, response),
          counts: countsIn(target, response),
        });
      });
    }
  }
});
