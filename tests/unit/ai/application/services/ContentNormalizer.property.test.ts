/**
 * Any input is either rejected as an invalid request or becomes data that every later reader can rely on.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  normalizeInput,
  normalizeOptions,
  normalizeTools,
} from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { MessageRole } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { SCHEME_OF_WIRE } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import type { InputItem } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { IS_SOAK } from '../../../../support/soak';

/** A full run passes 100,000 inputs to the three properties in total. */
const RUNS = IS_SOAK
  ? { anything: 30_000, conversations: 50_000, options: 20_000 }
  : { anything: 300, conversations: 300, options: 300 };

const SPECIAL_WORDS = [
  'type',
  'role',
  'content',
  'text',
  'id',
  'call_id',
  'name',
  'arguments',
  'input',
  'output',
  'status',
  'vendor',
  'origin',
  'tool_calls',
  'image_url',
  'url',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'length',
  'toJSON',
];
const junk: fc.Arbitrary<unknown> = fc.anything({
  maxDepth: 4,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
  key: fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.constantFrom(...SPECIAL_WORDS)),
});
const trap = (): never => {
  throw new Error('a trap');
};
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: junk },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<() => unknown>(
        () => new Proxy({}, { ownKeys: trap }),
        () => new Proxy([], { get: trap }),
        () => new Proxy({ type: 'message' }, { getPrototypeOf: trap }),
        () =>
          new Proxy(
            { role: 'user', content: 'x' },
            { get: (target, key): unknown => (String(key).length > 4 ? trap() : Reflect.get(target, key)) },
          ),
        () => ({
          get role() {
            return trap();
          },
        }),
        () => Symbol('s'),
        () => trap,
        () => NaN,
        () => '\udc00',
        () => JSON.parse('{"__proto__":{"a":1}}') as unknown,
        () => {
          const self: unknown[] = [];
          self.push(self);
          return self;
        },
      )
      .map((make) => make()),
  },
);
/** Usually a valid value, sometimes any value. */
const mostly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 30, arbitrary: right },
    { weight: 1, arbitrary: hostile },
    { weight: 2, arbitrary: fc.constantFrom(null, undefined, '', 0) },
  );
const some = (
  fields: Record<string, fc.Arbitrary<unknown>>,
  required: readonly string[] = [],
): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([key, right]) => [key, mostly(right)])), {
    requiredKeys: [...required],
  });

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
  fc.constant('\u2028\0'),
);
const label = fc.constantFrom('a', 'call_1', 'toolu_1', 'f', 'get_weather');
const url = fc.constantFrom(
  'https://a.b/c.png',
  'data:image/png;base64,AAAA',
  'data:image/webp;base64,AAA=',
  'http://a',
  'ftp://a.b',
  'data:,x',
  'data:application/pdf;base64,AAAA',
  'AAAA',
);
const json = fc.jsonValue({ maxDepth: 3 });
const vendor = fc.constantFrom({ anthropic: { a: [1] } }, { google: {} }, { openai: 1 });
const origin = fc.record({ wire: fc.constantFrom(...Object.keys(SCHEME_OF_WIRE), 'telegraph') });
const part: fc.Arbitrary<unknown> = fc.oneof(
  text,
  some(
    {
      type: fc.constantFrom('text', 'input_text', 'output_text', 'novel'),
      text,
      annotations: fc.array(fc.dictionary(label, json), { maxLength: 2 }),
      logprobs: fc.array(json, { maxLength: 2 }),
      vendor,
    },
    ['type', 'text'],
  ),
  some(
    {
      type: fc.constantFrom('input_image', 'input_image_url', 'image_url'),
      image_url: fc.oneof(url, fc.record({ url, detail: label })),
      file_id: label,
      detail: label,
      source: json,
    },
    ['type', 'image_url'],
  ),
  some(
    {
      type: fc.constant('image'),
      source: fc.record({
        type: fc.constantFrom('base64', 'url', 'file'),
        media_type: fc.constantFrom('image/png', 'text/plain'),
        data: fc.constantFrom('AAAA', '?'),
        url,
        file_id: label,
      }),
      file_id: json,
      detail: json,
    },
    ['type', 'source'],
  ),
  some(
    {
      type: fc.constantFrom('input_file', 'file'),
      file: fc.record({ file_data: url, filename: label }),
      file_id: label,
      file_data: url,
      file_url: url,
      filename: label,
    },
    ['type'],
  ),
  some({ type: fc.constant('refusal'), refusal: text }, ['type', 'refusal']),
  some(
    {
      type: fc.constant('tool_use'),
      id: label,
      name: label,
      input: json,
      arguments: fc.oneof(json, text),
      status: json,
      async: json,
      vendor,
    },
    ['type', 'id', 'name'],
  ),
  some(
    {
      type: fc.constant('tool_result'),
      tool_use_id: label,
      content: fc.oneof(
        text,
        fc.array(fc.oneof(text, fc.record({ type: fc.constant('text'), text })), { maxLength: 3 }),
      ),
      is_error: fc.boolean(),
      status: json,
      call_id: json,
    },
    ['type', 'tool_use_id'],
  ),
);
const chatCall = some(
  {
    id: label,
    type: fc.constantFrom('function', 'custom'),
    function: some({ name: label, arguments: fc.oneof(text, json) }, ['name']),
    custom: fc.record({ name: label, input: text }),
    status: json,
    origin: json,
  },
  ['id', 'function'],
);
const message = some(
  {
    type: fc.constant('message'),
    role: fc.constantFrom('user', 'assistant', 'assistant', 'system', 'developer', 'tool'),
    content: fc.oneof(text, fc.array(part, { maxLength: 5 })),
    id: label,
    status: label,
    phase: label,
    tool_calls: fc.array(chatCall, { maxLength: 3 }),
    tool_call_id: label,
    refusal: text,
    vendor,
    name: label,
    origin: json,
    function_call: fc.constant(null),
    audio: json,
  },
  ['role', 'content', 'tool_call_id'],
);
const item = fc.oneof(
  message,
  message,
  text,
  some(
    {
      type: fc.constant('function_call'),
      id: label,
      call_id: label,
      name: label,
      arguments: fc.oneof(text, json),
      status: label,
      async: fc.boolean(),
      vendor,
    },
    ['type', 'call_id', 'name'],
  ),
  some(
    {
      type: fc.constant('function_call_output'),
      call_id: label,
      output: fc.oneof(text, fc.array(part, { maxLength: 3 })),
      status: label,
      deferred: fc.boolean(),
      name: label,
      state: label,
    },
    ['type', 'call_id', 'output'],
  ),
  some(
    {
      type: fc.constant('reasoning'),
      id: label,
      summary: fc.array(fc.oneof(text, fc.record({ type: label, text })), { maxLength: 2 }),
      content: fc.array(fc.record({ text }), { maxLength: 2 }),
      encrypted_content: text,
      origin,
    },
    ['type'],
  ),
  some({ type: fc.constant('compaction'), encrypted_content: text, origin, id: json }, ['type', 'encrypted_content']),
  some({ type: fc.constant('vendor_item'), origin, item: fc.dictionary(label, json), id: label }, [
    'type',
    'origin',
    'item',
  ]),
  some(
    { type: fc.constantFrom('web_search_call', 'novel_call', 'output_text'), origin, id: json, action: json, vendor },
    ['type'],
  ),
);
const conversation = fc.oneof(
  { weight: 20, arbitrary: fc.array(item, { maxLength: 5 }) },
  { weight: 1, arbitrary: hostile },
);
const tool = some(
  {
    type: fc.constantFrom('function', 'function', 'web_search', 'custom'),
    name: fc.oneof(label, fc.string({ maxLength: 3 })),
    function: some({ name: label, parameters: fc.dictionary(label, json) }, ['name']),
    parameters: fc.dictionary(label, json),
    strict: fc.boolean(),
    timeout: fc.double(),
    blocking: fc.boolean(),
    vendor,
    needsApproval: fc.constant(() => true),
  },
  ['type', 'name'],
);
const choice = fc.oneof(
  fc.constantFrom('auto', 'none', 'required', 'any'),
  some(
    { type: fc.constantFrom('function', 'web_search', 'custom'), name: label, function: fc.record({ name: label }) },
    ['type', 'name'],
  ),
  some(
    {
      type: fc.constant('allowed_tools'),
      mode: fc.constantFrom('auto', 'required'),
      tools: fc.array(fc.record({ type: fc.constant('function'), name: label }), { maxLength: 2 }),
    },
    ['type', 'tools'],
  ),
);
/** Few at a time, because one invalid option hides all others. */
const rarely = (fields: Record<string, fc.Arbitrary<unknown>>): Record<string, fc.Arbitrary<unknown>> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, right]) => [
      key,
      fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: right }),
    ]),
  );
const options = some(
  {
    model: label,
    input: fc.array(fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: item }), { maxLength: 3 }),
    ...rarely({
      instructions: text,
      tools: fc.array(tool, { maxLength: 2 }),
      tool_choice: choice,
      temperature: fc.double({ min: -1, max: 3 }),
      top_p: fc.double({ min: 0, max: 1.2 }),
      max_output_tokens: fc.integer({ min: 0, max: 9 }),
      parallel_tool_calls: fc.boolean(),
      previous_response_id: label,
      store: fc.boolean(),
      user: text,
      timeout: fc.integer({ min: 0, max: 9 }),
      response_format: some(
        {
          type: fc.constantFrom('text', 'json_object', 'json_schema'),
          name: label,
          schema: fc.dictionary(label, json),
          strict: fc.boolean(),
          json_schema: fc.record({ schema: json, name: label }),
        },
        ['type', 'schema'],
      ),
      reasoning: some({ effort: label, summary: label, budget: json }),
      stop: fc.oneof(text, fc.array(text, { maxLength: 2 })),
      metadata: fc.dictionary(label, text),
      signal: fc.constant(new AbortController().signal),
      vendor,
    }),
  },
  ['model', 'input'],
);

/** Both counts must rise, so that a normalizer that rejects everything or nothing does not pass. */
interface Tally {
  accepted: number;
  refused: number;
}

function attempt<T>(work: () => T, tally: Tally): T | undefined {
  try {
    const result = work();
    tally.accepted += 1;
    return result;
  } catch (error) {
    if (!(error instanceof LLMInvalidRequestError)) throw error;
    tally.refused += 1;
    expect(error.path, error.message).to.be.a('string').and.not.equal('');
    expect(error.message).to.satisfy(
      (message: string) => message.startsWith(`"${error.path}"`) && message.isWellFormed(),
    );
    return undefined;
  }
}

function checkData(value: unknown, functions = false): void {
  if (functions && typeof value === 'function') return;
  expect(['string', 'number', 'boolean', 'object']).to.include(typeof value);
  if (typeof value === 'number') expect(Number.isFinite(value)).to.equal(true);
  if (typeof value === 'string') expect(/\p{Surrogate}/u.test(value)).to.equal(false);
  if (typeof value !== 'object' || value === null) return;
  expect(Object.isFrozen(value), 'frozen to the last level').to.equal(true);
  expect([Object.prototype, Array.prototype]).to.include(Object.getPrototypeOf(value));
  for (const [key, inner] of Object.entries(value)) {
    expect(['__proto__', 'constructor', 'prototype']).not.to.include(key);
    checkData(inner, functions);
  }
}

/** What converters rely on without checking it, specified a second time and independently. */
function checkItem(item: InputItem): void {
  if ('vendor' in item)
    expect(Object.values(item.vendor ?? {}).every((fields) => typeof fields === 'object')).to.equal(true);
  if (item.type === 'message' || item.type === 'function_call' || item.type === 'function_call_output') {
    expect(
      [typeof item.id, typeof item.status].every((type) => type === 'string' || type === 'undefined'),
      'id and status',
    ).to.equal(true);
  }
  switch (item.type) {
    case 'message':
      expect(Object.values(MessageRole)).to.include(item.role);
      for (const part of item.content) {
        expect(part).to.be.an('object');
        expect(['text', 'image_url', 'input_image_url', 'tool_use', 'tool_result']).not.to.include(part.type);
        if (part.type === 'input_text' || part.type === 'output_text') {
          expect(part.type).to.equal(item.role === 'assistant' ? 'output_text' : 'input_text');
          expect(part.text).to.be.a('string');
        }
        if (part.type === 'output_text') expect(part.annotations).to.be.an('array');
        if (part.type === 'input_image') expect(part.image_url ?? part.file_id).to.be.a('string');
        if (part.type === 'refusal') expect(item.role).to.equal('assistant');
      }
      return;
    case 'function_call':
      expect([typeof item.call_id, typeof item.name, typeof item.arguments]).to.deep.equal([
        'string',
        'string',
        'string',
      ]);
      expect(item.call_id).not.to.equal('');
      expect(['boolean', 'undefined']).to.include(typeof item.async);
      return;
    case 'function_call_output':
      expect(item.call_id).to.be.a('string').and.not.equal('');
      expect(typeof item.output === 'string' || Array.isArray(item.output)).to.equal(true);
      expect(['boolean', 'undefined']).to.include(typeof item.deferred);
      expect(
        [typeof item.name, typeof item.state].every((type) => type === 'string' || type === 'undefined'),
        'name and state',
      ).to.equal(true);
      return;
    case 'reasoning':
      expect(item.summary.every((part) => typeof part.text === 'string')).to.equal(true);
      return;
    case 'compaction':
      expect(item.encrypted_content).to.be.a('string');
      return;
    case 'vendor_item':
      expect(Object.keys(SCHEME_OF_WIRE)).to.include(item.origin.wire);
      return;
    default:
      expect(item.type).to.be.a('string').and.not.equal('');
  }
}

function checkItems(items: readonly InputItem[]): void {
  checkData(items);
  for (const item of items) checkItem(item);
  const copy: unknown = JSON.parse(JSON.stringify(items));
  expect(copy).to.deep.equal(items);
  expect(normalizeInput(copy)).to.deep.equal(items);
  expect(normalizeInput(items)).to.equal(items);
}

describe('the normalizer, given arbitrary input', () => {
  it('accepts or rejects any value without failing otherwise', () => {
    const tally: Tally = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(fc.oneof(hostile, fc.array(hostile, { maxLength: 3 }), text), (input) => {
        const items = attempt(() => normalizeInput(input), tally);
        if (items !== undefined) checkItems(items);
        attempt(() => normalizeTools(input), tally);
        attempt(() => normalizeOptions(input), tally);
      }),
      { numRuns: RUNS.anything },
    );
    expect(tally.accepted).to.be.above(0);
    expect(tally.refused).to.be.above(0);
  });

  it('converts partly valid conversations to items, or names the invalid value', () => {
    const tally: Tally = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(conversation, (input) => {
        const items = attempt(() => normalizeInput(input), tally);
        if (items !== undefined) checkItems(items);
      }),
      { numRuns: RUNS.conversations },
    );
    expect(tally.accepted).to.be.above(RUNS.conversations / 10);
    expect(tally.refused).to.be.above(RUNS.conversations / 10);
  });

  it('converts partly valid options to checked ones, or names the invalid value', () => {
    const tally: Tally = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(options, (given) => {
        const normalized = attempt(() => normalizeOptions(given), tally);
        if (normalized === undefined) return;
        const { signal, tools, ...data } = normalized;
        expect(signal === undefined || signal instanceof AbortSignal).to.equal(true);
        checkItems(data.input);
        for (const value of Object.values(data)) checkData(value);
        checkData(tools ?? Object.freeze([]), true);
        expect(normalizeOptions(normalized)).to.equal(normalized);
        expect(
          normalizeOptions({
            ...normalized,
            input: JSON.parse(JSON.stringify(data.input)) as unknown,
            tools: tools?.map((tool) => ({ ...tool })),
          }),
        ).to.deep.equal(normalized);
      }),
      { numRuns: RUNS.options },
    );
    expect(tally.accepted).to.be.above(RUNS.options / 20);
    expect(tally.refused).to.be.above(RUNS.options / 20);
  });
});
