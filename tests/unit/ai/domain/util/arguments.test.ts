import { expect } from 'chai';
import {
  boolean,
  identifier,
  integer,
  json,
  line,
  listOf,
  numberBetween,
  oneOf,
  optional,
  optionalValue,
  readObject,
  required,
  secret,
  text,
  webUrl,
} from '../../../../../imports/business/ai/domain/util/arguments';
import { LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';

function rejection(read: () => unknown): { readonly path: string | undefined; readonly message: string } {
  try {
    read();
  } catch (error) {
    if (error instanceof LLMInvalidRequestError) return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error('The value was accepted.');
}

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('arguments', () => {
  describe('readObject', () => {
    it('returns an object whose fields are all expected', () => {
      expect(readObject({ a: 1 }, ['a', 'b'])).to.deep.equal({ a: 1 });
    });

    it('rejects an unknown field and lists the expected ones', () => {
      expect(rejection(() => readObject({ a: 1, c: 2 }, ['a', 'b']))).to.deep.equal({
        path: 'c',
        message: 'Unknown field "c". Expected one of: a, b.',
      });
    });

    it('names an unknown field of a nested object by its full path', () => {
      expect(rejection(() => readObject({ x: 1 }, ['requests'], 'limits'))).to.deep.equal({
        path: 'limits.x',
        message: 'Unknown field "limits.x". Expected one of: requests.',
      });
    });

    it('states where no fields are expected at all', () => {
      expect(rejection(() => readObject({ x: 1 }, [])).message).to.equal(
        'Unknown field "x". No fields are expected here.',
      );
    });

    it('repeats at most 60 characters of an unknown name', () => {
      expect(rejection(() => readObject({ ['x'.repeat(500)]: 1 }, [])).path).to.have.length(60);
    });

    for (const value of [undefined, null, 'text', 1, [], new Date(), new Map()])
      it(`rejects ${Object.prototype.toString.call(value)}`, () => {
        expect(rejection(() => readObject(value, ['a']))).to.deep.equal({
          path: '',
          message: 'The argument must be an object.',
        });
      });
  });

  describe('fields', () => {
    it('are required, optional for spreading, or optional as a value', () => {
      const fields = { limit: 3 };
      expect(required(fields, 'limit', integer(1, 5))).to.equal(3);
      expect(optional(fields, 'limit', integer(1, 5))).to.deep.equal({ limit: 3 });
      expect(optionalValue(fields, 'limit', integer(1, 5))).to.equal(3);
      expect(optional({}, 'limit', integer(1, 5))).to.deep.equal({});
      expect(optionalValue({}, 'limit', integer(1, 5))).to.equal(undefined);
      expect(rejection(() => required({}, 'limit', integer(1, 5), 'auth.limit'))).to.deep.equal({
        path: 'auth.limit',
        message: '"auth.limit" is required.',
      });
    });
  });

  describe('accepted values', () => {
    const accepted: readonly [string, (value: unknown, path: string) => unknown, readonly unknown[]][] = [
      ['identifier', identifier(5), ['a', 'a/b:c', 'ünïc']],
      ['text', text(3), ['', ' \n']],
      ['line', line(9), ['My key', 'ключ']],
      ['secret', secret(8), ['sk-12_!~']],
      ['webUrl', webUrl(99, { allowHttp: () => false }), ['https://a.example/b?c=d']],
      ['webUrl with http', webUrl(99, { allowHttp: () => true }), ['http://localhost:3000']],
      ['boolean', boolean, [true, false]],
      ['numberBetween', numberBetween(0, 2), [0, 0.5, 2]],
      ['integer', integer(1, 9), [1, 9]],
      ['oneOf', oneOf(['a', 'b']), ['a', 'b']],
      ['listOf', listOf(2, integer(1, 9)), [[], [1, 2]]],
      ['json', json(999), [null, '', 0, { a: [1, { b: undefined }] }, nested(64)]],
    ];
    for (const [name, read, values] of accepted)
      it(`pass ${name} unchanged`, () => {
        for (const value of values) expect(read(value, 'x')).to.deep.equal(value);
      });
  });

  describe('rejected values', () => {
    const rejected: readonly [(value: unknown, path: string) => unknown, readonly unknown[], string][] = [
      [identifier(5), ['', 'a b', 'a\u200bb', 'toolong', 1], '"x" must be 1 to 5 visible characters without spaces.'],
      [text(3), [1, undefined], '"x" must be a string.'],
      [text(3), ['four'], '"x" must be no longer than 3 characters.'],
      [line(9), ['', '  '], '"x" must not be blank.'],
      [line(9), ['a\nb', '\ud800'], '"x" must be one line of plain text without control characters.'],
      [secret(8), ['', 'a b', 'ü', '123456789'], '"x" must be 1 to 8 printable ASCII characters without spaces.'],
      [webUrl(99, { allowHttp: () => false }), ['http://a.example', 'a.example'], '"x" must be an https URL.'],
      [webUrl(99, { allowHttp: () => true }), ['ftp://a.example'], '"x" must be an https or http URL.'],
      [
        webUrl(99, { allowHttp: () => false }),
        ['https://u:p@a.example', 'https://a.example/#b'],
        '"x" must not contain credentials or a fragment.',
      ],
      [boolean, [0, 'true'], '"x" must be true or false.'],
      [numberBetween(0, 2), [-1, 3, Number.NaN, '1'], '"x" must be a number from 0 to 2.'],
      [integer(1, 9), [0, 10, 1.5, '1'], '"x" must be an integer from 1 to 9.'],
      [oneOf(['a', 'b']), ['c', 1], '"x" must be one of: a, b.'],
      [listOf(2, boolean), ['a', {}], '"x" must be a list.'],
      [listOf(2, boolean), [[true, true, true]], '"x" must have at most 2 entries.'],
      [json(9), [new Date(), new Uint8Array(1), 1n, () => 1, Number.NaN], '"x" must be JSON.'],
      [json(9), ['a long text'], '"x" must be no larger than 9 characters of JSON.'],
      [json(999), [nested(70)], `"x${'[0]'.repeat(64)}" must not be nested deeper than 64 levels.`],
      [json(99), [JSON.parse('{ "__proto__": 1 }')], '"x" must not have a field named "__proto__".'],
    ];
    for (const [read, values, message] of rejected)
      it(`fail with: ${message.slice(0, 90)}`, () => {
        for (const value of values) expect(rejection(() => read(value, 'x')).message).to.equal(message);
      });

    it('name the entry of a list that is wrong', () => {
      expect(rejection(() => listOf(9, boolean)([true, 1], 'x'))).to.deep.equal({
        path: 'x[1]',
        message: '"x[1]" must be true or false.',
      });
    });
  });
});
