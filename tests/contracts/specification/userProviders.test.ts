import { expect } from 'chai';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { LLMClient } from '../../../imports/business/ai/application/services/LLMClient';
import { LLMManager } from '../../../imports/business/ai/application/services/LLMManager';
import type { ILLMProvider, ModelCapabilities } from '../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../imports/business/ai/domain/types/StreamEvents';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { CAPABILITIES } from '../../../imports/testing/capabilities';
import { failure } from '../../support/failure';

/**
 * A provider as somebody who has read the interface, and no more, writes it. Its answers are whatever a step
 * returns.
 */
class OwnProvider implements ILLMProvider {
  readonly calls: GenerateOptions[] = [];
  private readonly steps: readonly (() => unknown)[];

  constructor(...steps: readonly (() => unknown)[]) {
    this.steps = steps;
  }

  getProviderName(): string {
    return 'own';
  }

  generate(_userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const step = this.steps[this.calls.length];
    this.calls.push(options);
    if (step === undefined) throw new Error('One call too many.');
    return Promise.resolve().then(() => step() as LLMResponse);
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    yield { type: 'response.completed', response: await this.generate(userId, options) };
  }

  validateAccess(): Promise<{ valid: boolean }> {
    return Promise.resolve({ valid: true });
  }

  getCapabilities(): ModelCapabilities {
    return CAPABILITIES;
  }
}

const raise = (fields: object) => (): never => {
  // Providers throw what their HTTP client throws, which is not always an Error.
  // oxlint-disable-next-line typescript/only-throw-error
  throw fields;
};
const answer = { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sunny.' }] }] };

const CALLS: readonly (readonly [title: string, response: object])[] = [
  [
    'tool_use parts with an id and an object',
    {
      output: [
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'text', text: 'One moment.' },
            { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Lisbon' } },
          ],
        },
      ],
    },
  ],
  [
    'tool_use parts without an id',
    {
      output: [{ role: 'assistant', content: [{ type: 'tool_use', name: 'get_weather', input: { city: 'Lisbon' } }] }],
    },
  ],
  ['tool_use items', { output: [{ type: 'tool_use', id: 'a', name: 'get_weather', arguments: { city: 'Lisbon' } }] }],
  [
    'calls without an id, with arguments as an object',
    { output: [{ type: 'function_call', name: 'get_weather', arguments: { city: 'Lisbon' } }] },
  ],
  [
    'complete responses with such calls',
    {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output: [{ type: 'function_call', id: 'fc_1', name: 'get_weather', arguments: { city: 'Lisbon' } }],
      output_text: '',
      usage: {
        input_tokens: 1,
        output_tokens: 1,
        total_tokens: 2,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
      vendor: { name: 'own', wire: 'responses', finish_reason: null, warnings: [], losses: [] },
    },
  ],
  ['content as Anthropic has it', { content: [{ type: 'tool_use', name: 'get_weather', input: { city: 'Lisbon' } }] }],
  [
    'a message as Chat Completions has it',
    {
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ type: 'function', function: { name: 'get_weather', arguments: '{"city":"Lisbon"}' } }],
          },
        },
      ],
    },
  ],
];

describe('Providers that users write', () => {
  for (const [title, response] of CALLS) {
    for (const stream of [false, true]) {
      it(`may return ${title}${stream ? ', as a stream' : ''}`, async () => {
        const cities: unknown[] = [];
        const provider = new OwnProvider(
          () => response,
          () => answer,
        );
        const loop = new AgenticLoop({
          provider,
          toolExecutor: new ToolRegistry().register({
            name: 'get_weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
            execute: ({ city }: { city?: unknown }) => {
              cities.push(city);
              return 'sunny';
            },
          }),
        });
        const run = await loop.execute('ann', { model: 'm', input: 'Weather?', tools: ['get_weather'], stream });
        expect(cities).to.deep.equal(['Lisbon']);
        expect(run.response.output_text).to.equal('Sunny.');
        const [call] = run.toolCalls;
        expect(call).to.include({ state: 'completed', name: 'get_weather' });
        const input = provider.calls[1]!.input as readonly { type?: string; call_id?: string; arguments?: unknown }[];
        const made = input.find(({ type }) => type === 'function_call');
        expect(made?.call_id).to.be.a('string').that.is.not.empty;
        expect(JSON.parse(String(made?.arguments))).to.deep.equal({ city: 'Lisbon' });
        expect(input.find(({ type }) => type === 'function_call_output')?.call_id).to.equal(made?.call_id);
      });
    }
  }

  for (const [title, response] of [
    ['text parts', { output: [{ role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }] }],
    ['a string', { output: 'Hi.' }],
    ['content', { content: 'Hi.' }],
    ['output_text', { output_text: 'Hi.' }],
  ] as const) {
    it(`may return text as ${title}`, async () => {
      const manager = new LLMManager({ provider: new OwnProvider(() => response) });
      expect(await manager.generateText('ann', 'Hello.')).to.equal('Hi.');
    });
  }

  for (const [title, response] of [
    ['nothing', {}],
    ['an empty output', { output: [] }],
    ['an unknown form', { result: { text: 'Hi.' } }],
    ['an item that is none', { output: [42] }],
    ['a message without content', { output: [{ type: 'message', role: 'assistant', content: [] }] }],
  ] as const) {
    it(`fail by name if they return ${title}, instead of an empty success`, async () => {
      const manager = new LLMManager({ provider: new OwnProvider(() => response) });
      const error = await failure(manager.generateText('ann', 'Hello.'));
      expect(error).to.have.property('code', 'vendor-error');
      expect(error).to.have.property('message').that.includes('"own"');
    });
  }

  it('stream text that their last event leaves out', async () => {
    const provider = new OwnProvider();
    provider.stream = async function* (): AsyncGenerator<ResponseStreamEvent, void, undefined> {
      yield { type: 'response.output_text.delta', output_index: 0, delta: 'Hel' };
      yield { type: 'response.output_text.delta', output_index: 0, delta: 'lo.' };
      await Promise.resolve();
      yield { type: 'response.completed', response: {} as LLMResponse };
    };
    const loop = new AgenticLoop({ provider, toolExecutor: new ToolRegistry() });
    const { response } = await loop.execute('ann', { model: 'm', input: 'Hello.', tools: [], stream: true });
    expect(response.output_text).to.equal('Hello.');
  });

  const retry = { baseDelay: 0, maxDelay: 0 };

  for (const [title, thrown, code, calls] of [
    ['401', { status: 401, message: 'no such key' }, 'auth-failed', 1],
    ['403', { status: 403, message: 'not yours' }, 'permission-denied', 1],
    ['400', { statusCode: 400, message: 'bad temperature' }, 'invalid-request', 1],
    ['429', Object.assign(new Error('slow down'), { status: 429 }), 'rate-limited', 3],
    [
      '429 without credit',
      { status: 429, error: { code: 'insufficient_quota', message: 'empty' } },
      'quota-exceeded',
      1,
    ],
    ['500', Object.assign(new Error('oops'), { status: 500, headers: new Headers() }), 'vendor-error', 3],
    ['503', { response: { status: 503, headers: {}, data: { error: { message: 'busy' } } } }, 'overloaded', 3],
    ['a lost connection', Object.assign(new Error('gone'), { code: 'ECONNRESET' }), 'connection-failed', 3],
    ['a bug', new TypeError('x is undefined'), 'vendor-error', 1],
  ] as const) {
    it(`have their errors mapped and retried like a vendor's: ${title}`, async () => {
      const provider = new OwnProvider(raise(thrown), raise(thrown), raise(thrown), raise(thrown));
      const error = await failure(new LLMManager({ provider, retry }).generateText('ann', 'Hello.'));
      expect(error).to.have.property('code', code);
      expect(error).to.have.property('cause', thrown);
      expect(provider.calls).to.have.length(calls);
    });
  }

  it('succeed on a retry after a 429', async () => {
    const provider = new OwnProvider(raise({ status: 429, message: 'slow' }), () => answer);
    expect(await new LLMManager({ provider, retry }).generateText('ann', 'Hello.')).to.equal('Sunny.');
  });

  for (const [title, fields] of [
    ['in Headers', { headers: new Headers({ 'Retry-After': '120' }) }],
    ['in an object', { headers: { 'Retry-After': 120 } }],
    ['in the headers of a response', { response: { headers: { 'retry-after': '120' } } }],
    ['on the error', { retryAfter: 120 }],
  ] as const) {
    it(`state how long to wait ${title}`, async () => {
      const provider = new OwnProvider(raise(Object.assign(new Error('slow'), { status: 429 }, fields)));
      const error = await failure(new LLMManager({ provider, retry }).generateText('ann', 'Hello.'));
      expect(error).to.include({ code: 'rate-limited', retryAfterMs: 120_000 });
    });
  }

  it('work in an LLMClient, too', async () => {
    const provider = new OwnProvider(
      () => ({ output: [{ role: 'assistant', content: [{ type: 'text', text: '{"ok":true}' }] }] }),
      raise({ status: 401, message: 'no such key' }),
    );
    const client = new LLMClient({ provider, userId: 'ann', model: 'm', entities: [] });
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const;
    expect(await client.createResponse({ input: 'ok?', schema })).to.deep.equal({ ok: true });
    expect(await failure(client.createResponse({ input: 'ok?', schema }))).to.have.property('code', 'auth-failed');
  });
});
