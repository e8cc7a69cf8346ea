import { expect } from 'chai';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import { LLMClient } from '../../../../../imports/business/ai/application/services/LLMClient';
import { LLMManager } from '../../../../../imports/business/ai/application/services/LLMManager';
import { LLMInvalidRequestError, LLMServerError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { IToolExecutor } from '../../../../../imports/business/ai/domain/interfaces/IToolExecutor';
import type { LLMResponse } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { failure } from '../../../../support/failure';

const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const;
const JSON_TEXT = '{"a":1}';

/**
 * Ports as a user writes them from the documentation: plain objects with only the required methods.
 */
function providerOf(
  ...answers: readonly object[]
): ILLMProvider & { readonly asked: readonly { readonly input?: unknown }[] } {
  const asked: { readonly input?: unknown }[] = [];
  const next = (options: object): LLMResponse => {
    asked.push(options);
    return answers[Math.min(asked.length, answers.length) - 1] as LLMResponse;
  };
  return {
    asked,
    getProviderName: () => 'mine',
    generate: async (_userId, options) => next(options),
    async *stream(_userId, options) {
      yield { type: 'response.completed', response: next(options) };
    },
    validateAccess: async () => ({ valid: true }),
    getCapabilities: () =>
      ({
        supportsTools: true,
        supportsJSON: true,
        supportsJSONSchema: true,
        supportsVision: false,
        maxTokens: 8_000,
      }) as ReturnType<ILLMProvider['getCapabilities']>,
  };
}

const MESSAGE = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: JSON_TEXT }] };
const COUNTED = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };

const SPARSE: Readonly<Record<string, object>> = {
  'nothing but a text': { output_text: JSON_TEXT },
  'nothing but an output': { output: [MESSAGE] },
  'a part of a message beside an item': {
    output: [
      { ...MESSAGE, content: [{ type: 'output_text', text: '{"a"' }] },
      { type: 'text', text: ':1}' },
    ],
  },
  'no vendor': {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [MESSAGE],
    output_text: JSON_TEXT,
    usage: COUNTED,
  },
  'three numbers as usage': {
    id: 'resp_1',
    status: 'completed',
    output: [MESSAGE],
    output_text: JSON_TEXT,
    usage: COUNTED,
    vendor: { name: 'mine', wire: 'responses', finish_reason: 'stop', warnings: [], losses: [] },
  },
  'a vendor with its name alone': {
    id: 'resp_1',
    status: 'completed',
    output: [MESSAGE],
    output_text: JSON_TEXT,
    usage: COUNTED,
    vendor: { name: 'mine' },
  },
};

describe('responses of a hand-written provider', () => {
  const executor: IToolExecutor = {
    execute: () => 0,
    hasToolFunction: () => false,
    getToolDefinition: () => undefined,
  };

  for (const [what, answer] of Object.entries(SPARSE)) {
    it(`are accepted by every API if they have ${what}`, async () => {
      const provider = providerOf(answer);
      const manager = new LLMManager({ provider });
      expect(await manager.generateText('ann', 'Hi')).to.equal(JSON_TEXT);
      expect(await manager.generateJSON('ann', 'Hi', schema)).to.deep.equal({ a: 1 });
      expect(
        await new LLMClient({ provider, userId: 'ann', entities: [], model: 'm' }).createResponse({
          input: 'Hi',
          schema,
        }),
      ).to.deep.equal({ a: 1 });
      expect(
        await new LLMClient({
          provider: { generate: async () => answer as LLMResponse },
          userId: 'ann',
          model: 'm',
        }).createResponse({ input: 'Hi', schema }),
      ).to.deep.equal({ a: 1 });
      const loop = new AgenticLoop({ provider, toolExecutor: executor });
      for (const stream of [false, true]) {
        const { response, transcript, usage } = await loop.execute('ann', {
          input: 'Hi',
          tools: [],
          model: 'm',
          stream,
        });
        expect(response.output_text).to.equal(JSON_TEXT);
        expect(response.vendor).to.deep.include({ name: 'mine', losses: [] });
        expect(transcript.at(-1)).to.deep.include({ type: 'message', role: 'assistant' });
        const isCounted = 'usage' in answer;
        expect(usage).to.deep.equal({
          input_tokens: isCounted ? 3 : 0,
          output_tokens: isCounted ? 2 : 0,
          total_tokens: isCounted ? 5 : 0,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 0 },
        });
        expect(response.vendor.warnings.length, 'a warning where nothing was counted').to.equal(isCounted ? 0 : 1);
      }
    });
  }

  it('get an id if they have none, so that a chain can continue from them', async () => {
    const bob = { identity: { id: 'bob' } };
    const client = new LLMClient({
      provider: providerOf({ output_text: JSON_TEXT }),
      userId: 'ann',
      entities: [bob],
      model: 'm',
      defaultDepth: 2,
    });
    for (let turn = 0; turn < 2; turn += 1) await client.createResponse({ input: 'Hi', schema, entityKey: 'talk:bob' });
    const [first, second, ...others] = (bob as unknown as { _openai: { talk_chain: string[] } })._openai.talk_chain;
    expect([first, second]).to.satisfy((ids: readonly string[]) => ids.every((id) => /^resp_[0-9a-f]{32}$/.test(id)));
    expect(first).not.to.equal(second);
    expect(others).to.deep.equal([]);
  });

  it('become errors with the provider’s name if they are undefined', async () => {
    const provider = providerOf(undefined as unknown as object);
    const error = await failure(new LLMManager({ provider }).generateText('ann', 'Hi'));
    expect(error).to.be.instanceOf(LLMServerError);
    expect((error as Error).message).to.include('"mine" returned no response');
  });
});

describe('a hand-written tool executor', () => {
  const call = { output: [{ type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' }] };
  const executor = {
    execute: (_name: string, { a, b }: { a: number; b: number }) => a + b,
    hasToolFunction: (name: string) => name === 'add',
    getToolDefinition: () => null,
  } as unknown as IToolExecutor;

  it('may return null for an unknown definition', async () => {
    const loop = new AgenticLoop({ provider: providerOf(call, { output_text: '3' }), toolExecutor: executor });
    const { response, toolCalls } = await loop.execute('ann', {
      input: '1 + 2',
      tools: [{ type: 'function', name: 'add', parameters: { type: 'object' } }],
      model: 'm',
    });
    expect(response.output_text).to.equal('3');
    expect(toolCalls.map(({ state }) => state)).to.deep.equal(['completed']);
    const error = await failure(loop.execute('ann', { input: 'Hi', tools: ['add'], model: 'm' }));
    expect(error).to.be.instanceOf(LLMInvalidRequestError).with.property('path', 'tools[0]');
  });

  it('is not needed if the vendor runs all tools', async () => {
    const manager = new LLMManager({ provider: providerOf({ output_text: 'Hi.' }) });
    expect((await manager.generateWithTools('ann', 'Hi', [])).output_text).to.equal('Hi.');
    expect((await manager.generateWithTools('ann', 'Hi', [{ type: 'web_search' }])).output_text).to.equal('Hi.');
    const error = await failure(manager.generateWithTools('ann', 'Hi', ['add']));
    expect(error).to.be.instanceOf(LLMInvalidRequestError).with.property('path', 'toolExecutor');
  });
});

describe('an LLMClient that is passed values of other types', () => {
  const client = (options: object = {}): LLMClient =>
    new LLMClient({
      provider: providerOf({ output_text: JSON_TEXT }),
      userId: 'ann',
      entities: [],
      model: 'm',
      ...options,
    });

  it('returns an error for an invalid request at its index, and answers the others', async () => {
    const results = await client().createBatch([
      { input: 'Hi', schema },
      undefined,
      null,
      'Hi',
      { input: 'Hi', schema },
    ] as never[]);
    expect(results.map((result) => ('ok' in result ? result.value : result.code))).to.deep.equal([
      { a: 1 },
      'invalid-request',
      'invalid-request',
      'invalid-request',
      { a: 1 },
    ]);
    expect(await failure(client().createResponse(undefined as never))).to.be.instanceOf(LLMInvalidRequestError);
  });

  it('rejects an invalid provider, entity list or batch immediately', async () => {
    for (const [options, path] of [
      [{ provider: undefined }, 'provider'],
      [{ provider: { ask: 1 } }, 'provider'],
      [{ entities: new Map() }, 'entities'],
      [{ entities: { bob: {} } }, 'entities'],
    ] as const) {
      expect(() => client(options))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', path);
    }
    expect(await failure(client().createBatch({} as never)))
      .to.be.instanceOf(LLMInvalidRequestError)
      .with.property('path', 'requests');
  });

  it('makes no call if the outcome could not be written onto the entity', async () => {
    for (const [entity, path] of [
      [Object.freeze({ identity: { id: 'bob' } }), '_openai'],
      [{ identity: { id: 'bob' }, _openai: Object.freeze({ usage: {} }) }, '_openai'],
      [{ identity: { id: 'bob' }, _openai: { usage: 7 } }, '_openai.usage'],
      [{ identity: { id: 'bob' }, _openai: { usage: Object.freeze({}) } }, '_openai'],
    ] as const) {
      const provider = providerOf({ output_text: JSON_TEXT });
      const error = await failure(
        client({ provider, entities: [entity] }).createResponse({ input: 'Hi', schema, entityKey: 'talk:bob' }),
      );
      expect(error).to.be.instanceOf(LLMInvalidRequestError).with.property('path', path);
      expect(provider.asked).to.deep.equal([]);
    }
    const sealed = Object.seal({ identity: { id: 'bob' }, _openai: {} });
    await client({ entities: [sealed] }).createResponse({ input: 'Hi', schema, entityKey: 'talk:bob' });
    expect(sealed._openai).to.deep.equal({
      usage: { total_input_tokens: 0, total_output_tokens: 0, total_requests: 1 },
    });
  });
});
