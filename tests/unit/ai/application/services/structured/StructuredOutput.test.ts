/** Typed values: the request, the accepted responses, and the single correction. */
import { expect } from 'chai';
import SimpleSchema from 'simpl-schema';
import { z } from 'zod';
import { LLMManager } from '../../../../../../imports/business/ai/application/services/LLMManager';
import { toJsonSchema } from '../../../../../../imports/business/ai/application/services/schema/toJsonSchema';
import { parseStructured } from '../../../../../../imports/business/ai/application/services/structured/StructuredOutput';
import {
  LLMContentFilterError,
  LLMIncompleteError,
  LLMInvalidRequestError,
  LLMOverloadedError,
  LLMRefusalError,
  StructuredOutputError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { InputItem } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../../imports/testing/ScriptedProvider';
import { failure } from '../../../../../support/failure';
import { servedResponse } from '../../../../../support/servedResponse';
import { answer, incomplete, refusing, response, textItem } from '../../../../../../imports/testing/responses';

const WEATHER = {
  title: 'Weather report!',
  type: 'object',
  properties: { city: { type: 'string' }, high: { type: 'number', maximum: 60 }, note: { type: 'string' } },
  required: ['city', 'high'],
  additionalProperties: false,
} as const;
const GOOD = { city: 'Bern', high: 21 };

function manage(
  script: readonly ScriptedStep[],
  capabilities: Partial<ModelCapabilities> = {},
): { manager: LLMManager; upstream: ScriptedProvider } {
  const upstream = new ScriptedProvider(script, { capabilities });
  return { upstream, manager: new LLMManager({ provider: upstream, sleep: async () => undefined }) };
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function inputOf(upstream: ScriptedProvider, call: number): readonly InputItem[] {
  return upstream.calls[call]?.options.input as readonly InputItem[];
}

describe('generateStructured', () => {
  it('requests a value by schema once and returns it', async () => {
    const { manager, upstream } = manage([answer(JSON.stringify(GOOD))]);
    const value = await manager.generateJSON('ann', 'weather?', WEATHER, { model: 'm', temperature: 0 });
    expect(value).to.deep.equal(GOOD);
    upstream.assertPlayedOut();
    const { options, userId } = upstream.calls[0]!;
    expect(userId).to.equal('ann');
    expect(options).to.deep.include({ model: 'm', temperature: 0 });
    expect(options.response_format).to.deep.equal({
      type: 'json_schema',
      name: 'Weather_report_',
      schema: WEATHER,
      strict: true,
    });
    expect(options).to.not.have.property('instructions');
  });

  it('infers the type of a literal schema', async () => {
    const { manager } = manage([answer(JSON.stringify(GOOD))]);
    const value = await manager.generateJSON('ann', 'weather?', WEATHER);
    const high: number = value.high;
    const note: string | undefined = value.note;
    // @ts-expect-error there is no such property
    expect(value.town).to.equal(undefined);
    expect([high, note]).to.deep.equal([21, undefined]);
  });

  it('uses the type that the caller names', async () => {
    const { manager } = manage([answer(JSON.stringify(GOOD))]);
    const schema: JsonObject = WEATHER;
    const value = await manager.generateJSON<{ city: string }>('ann', 'weather?', schema);
    expect(value.city).to.equal('Bern');
  });

  it('uses the caller’s name and strictness', async () => {
    const { manager, upstream } = manage([answer(JSON.stringify(GOOD))]);
    await manager.generateJSON('ann', 'weather?', WEATHER, {
      response_format: { type: 'json_schema', name: 'w', strict: true, schema: {} },
    });
    expect(upstream.calls[0]?.options.response_format).to.deep.equal({
      type: 'json_schema',
      name: 'w',
      strict: true,
      schema: WEATHER,
    });
  });

  it('accepts values of any JSON type', async () => {
    expect(
      await manage([answer('[1,2]')]).manager.generateJSON('u', 'x', { type: 'array', items: { type: 'integer' } }),
    ).to.deep.equal([1, 2]);
    expect(await manage([answer('"yes"')]).manager.generateJSON('u', 'x', { enum: ['yes', 'no'] })).to.equal('yes');
  });

  it('returns the output of a zod schema, whose own rules apply too', async () => {
    const schema = z.object({
      code: z.string().transform((text) => text.length),
      even: z.number().refine((n) => n % 2 === 0, 'must be even'),
    });
    const { manager, upstream } = manage([answer('{"code":"abc","even":3}'), answer('{"code":"abc","even":4}')]);
    const value = await manager.generateJSON('u', 'x', schema);
    const length: number = value.code;
    expect([length, value.even]).to.deep.equal([3, 4]);
    expect(JSON.stringify(inputOf(upstream, 1).at(-1))).to.contain('$.even: must be even');
    upstream.assertPlayedOut();
  });

  it('accepts what a Standard Schema converts, and lists what its JSON Schema finds in other values', async () => {
    const schema = z.object({ price: z.coerce.number(), sold: z.boolean() });
    const { manager, upstream } = manage([answer('{"price":"7","sold":1}'), answer('{"price":"7","sold":true}')]);
    expect(await manager.generateJSON('u', 'x', schema)).to.deep.equal({ price: 7, sold: true });
    expect(JSON.stringify(inputOf(upstream, 1).at(-1))).to.contain('$.price');
    upstream.assertPlayedOut();
  });

  it('hands no value to a Standard Schema whose JSON Schema could not be checked', async () => {
    const validate = (value: unknown): { readonly value: unknown } => ({ value });
    const input = (): object => ({ allOf: [{ $ref: '#' }] });
    const schema = {
      '~standard': { version: 1, vendor: 'own', validate, jsonSchema: { input, output: input } },
    } as const;
    const error = await failure(manage([answer('1'), answer('1')]).manager.generateJSON('u', 'x', schema));
    expect(error).to.have.property('message').that.includes('recurses infinitely');
  });

  it('returns the cleaned value of a SimpleSchema', async () => {
    const schema = new SimpleSchema({ born: Date, tags: { type: Array, minCount: 1 }, 'tags.$': String });
    const { manager } = manage([
      answer('{"born":"2020-01-01T00:00:00Z","tags":[]}'),
      answer('{"born":"2020-01-01T00:00:00Z","tags":["a","b"]}'),
    ]);
    expect(await manager.generateJSON('u', 'x', schema)).to.deep.equal({
      born: new Date('2020-01-01T00:00:00Z'),
      tags: ['a', 'b'],
    });
  });

  it('treats null as omitted where the schema permits only that', async () => {
    const { manager, upstream } = manage([answer('{"city":"Bern","high":1,"note":null}')]);
    expect(await manager.generateJSON('u', 'x', WEATHER)).to.deep.equal({ city: 'Bern', high: 1 });
    upstream.assertPlayedOut();
  });

  it('preserves a null that the schema permits, and rejects it in a required property', async () => {
    const nullable = {
      type: 'object',
      properties: { a: { type: ['string', 'null'] }, b: { type: 'string' } },
      required: ['a'],
    };
    expect(await manage([answer('{"a":null,"b":null}')]).manager.generateJSON('u', 'x', nullable)).to.deep.equal({
      a: null,
    });
    const { manager, upstream } = manage([answer('{"city":null,"high":1}'), answer('{"city":"x","high":1}')]);
    await manager.generateJSON('u', 'x', WEATHER);
    expect(JSON.stringify(inputOf(upstream, 1).at(-1))).to.contain('$.city: must be a string, not null');
  });

  it('describes the schema in the prompt and accepts surrounding text only for models that cannot be constrained', async () => {
    const fenced = `Sure!\n\`\`\`json\n${JSON.stringify(GOOD)}\n\`\`\``;
    const loose = manage([answer(fenced)], { supportsJSONSchema: false });
    expect(await loose.manager.generateJSON('u', 'x', WEATHER, { instructions: 'Be brief.' })).to.deep.equal(GOOD);
    expect(loose.upstream.calls[0]?.options.instructions).to.match(
      /^Be brief\.\n\nAnswer with one JSON value[^]*"maximum":60/,
    );
    loose.upstream.assertPlayedOut();
    const held = manage([answer(fenced), answer(JSON.stringify(GOOD))]);
    expect(await held.manager.generateJSON('u', 'x', WEATHER)).to.deep.equal(GOOD);
    held.upstream.assertPlayedOut();
  });
});

describe('the correction', () => {
  it('sends the conversation, the original response, and each violation with its path', async () => {
    const bad = answer('{"high":99,"town":1}');
    const { manager, upstream } = manage([bad, answer(JSON.stringify(GOOD))]);
    expect(await manager.generateJSON('u', 'weather?', WEATHER, { previous_response_id: 'resp_0' })).to.deep.equal(
      GOOD,
    );
    upstream.assertPlayedOut();
    const [question, invalidAnswer, complaint, ...rest] = inputOf(upstream, 1);
    expect(rest).to.deep.equal([]);
    expect(question).to.deep.include({ type: 'message', role: 'user' });
    expect(invalidAnswer).to.deep.equal(bad.output[0]);
    expect(complaint).to.deep.include({ type: 'message', role: 'user' });
    const text = JSON.stringify(complaint);
    for (const part of ['$.city: is missing', '$.high: must be <= 60', '$.town: is not allowed here'])
      expect(text).to.contain(part);
    const [first, second] = upstream.calls;
    const { input: _one, ...before } = first!.options;
    const { input: _two, ...after } = second!.options;
    expect(after).to.deep.equal(before);
  });

  const BROKEN: readonly (readonly [title: string, text: string, path: string])[] = [
    ['is not JSON', 'Bern, 21 degrees', '$'],
    ['is empty', '', '$'],
    ['is cut off', '{"city":"Bern","high":2', '$'],
    ['breaks the schema', '{"city":7,"high":2}', '$.city'],
  ];
  for (const [title, text, path] of BROKEN) {
    it(`happens once when the answer ${title}, and a second invalid answer is an error`, async () => {
      const last = answer(text);
      const { manager, upstream } = manage([answer(text), last]);
      const error = await thrownBy(manager.generateJSON('u', 'x', WEATHER));
      upstream.assertPlayedOut();
      expect(error)
        .to.be.instanceOf(StructuredOutputError)
        .and.deep.include({ code: 'invalid-output', text, response: servedResponse(last) });
      expect((error as StructuredOutputError).violations[0]?.path).to.equal(path);
    });
    it(`corrects an answer that ${title}`, async () => {
      const { manager, upstream } = manage([answer(text), answer(JSON.stringify(GOOD))]);
      expect(await manager.generateJSON('u', 'x', WEATHER)).to.deep.equal(GOOD);
      upstream.assertPlayedOut();
    });
  }

  it('is skipped for a response that is too large to be sent again', async () => {
    const { manager, upstream } = manage([answer(`"${'x'.repeat(1024 * 1024)}"`)]);
    expect(await thrownBy(manager.generateJSON('u', 'x', WEATHER))).to.be.instanceOf(StructuredOutputError);
    upstream.assertPlayedOut();
  });

  it('is retried like any other call', async () => {
    const { manager, upstream } = manage([answer('no'), new LLMOverloadedError('busy'), answer(JSON.stringify(GOOD))]);
    expect(await manager.generateJSON('u', 'x', WEATHER)).to.deep.equal(GOOD);
    upstream.assertPlayedOut();
  });
});

describe('a response that contains no answer', () => {
  const NONE = [
    ['refused in a refusal part', refusing('I won’t.'), LLMRefusalError],
    [
      'refused by its finish reason',
      incomplete('content_filter', '', { vendor: { ...response().vendor, finish_reason: 'refusal' } }),
      LLMRefusalError,
    ],
    ['filtered', incomplete('content_filter', '{"city":'), LLMContentFilterError],
    ['cut off', incomplete('max_output_tokens', JSON.stringify(GOOD)), LLMIncompleteError],
  ] as const;
  for (const [title, none, kind] of NONE) {
    it(`throws a specific error when ${title}, before anything is parsed or corrected`, async () => {
      for (const script of [[none], [answer('bad'), none]]) {
        const { manager, upstream } = manage(script);
        const error = await thrownBy(manager.generateJSON('u', 'x', WEATHER));
        expect(error)
          .to.be.instanceOf(kind)
          .and.deep.include({ response: servedResponse(none) });
        upstream.assertPlayedOut();
      }
    });
  }
});

describe('an unusable schema', () => {
  for (const [title, schema] of [
    ['broken', { type: 'objekt' }],
    ['remote', { $ref: 'https://example.com/s' }],
  ] as const) {
    it(`is rejected before any call: ${title}`, async () => {
      const { manager, upstream } = manage([]);
      expect(await thrownBy(manager.generateJSON('u', 'x', schema as JsonObject))).to.be.instanceOf(
        LLMInvalidRequestError,
      );
      upstream.assertPlayedOut();
    });
  }
});

describe('parseStructured', () => {
  it('parses the final response of a conversation with tools', async () => {
    const final = response({
      output: [{ type: 'function_call', call_id: 'c', name: 't', arguments: '{}' }, textItem(JSON.stringify(GOOD))],
    });
    expect(await parseStructured(final, toJsonSchema(WEATHER), { lenient: false })).to.deep.equal({
      ok: true,
      value: GOOD,
    });
  });

  it('throws for a response that contains no answer', async () => {
    expect(await thrownBy(parseStructured(refusing('no'), toJsonSchema(WEATHER), { lenient: true }))).to.be.instanceOf(
      LLMRefusalError,
    );
  });
});
