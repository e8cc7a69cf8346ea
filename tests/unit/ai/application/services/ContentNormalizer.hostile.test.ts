/** Input that the normalizer rejects, with the path and message of each error, including hostile objects. */
import { expect } from 'chai';
import {
  normalizeInput,
  normalizeOptions,
} from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';

function rejectionOf(work: () => unknown): LLMInvalidRequestError {
  try {
    work();
  } catch (error) {
    if (error instanceof LLMInvalidRequestError) return error;
    throw error;
  }
  throw new Error('The input was accepted.');
}

const inUser = (part: unknown): unknown => [{ role: 'user', content: [part] }];
const throwing = (): never => {
  throw new RangeError('from a getter');
};
const nest = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};
const cycle: Record<string, unknown> = { role: 'user', content: 'x' };
cycle.self = { back: cycle };
const holes: unknown[] = ['a'];
holes[2] = 'c';
class Message {
  readonly role = 'user';
  readonly content = 'x';
}

const REJECTED: readonly (readonly [title: string, input: unknown, path: string, message: RegExp])[] = [
  ['a number', 5, 'input', /must be a string or an array of messages and items, not a number/],
  ['null', null, 'input', /not null/],
  ['undefined', undefined, 'input', /not undefined/],
  ['a message without its array', { role: 'user', content: 'x' }, 'input', /must be an array, not an object/],
  ['an array-like', { 0: 'a', length: 1 }, 'input', /must be an array/],
  ['a boxed string', new String('x'), 'input', /must be an array, not a String object/],
  ['a Set', new Set(['x']), 'input', /must be an array, not a Set object/],
  ['a typed array', new Uint8Array(2), 'input', /must be an array, not a Uint8Array object/],
  ['a number among the items', ['x', 5], 'input[1]', /must be a string, a message or an item, not a number/],
  ['an array among the items', [['x']], 'input[0]', /not an array/],
  ['a hole', holes, 'input[1]', /must be a JSON value, not undefined/],
  ['a nested hole', [{ role: 'user', content: holes }], 'input[0].content[1]', /must have no holes/],
  ['an empty object', [{}], 'input[0]', /must have a "role" .* or a "type"/],
  ['a type that is not a string', [{ type: 5 }], 'input[0].type', /must be a string, not a number/],
  ['a part outside a message', [{ type: 'input_text', text: 'x' }], 'input[0]', /must be in the content of a message/],
  [
    'an unknown role',
    [{ role: 'model', content: 'x' }],
    'input[0].role',
    /must be one of: user, assistant, developer, system, tool/,
  ],
  ['a role that every object inherits', [{ role: 'toString', content: 'x' }], 'input[0].role', /must be one of/],
  [
    'content of a wrong type',
    [{ role: 'user', content: 5 }],
    'input[0].content',
    /must be a string, an array of parts or null, not a number/,
  ],
  [
    'content that is a single part',
    [{ role: 'user', content: { type: 'input_text', text: 'x' } }],
    'input[0].content',
    /not an object/,
  ],
  ['a part of a wrong type', inUser(5), 'input[0].content[0]', /must be a content part .* not a number/],
  ['a part without a type', inUser({ text: 'x' }), 'input[0].content[0].type', /must be a string, not undefined/],
  [
    'a text part without its text',
    inUser({ type: 'text' }),
    'input[0].content[0].text',
    /must be a string, not undefined/,
  ],
  ['a refusal by the user', inUser({ type: 'refusal', refusal: 'x' }), 'input[0].content[0]', /only an assistant/],
  ['a chat refusal by the user', [{ role: 'user', refusal: 'x' }], 'input[0].refusal', /only allowed in an assistant/],
  [
    'annotations of a wrong type',
    [{ role: 'assistant', content: [{ type: 'output_text', text: 'x', annotations: [1] }] }],
    'input[0].content[0].annotations[0]',
    /must be an object/,
  ],
  [
    'an image without a source',
    inUser({ type: 'input_image' }),
    'input[0].content[0]',
    /must have "image_url" or "file_id"/,
  ],
  [
    'an image with a forbidden scheme',
    inUser({ type: 'input_image', image_url: 'file:///etc/passwd' }),
    'input[0].content[0].image_url',
    /http or https/,
  ],
  [
    'an image with a javascript URL',
    inUser({ type: 'image_url', image_url: { url: 'javascript:alert(1)' } }),
    'input[0].content[0].image_url.url',
    /http or https/,
  ],
  [
    'an image with an incomplete URL',
    inUser({ type: 'input_image', image_url: 'https://' }),
    'input[0].content[0].image_url',
    /http or https/,
  ],
  [
    'a data URI that is not an image',
    inUser({ type: 'input_image', image_url: 'data:text/html;base64,AAAA' }),
    'input[0].content[0].image_url',
    /data:image/,
  ],
  [
    'a data URI without base64',
    inUser({ type: 'input_image', image_url: 'data:image/svg+xml,<svg/>' }),
    'input[0].content[0].image_url',
    /data:image/,
  ],
  [
    'an image with invalid base64',
    inUser({ type: 'input_image', image_url: 'data:image/png;base64,AA!A' }),
    'input[0].content[0].image_url',
    /base64 in the standard alphabet/,
  ],
  [
    'an image with truncated base64',
    inUser({ type: 'input_image', image_url: 'data:image/png;base64,AAAAA' }),
    'input[0].content[0].image_url',
    /base64/,
  ],
  [
    'an image without data',
    inUser({ type: 'input_image', image_url: 'data:image/png;base64,' }),
    'input[0].content[0].image_url',
    /base64/,
  ],
  [
    'a file without a source',
    inUser({ type: 'input_file', filename: 'x' }),
    'input[0].content[0]',
    /must have "file_id"/,
  ],
  [
    'a file whose data is text',
    inUser({ type: 'input_file', file_data: 'not base64' }),
    'input[0].content[0].file_data',
    /base64/,
  ],
  [
    'a file with a forbidden scheme',
    inUser({ type: 'input_file', file_url: 'ftp://a.b/c' }),
    'input[0].content[0].file_url',
    /http or https/,
  ],
  [
    'tool calls in a user message',
    [
      { role: 'user', content: 'x', tool_calls: [] },
      { role: 'user', tool_calls: [{}] },
    ],
    'input[0].tool_calls',
    /only allowed in an assistant/,
  ],
  [
    'a tool call without an id',
    [{ role: 'assistant', tool_calls: [{ function: { name: 'f' } }] }],
    'input[0].tool_calls[0].id',
    /must be a string/,
  ],
  [
    'a tool call without a function',
    [{ role: 'assistant', tool_calls: [{ id: 'c' }] }],
    'input[0].tool_calls[0].function',
    /must be an object/,
  ],
  [
    'the deprecated function_call',
    [{ role: 'assistant', function_call: { name: 'f', arguments: '' } }],
    'input[0].function_call',
    /Use "tool_calls" instead/,
  ],
  ['role tool without a call id', [{ role: 'tool', content: 'x' }], 'input[0].tool_call_id', /must be a string/],
  [
    'role tool with an object',
    [{ role: 'tool', tool_call_id: 'c', content: { a: 1 } }],
    'input[0].content',
    /Write other values as JSON text/,
  ],
  [
    'a tool_use without a name',
    [{ role: 'assistant', content: [{ type: 'tool_use', id: 't' }] }],
    'input[0].content[0].name',
    /must be a string/,
  ],
  [
    'a tool_use with a status that is not a string',
    [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', status: 5 }] }],
    'input[0].content[0].status',
    /must be a string/,
  ],
  [
    'a tool_use whose arguments are a list',
    [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: [1] }] }],
    'input[0].content[0].input',
    /JSON text or an object/,
  ],
  [
    'a tool_result without a call id',
    [{ role: 'user', content: [{ type: 'tool_result', content: 'x' }] }],
    'input[0].content[0].tool_use_id',
    /must be a string/,
  ],
  [
    'a tool_result whose is_error is not a boolean',
    inUser({ type: 'tool_result', tool_use_id: 't', is_error: 'yes' }),
    'input[0].content[0].is_error',
    /true or false/,
  ],
  [
    'a call without its id',
    [{ type: 'function_call', name: 'f', arguments: '{}' }],
    'input[0].call_id',
    /must be a string/,
  ],
  [
    'a call with an empty id',
    [{ type: 'function_call', call_id: '', name: 'f' }],
    'input[0].call_id',
    /must not be empty/,
  ],
  [
    'an output without its value',
    [{ type: 'function_call_output', call_id: 'c' }],
    'input[0].output',
    /must be a string or an array/,
  ],
  [
    'deferred that is not a boolean',
    [{ type: 'function_call_output', call_id: 'c', output: '', deferred: 'yes' }],
    'input[0].deferred',
    /true or false/,
  ],
  ['a status that is not a string', [{ role: 'user', content: 'x', status: 3 }], 'input[0].status', /must be a string/],
  [
    'reasoning whose summary is a string',
    [{ type: 'reasoning', summary: 'x' }],
    'input[0].summary',
    /array of summary_text/,
  ],
  [
    'an origin with an unknown wire',
    [{ type: 'reasoning', summary: [], origin: { wire: 'telegraph' } }],
    'input[0].origin.wire',
    /must be one of: responses/,
  ],
  [
    'an origin with a wire that every object inherits',
    [{ type: 'hologram_call', origin: { wire: 'constructor' } }],
    'input[0].origin.wire',
    /must be one of/,
  ],
  ['a vendor item without an origin', [{ type: 'vendor_item', item: {} }], 'input[0].origin', /the wire/],
  [
    'a compaction without encrypted content',
    [{ type: 'compaction' }],
    'input[0].encrypted_content',
    /must be a string/,
  ],
  [
    'vendor fields that are not an object',
    [{ role: 'user', content: 'x', vendor: ['a'] }],
    'input[0].vendor',
    /must be an object, not an array/,
  ],

  ['a lone high surrogate', 'x\ud83d', 'input', /lone surrogate/],
  ['a lone low surrogate', [{ role: 'user', content: '\ude00x' }], 'input[0].content', /lone surrogate/],
  ['a lone surrogate in a key', [{ role: 'user', content: 'x', '\ud83d': 1 }], 'input[0]["\\ud83d"]', /lone surrogate/],
  [
    'an own __proto__',
    [JSON.parse('{"role":"user","content":"x","__proto__":{"a":1}}')],
    'input[0].__proto__',
    /reserved key/,
  ],
  [
    'a deeply nested own __proto__',
    [JSON.parse('{"type":"hologram_call","a":[{"b":{"__proto__":null}}]}')],
    'input[0].a[0].b.__proto__',
    /reserved key/,
  ],
  ['an own constructor', [{ role: 'user', content: 'x', constructor: 1 }], 'input[0].constructor', /reserved key/],
  [
    'an own prototype in arguments',
    [{ type: 'function_call', call_id: 'c', name: 'f', arguments: { prototype: 1 } }],
    'input[0].arguments.prototype',
    /reserved key/,
  ],
  ['an id of a hosted item that is a number', [{ type: 'vendor:x', id: 9 }], 'input[0].id', /must be a string/],
  [
    'a status of a hosted item that is an object',
    [{ type: 'shell_call', status: {} }],
    'input[0].status',
    /must be a string/,
  ],
  ['a cycle', [cycle], 'input[0].self.back', /must not contain itself/],
  ['65 levels', [{ type: 'x', a: nest(64) }], `input[0].a${'.a[0]'.repeat(32).slice(0, -3)}`, /64 levels/],
  ['a million levels', [nest(1_000_000)], `input[0]${'.a[0]'.repeat(32)}`, /64 levels/],
  ['a BigInt', [{ type: 'x', a: 1n }], 'input[0].a', /must be a JSON value, not a bigint/],
  ['a symbol', [{ type: 'x', a: Symbol('s') }], 'input[0].a', /not a symbol/],
  ['a function', [{ type: 'x', a: () => 1 }], 'input[0].a', /not a function/],
  ['a toJSON', [{ type: 'x', toJSON: () => ({ type: 'y' }) }], 'input[0].toJSON', /not a function/],
  ['NaN', [{ type: 'x', a: NaN }], 'input[0].a', /must be a finite number, not NaN/],
  ['infinity', [{ type: 'x', a: [-Infinity] }], 'input[0].a[0]', /must be a finite number/],
  ['a Date', [{ type: 'x', a: new Date(0) }], 'input[0].a', /must be a plain object or an array, not a Date object/],
  ['a Map', [{ type: 'x', a: new Map() }], 'input[0].a', /not a Map object/],
  ['a RegExp', [{ type: 'x', a: /x/ }], 'input[0].a', /not a RegExp object/],
  ['a class instance', [new Message()], 'input[0]', /must be a plain object/],
  [
    'an object with inherited fields',
    [Object.create({ role: 'user', content: 'x' })],
    'input[0]',
    /must be a plain object/,
  ],
  [
    'a getter that throws',
    [
      {
        role: 'user',
        get content() {
          return throwing();
        },
      },
    ],
    'input[0].content',
    /could not be read/,
  ],
  [
    'a proxy that throws at every access',
    [new Proxy({}, { ownKeys: throwing, get: throwing, getPrototypeOf: throwing })],
    'input[0]',
    /could not be read/,
  ],
  ['a revoked proxy', [revoked()], 'input[0]', /could not be read/],
  [
    'a proxied array with an invalid length',
    [{ role: 'user', content: new Proxy([], { get: (_, key) => (key === 'length' ? -1 : 'x') }) }],
    'input[0].content',
    /must have a valid length/,
  ],
  [
    'a proxied array with an excessive length',
    [{ role: 'user', content: new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 40 : 'x') }) }],
    'input[0].content',
    /exceeds the limit of 300000 values in a request/,
  ],
];

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('normalizeInput, with invalid input', () => {
  for (const [title, input, path, message] of REJECTED) {
    it(`rejects ${title}`, () => {
      const error = rejectionOf(() => normalizeInput(input));
      expect(error.message).to.match(message);
      expect(error.path).to.equal(path);
      expect(error.message).to.contain(path);
    });
  }

  it('accepts input exactly at its limits', () => {
    expect(normalizeInput([{ type: 'x', a: nest(63) }])).to.have.length(1);
    expect(normalizeInput('x'.repeat(32 * 1024 * 1024))).to.have.length(1);
  });

  it('rejects more text than a request may hold, however it is distributed', () => {
    const half = 'x'.repeat(17 * 1024 * 1024);
    expect(rejectionOf(() => normalizeInput([half, half])).path).to.equal('input[1]');
    const normal = { type: 'message', role: 'user', content: [{ type: 'input_text', text: half }] };
    expect(rejectionOf(() => normalizeInput([normal, normal])).path).to.equal('input[1].content[0].text');
    expect(rejectionOf(() => normalizeInput([{ type: 'x', [half]: half }])).message)
      .to.match(/exceeds the limit of 33554432 characters of text in a request\.$/)
      .and.have.length.below(500);
    expect(rejectionOf(() => normalizeOptions({ model: 'm', input: half, instructions: half })).message).to.match(
      /33554432 characters/,
    );
  });

  it('rejects more values than a request may hold, however small', () => {
    expect(rejectionOf(() => normalizeInput([{ type: 'x', a: new Array(1_000_000).fill(0) }])).message).to.match(
      /exceeds the limit of 300000 values/,
    );
    let doubled: unknown = 0;
    for (let level = 0; level < 40; level += 1) doubled = [doubled, doubled];
    expect(rejectionOf(() => normalizeInput([{ type: 'x', doubled }])).message).to.match(
      /exceeds the limit of 300000 values/,
    );
  });

  it('reads every value once, so that the checked value is the one used', () => {
    const reads = new Map<string, number>();
    const watched = (value: object, at: string): unknown =>
      new Proxy(value, {
        get(target, key) {
          const path = `${at}.${String(key)}`;
          reads.set(path, (reads.get(path) ?? 0) + 1);
          const inner: unknown = Reflect.get(target, key);
          return typeof inner === 'object' && inner !== null ? watched(inner, path) : inner;
        },
      });
    const input = [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'tool_use', id: 't', name: 'f', input: { a: { b: 1 } } },
        ],
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'normal' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'normal' },
          { type: 'input_text', text: 'not quite', vendor: { anthropic: { a: 1 } } },
          { type: 'input_text', text: 'not read before' },
        ],
      },
    ];
    expect(normalizeInput(watched(input, 'input'))).to.deep.equal(normalizeInput(input));
    expect(reads.get('input.0.content.1.input.a.b')).to.equal(1);
    expect([...reads.values()].filter((count) => count !== 1)).to.deep.equal([]);
  });

  it('uses the first value of a getter whose value changes', () => {
    const answers = ['user', 'system', 'system'];
    const shifty = {
      get role() {
        return answers.shift();
      },
      content: 'obey',
    };
    expect(normalizeInput([shifty])[0]).to.have.property('role', 'user');
  });

  it('preserves the cause of an unreadable value', () => {
    expect(
      rejectionOf(() =>
        normalizeInput([
          {
            get type() {
              return throwing();
            },
          },
        ]),
      ).cause,
    ).to.be.instanceOf(RangeError);
  });

  it('does not repeat input in its messages', () => {
    const secret = 'sk-very-secret';
    for (const input of [
      [{ role: secret }],
      inUser({ type: 'input_image', image_url: `ftp://${secret}` }),
      [{ type: 'reasoning', origin: { wire: secret } }],
    ]) {
      expect(rejectionOf(() => normalizeInput(input)).message).not.to.contain(secret);
    }
  });

  it('does not pollute prototypes', () => {
    rejectionOf(() =>
      normalizeInput([
        JSON.parse(
          '{"role":"user","content":"x","__proto__":{"polluted":true},"vendor":{"__proto__":{"polluted":true}}}',
        ),
      ]),
    );
    expect('polluted' in {}).to.equal(false);
  });
});
