import { expect } from 'chai';
import SimpleSchema from 'simpl-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { LLMClient } from '../../../../../imports/business/ai/application/services/LLMClient';
import type { LLMClientOptions } from '../../../../../imports/business/ai/application/services/LLMClient';
import {
  LLMAbortedError,
  LLMError,
  LLMIncompleteError,
  LLMInvalidRequestError,
  LLMRateLimitError,
  LLMRefusalError,
  LLMServerError,
  LLMTimeoutError,
  StructuredOutputError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { GenerateOptions } from '../../../../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { deferred } from '../../../../support/deferred';
import { failure } from '../../../../support/failure';
import { RecordingLogger } from '../../../../support/RecordingLogger';
import { ScriptedProvider, untilAborted } from '../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../imports/testing/ScriptedProvider';
import { answer, incomplete, refusing, usage } from '../../../../../imports/testing/responses';

const schema = {
  type: 'object',
  properties: { mood: { type: 'string' } },
  required: ['mood'],
  additionalProperties: false,
} as const;
const mood = (word: string, id: string): LLMResponse =>
  answer(JSON.stringify({ mood: word }), { id, usage: usage(10, 5) });

interface Person {
  readonly identity: { readonly id: string };
  readonly [field: string]: unknown;
}

function setUp(script: readonly ScriptedStep[], options: Partial<LLMClientOptions> = {}) {
  const bob: Person = { identity: { id: 'bob' } };
  const upstream = new ScriptedProvider(script, { capabilities: { keepsState: true } });
  const logger = new RecordingLogger();
  const client = new LLMClient({
    provider: upstream,
    userId: 'ann',
    entities: [bob],
    defaultDepth: 2,
    model: 'm',
    logger,
    ...options,
  });
  return { bob, upstream, logger, client, sent: () => upstream.calls.map(({ options: sent }) => sent) };
}

const QUESTION = { instructions: 'Feel.', input: 'How are you?', schema, entityKey: 'intention:bob' } as const;

describe('LLMClient.createResponse', () => {
  it('returns the value, and passes on the user, model, instructions, schema and other options', async () => {
    const { client, upstream, sent } = setUp([mood('fine', 'resp_1')]);
    expect(
      await client.createResponse({
        instructions: 'Feel.',
        input: 'Hi',
        schema,
        temperature: 0.5,
        max_output_tokens: 50,
      }),
    ).to.deep.equal({ mood: 'fine' });
    expect(upstream.calls.map(({ userId }) => userId)).to.deep.equal(['ann']);
    const [{ response_format, input, onRetry: _, ...options }] = sent() as [GenerateOptions];
    expect(options).to.deep.equal({ model: 'm', instructions: 'Feel.', temperature: 0.5, max_output_tokens: 50 });
    expect(response_format).to.deep.include({ type: 'json_schema', schema });
    expect(input).to.deep.equal([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }]);
  });

  it('sends the chain’s previous id, confirms the response, adds the usage and returns the value, in this order', async () => {
    const answered = deferred<LLMResponse>();
    const { client, bob, sent } = setUp([mood('fine', 'resp_1'), () => answered.promise]);
    await client.createResponse(QUESTION);
    expect(bob._openai).to.deep.equal({
      intention_chain: ['resp_1'],
      usage: { total_input_tokens: 10, total_output_tokens: 5, total_requests: 1 },
    });
    const second = client.createResponse(QUESTION);
    expect(bob._openai).to.deep.equal({
      intention_chain: ['resp_1'],
      usage: { total_input_tokens: 10, total_output_tokens: 5, total_requests: 1 },
    });
    answered.resolve(mood('tired', 'resp_2'));
    expect(await second).to.deep.equal({ mood: 'tired' });
    expect(bob._openai).to.deep.equal({
      intention_chain: ['resp_1', 'resp_2'],
      usage: { total_input_tokens: 20, total_output_tokens: 10, total_requests: 2 },
    });
    expect(sent().map(({ previous_response_id, store }) => ({ previous_response_id, store }))).to.deep.equal([
      { previous_response_id: undefined, store: true },
      { previous_response_id: 'resp_1', store: true },
    ]);
  });

  it('requests storage only for responses of chains', async () => {
    const { client, bob, sent } = setUp([mood('a', 'r1'), mood('b', 'r2'), mood('c', 'r3')]);
    await client.createResponse({ ...QUESTION, depthOverride: 0 });
    await client.createResponse({ input: 'x', schema });
    await client.createResponse({ ...QUESTION, entityKey: 'intention:nobody' });
    expect(sent().map(({ store }) => store)).to.deep.equal([undefined, undefined, undefined]);
    expect(bob._openai).to.deep.equal({ usage: { total_input_tokens: 10, total_output_tokens: 5, total_requests: 1 } });
  });

  it('reads an existing chain at depth 0, leaves it unchanged and adds the usage', async () => {
    const { client, bob, sent, upstream } = setUp([mood('a', 'r1'), mood('b', 'r2')]);
    await client.createResponse(QUESTION);
    await client.createResponse({ ...QUESTION, depthOverride: 0 });
    expect(sent()[1]).to.deep.include({ previous_response_id: 'r1', store: false });
    expect(bob._openai)
      .to.deep.include({ intention_chain: ['r1'] })
      .and.to.have.nested.property('usage.total_requests', 2);
    expect(upstream.deleted).to.deep.equal([]);
  });

  it('deletes evicted responses at the provider, also after the depth was lowered', async () => {
    const { client, bob, upstream } = setUp(['r1', 'r2', 'r3', 'r4', 'r5'].map((id) => mood('a', id)));
    for (let count = 0; count < 3; count += 1) await client.createResponse({ ...QUESTION, depthOverride: 3 });
    expect(upstream.deleted).to.deep.equal([]);
    await client.createResponse({ ...QUESTION, depthOverride: 3 });
    expect(upstream.deleted).to.deep.equal([{ userId: 'ann', responseId: 'r1' }]);
    await client.createResponse({ ...QUESTION, depthOverride: 1 });
    expect(upstream.deleted.map(({ responseId }) => responseId)).to.deep.equal(['r1', 'r2', 'r3', 'r4']);
    expect(bob).to.have.nested.property('_openai.intention_chain').deep.equal(['r5']);
  });

  it('logs a failed deletion and still returns the value', async () => {
    const { client, upstream, logger, bob } = setUp([mood('a', 'r1'), mood('b', 'r2')], { defaultDepth: 1 });
    upstream.deleteResponse = () => Promise.reject(new LLMServerError('the vendor is down'));
    await client.createResponse(QUESTION);
    expect(await client.createResponse(QUESTION)).to.deep.equal({ mood: 'b' });
    expect(logger.warnings).to.have.length(1);
    expect(logger.warnings[0]).to.contain('r1');
    expect(logger.details.find((detail) => detail instanceof Error)).to.have.property('message', 'the vendor is down');
    expect(bob).to.have.nested.property('_openai.intention_chain').deep.equal(['r2']);
  });

  const FAILURES = [
    ['a refusal', refusing('No.'), LLMRefusalError],
    ['an answer that was cut off', incomplete('max_output_tokens', '{"mo'), LLMIncompleteError],
    ['a rate limit', new LLMRateLimitError('slow down'), LLMRateLimitError],
    ['a time-out', new LLMTimeoutError('too slow'), LLMTimeoutError],
    [
      'a previous id that the provider does not know',
      new LLMInvalidRequestError('Previous response not found.'),
      LLMError,
    ],
  ] as const;
  for (const [title, step, kind] of FAILURES) {
    it(`throws for ${title}, and leaves chain and usage untouched`, async () => {
      const { client, bob, sent } = setUp([mood('fine', 'resp_1'), step, mood('better', 'resp_3')]);
      await client.createResponse(QUESTION);
      const before = structuredClone(bob);
      expect(await failure(client.createResponse(QUESTION))).to.be.instanceOf(kind);
      expect(bob).to.deep.equal(before);
      await client.createResponse(QUESTION);
      expect(sent().map(({ previous_response_id }) => previous_response_id)).to.deep.equal([
        undefined,
        'resp_1',
        'resp_1',
      ]);
    });
  }

  it('does not restart the chain if the previous response is unknown', async () => {
    const { client, upstream } = setUp([new LLMInvalidRequestError('Previous response not found.')], {
      entities: [{ identity: { id: 'bob' }, _openai: { intention_chain: ['gone'] } }],
    });
    expect(await failure(client.createResponse(QUESTION))).to.be.instanceOf(LLMError);
    upstream.assertPlayedOut();
  });

  it('counts a corrected response as one request with the usage of both calls, and stores only the valid response', async () => {
    const { client, bob, upstream, sent } = setUp([
      answer('{"mood": 7}', { id: 'r1', usage: usage(10, 5) }),
      mood('fine', 'r2'),
    ]);
    expect(await client.createResponse(QUESTION)).to.deep.equal({ mood: 'fine' });
    expect(bob._openai).to.deep.equal({
      intention_chain: ['r2'],
      usage: { total_input_tokens: 20, total_output_tokens: 10, total_requests: 1 },
    });
    expect(upstream.deleted.map(({ responseId }) => responseId)).to.deep.equal(['r1']);
    expect(JSON.stringify(sent()[1]?.input)).to.contain('How are you?').and.to.contain('mood');
  });

  it('throws for a value that violates the schema twice, and leaves nothing stored', async () => {
    const { client, bob, upstream } = setUp([answer('{"mood": 7}', { id: 'r1' }), answer('[]', { id: 'r2' })]);
    expect(await failure(client.createResponse(QUESTION))).to.be.instanceOf(StructuredOutputError);
    expect(bob).to.deep.equal({ identity: { id: 'bob' } });
    expect(upstream.deleted.map(({ responseId }) => responseId)).to.deep.equal(['r1', 'r2']);
  });

  it('runs requests of one chain one after another, even if their results are not awaited', async () => {
    const first = deferred<LLMResponse>();
    const { client, bob, upstream, sent } = setUp([() => first.promise, mood('b', 'r2'), mood('c', 'r3')]);
    const all = [1, 2, 3].map(() => client.createResponse(QUESTION));
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(upstream.calls).to.have.length(1);
    first.resolve(mood('a', 'r1'));
    expect(await Promise.all(all)).to.deep.equal([{ mood: 'a' }, { mood: 'b' }, { mood: 'c' }]);
    expect(sent().map(({ previous_response_id }) => previous_response_id)).to.deep.equal([undefined, 'r1', 'r2']);
    expect(bob).to.have.nested.property('_openai.intention_chain').deep.equal(['r2', 'r3']);
  });

  it('separates the chains of one entity', async () => {
    const { client, sent } = setUp(['r1', 'r2', 'r3', 'r4'].map((id) => mood('a', id)));
    for (const entityKey of ['intention:bob', 'action:bob', 'intention:bob', 'action:bob'])
      await client.createResponse({ ...QUESTION, entityKey });
    expect(sent().map(({ previous_response_id }) => previous_response_id)).to.deep.equal([
      undefined,
      undefined,
      'r1',
      'r2',
    ]);
  });

  it('turns an abort into an LLMAbortedError with the reason as its cause', async () => {
    const { client, bob } = setUp([untilAborted]);
    const controller = new AbortController();
    const asked = failure(client.createResponse({ ...QUESTION, signal: controller.signal }));
    const reason = new Error('closed');
    controller.abort(reason);
    const error = await asked;
    expect(error).to.be.instanceOf(LLMAbortedError);
    expect((error as LLMAbortedError).cause).to.equal(reason);
    expect(bob).to.deep.equal({ identity: { id: 'bob' } });
  });

  it('wraps any other error in an LLMError, with its cause', async () => {
    const cause = new TypeError('x is not a function');
    const { client } = setUp([cause]);
    const error = await failure(client.createResponse(QUESTION));
    expect(error).to.be.instanceOf(LLMServerError);
    expect((error as LLMServerError).cause).to.equal(cause);
    expect((error as LLMServerError).message).not.to.contain('x is not');
  });

  it('works with any object that has the same generate', async () => {
    const bob: Person = { identity: { id: 'bob' } };
    const asked: GenerateOptions[] = [];
    const provider = {
      generate: async (_userId: string, options: GenerateOptions): Promise<LLMResponse> => {
        asked.push(options);
        return mood('fine', `r${asked.length}`);
      },
    };
    const client = new LLMClient({ provider, userId: 'ann', entities: [bob], defaultDepth: 1, model: 'm' });
    await client.createResponse(QUESTION);
    expect(await client.createResponse(QUESTION)).to.deep.equal({ mood: 'fine' });
    expect(asked[1]?.previous_response_id).to.equal('r1');
    expect(bob).to.have.nested.property('_openai.intention_chain').deep.equal(['r2']);
  });

  it('prefers the request’s model to the client’s', async () => {
    const { client, sent } = setUp([mood('a', 'r1')]);
    await client.createResponse({ ...QUESTION, model: 'other' });
    expect(sent()[0]?.model).to.equal('other');
  });

  it('rejects invalid depths before any call', async () => {
    const { client, upstream } = setUp([]);
    for (const depthOverride of [-1, 1.5, NaN, Infinity]) {
      expect(await failure(client.createResponse({ ...QUESTION, depthOverride })))
        .to.be.instanceOf(LLMInvalidRequestError)
        .with.property('path', 'depthOverride');
    }
    expect(() => setUp([], { defaultDepth: -1 })).to.throw(LLMInvalidRequestError, 'defaultDepth');
    upstream.assertPlayedOut();
  });

  it('rejects an entity whose namespace holds something else before any call', async () => {
    const { client, upstream } = setUp([], {
      entities: [{ identity: { id: 'bob' }, _openai: { intention_chain: 'r1' } }],
    });
    expect(await failure(client.createResponse(QUESTION))).to.be.instanceOf(LLMInvalidRequestError);
    upstream.assertPlayedOut();
  });
});

describe('the value of createResponse', () => {
  const text = JSON.stringify({ mood: 'fine' });

  it('has the type of a literal JSON Schema', async () => {
    const value = await setUp([answer(text)]).client.createResponse({
      input: 'x',
      schema: { type: 'object', properties: { mood: { type: 'string' } }, required: ['mood'] },
    });
    const typed: { mood: string } = value;
    expect(typed.mood).to.equal('fine');
    // @ts-expect-error the schema has no such property
    expect(value.size).to.equal(undefined);
  });

  it('has the output type of a zod schema', async () => {
    const value = await setUp([answer(text)]).client.createResponse({
      input: 'x',
      schema: z.object({ mood: z.string().transform((word) => word.length) }),
    });
    const typed: { mood: number } = value;
    expect(typed).to.deep.equal({ mood: 4 });
    // @ts-expect-error it is a number
    const wrong: { mood: string } = value;
    expect(wrong).to.equal(value);
  });

  it('has the type of a valibot schema', async () => {
    const described = {
      '~standard': { ...v.object({ mood: v.string() })['~standard'], jsonSchema: { input: () => schema } },
    };
    const value = await setUp([answer(text)]).client.createResponse({ input: 'x', schema: described });
    const typed: { mood: string } = value;
    expect(typed).to.deep.equal({ mood: 'fine' });
    const plain: { mood: string } = await setUp([answer(text)]).client.createResponse({
      input: 'x',
      schema: v.object({ mood: v.string() }),
    });
    expect(plain).to.deep.equal({ mood: 'fine' });
  });

  it('follows a SimpleSchema', async () => {
    const value: unknown = await setUp([answer(text)]).client.createResponse({
      input: 'x',
      schema: new SimpleSchema({ mood: String }),
    });
    expect(value).to.deep.equal({ mood: 'fine' });
  });

  it('is the text without a schema', async () => {
    const value: string = await setUp([answer('Fine.')]).client.createResponse({ input: 'x' });
    expect(value).to.equal('Fine.');
  });
});
