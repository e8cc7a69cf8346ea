/**
 * What is read of methods that packages and apps define: the closures below have the variables of the packages' own
 * (jam:method, mdg:validated-method, zodern:relay), and the checks are those of apps, also as bundlers write them.
 */
import * as acorn from 'acorn';
import { expect } from 'chai';
import { check, Match } from 'meteor/check';
import SimpleSchema from 'simpl-schema';
import { z } from 'zod';
import { readMethod } from '../../../../../imports/host/meteor/expose/readMethod';
import type { AnyFunction } from '../../../../../imports/host/meteor/expose/variablesOf';
import { isSimpleSchema } from '../../../../../imports/business/ai/domain/util/isSimpleSchema';

const NAME = 'orders.add';
const read = (handler: AnyFunction) => readMethod(NAME, handler, { acorn, Match });
const readWith = (handler: AnyFunction, given: Readonly<Record<string, unknown>>) => {
  const { parameters, toArguments } = read(handler);
  return { parameters, args: toArguments(given) };
};
const STRING = { type: 'string' };
const ORDER = {
  type: 'object',
  properties: { id: STRING, count: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 } },
  required: ['id'],
  additionalProperties: false,
};
const ORDER_PATTERN = { id: String, count: Match.Optional(Match.Integer) };

/** Defines a method like `createMethod` of jam:method. */
function jamMethod(config: {
  readonly name: string;
  readonly schema?: unknown;
  readonly validate?: unknown;
}): AnyFunction {
  const { name: n, schema, validate: v } = config;
  const name = n;
  const validate = (schema === undefined ? v : (data: unknown) => data) as (data: unknown) => unknown;
  return async function method(this: unknown, data: never) {
    await Promise.resolve();
    return schema === undefined ? [name, validate.call(this, data)] : validate(data);
  };
}

/** Defines a method like ValidatedMethod. */
class ValidatedMethod {
  readonly handler: AnyFunction;
  declare readonly name: string;
  declare readonly validate: (args: unknown) => void;
  declare readonly run: (args: unknown) => unknown;

  constructor(options: { readonly name: string; readonly validate: unknown; readonly run: unknown }) {
    Object.assign(this, options);
    // oxlint-disable-next-line typescript/no-this-alias -- as the package does
    const method = this;
    this.handler = {
      [options.name](args: never) {
        check(args, Match.Any);
        return method.run(args);
      },
    }[options.name] as AnyFunction;
  }
}

/** Defines a method like `createMethod` of zodern:relay. */
function relayMethod(config: {
  readonly name: string;
  readonly schema: { parse(data: unknown): unknown };
}): AnyFunction {
  const methodHandler = (data: unknown): unknown => config.schema.parse(data);
  return (data: never) => methodHandler(data);
}

describe('readMethod', () => {
  it('reads schemas of jam:method: of zod, SimpleSchema and check', () => {
    const schema = z.object({ id: z.string(), count: z.number().optional() });
    expect(read(jamMethod({ name: NAME, schema })).parameters).to.deep.include({
      type: 'object',
      properties: { id: STRING, count: { type: 'number' } },
      required: ['id'],
    });
    const simple = new SimpleSchema({ id: String });
    expect(read(jamMethod({ name: NAME, schema: simple })).parameters).to.equal(simple);
    expect(readWith(jamMethod({ name: NAME, schema: ORDER_PATTERN }), { id: '7' })).to.deep.equal({
      parameters: ORDER,
      args: [{ id: '7' }],
    });
    expect(readWith(jamMethod({ name: NAME, schema: String }), { input: 'a' })).to.deep.equal({
      parameters: { type: 'object', properties: { input: STRING }, additionalProperties: false },
      args: ['a'],
    });
    const validate = (data: unknown): void => check(data, ORDER_PATTERN);
    expect(read(jamMethod({ name: NAME, validate })).parameters).to.deep.equal(ORDER);
  });

  it('reads what a ValidatedMethod validates with: a validator, checks, a schema, nothing', () => {
    const of = (validate: unknown): AnyFunction =>
      new ValidatedMethod({ name: NAME, validate, run: () => undefined }).handler;
    const simple = new SimpleSchema({ id: String, at: { type: Date, optional: true } });
    for (const options of [{}, { clean: true }]) {
      const { parameters } = read(of(simple.validator(options)));
      expect(parameters).to.equal(simple);
    }
    expect(isSimpleSchema(simple)).to.equal(true);
    expect(() => simple.validate({ id: 7 })).to.throw();
    expect(read(of((args: unknown) => check(args, ORDER_PATTERN))).parameters).to.deep.equal(ORDER);
    const schema = z.object({ id: z.string() });
    expect(read(of((args: unknown) => void schema.parse(args))).parameters).to.deep.include({ required: ['id'] });
    expect(
      readWith(
        of(() => undefined),
        {},
      ),
    ).to.deep.equal({
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      args: [],
    });
  });

  it('reads schemas of zodern:relay, also those of methods without arguments', () => {
    const schema = z.object({ id: z.string() });
    expect(readWith(relayMethod({ name: NAME, schema }), { id: 'a' }).args).to.deep.equal([{ id: 'a' }]);
    expect(readWith(relayMethod({ name: NAME, schema: z.undefined() }), {}).args).to.deep.equal([]);
  });

  it('reads positional arguments, their checks and their order', () => {
    function add(this: unknown, id: unknown, count: unknown = 1, at?: unknown): unknown {
      check(id, String);
      check(count, Match.Maybe(Number));
      check(at, Match.Optional(Date));
      return [id, count, at];
    }
    const { parameters, toArguments } = read(add);
    expect(parameters).to.deep.equal({
      type: 'object',
      properties: { id: STRING, count: { type: 'number' }, at: { type: 'string', format: 'date-time' } },
      required: ['id'],
      additionalProperties: false,
    });
    expect(toArguments({ id: 'a', at: '2026-01-02T03:04:05.000Z' })).to.deep.equal([
      'a',
      undefined,
      new Date('2026-01-02T03:04:05.000Z'),
    ]);
    expect(toArguments({ id: 'a' })).to.deep.equal(['a']);
  });

  it('reads fields of a destructured argument, lists of arguments, and patterns in variables', () => {
    const destructured = ({ id, count = 1 }: { id: unknown; count?: unknown }): unknown => {
      check(id, String);
      check(count, Number);
      return [id, count];
    };
    expect(readWith(destructured, { id: 'a' })).to.deep.equal({
      parameters: { type: 'object', properties: { id: STRING, count: { type: 'number' } }, required: ['id'] },
      args: [{ id: 'a' }],
    });
    const listed = (from: unknown, to: unknown): unknown => {
      check([from, to], [String]);
      return [from, to];
    };
    expect(read(listed).parameters).to.deep.include({ properties: { from: STRING, to: STRING } });
    const named = (order: unknown): unknown => {
      check(order, ORDER_PATTERN);
      return order;
    };
    expect(read(named).parameters).to.deep.equal(ORDER);
  });

  it('reads patterns of every kind, and leaves open what it cannot read', () => {
    class Money {
      readonly cents = 0;
    }
    const isSmall = (value: unknown): boolean => {
      check(value, Number);
      return value < 10;
    };
    const add = (order: unknown): unknown => {
      check(order, {
        state: Match.OneOf('open', 'closed'),
        note: Match.OneOf(String, null),
        tags: [Match.NonEmptyString],
        extra: Match.ObjectIncluding({ a: Boolean }),
        prices: Match.ObjectWithValues(Number),
        size: Match.Where(isSmall),
        money: Money,
        any: Match.Any,
        at: [Date],
      });
      return order;
    };
    const { parameters, toArguments } = read(add);
    expect(parameters).to.deep.include({
      properties: {
        state: { enum: ['open', 'closed'] },
        note: { anyOf: [STRING, { type: 'null' }] },
        tags: { type: 'array', items: { type: 'string', minLength: 1 } },
        extra: {
          type: 'object',
          properties: { a: { type: 'boolean' } },
          required: ['a'],
          additionalProperties: true,
        },
        prices: { type: 'object', additionalProperties: { type: 'number' } },
        size: {},
        money: {},
        any: {},
        at: { type: 'array', items: { type: 'string', format: 'date-time' } },
      },
    });
    expect(toArguments({ at: ['2026-01-02T00:00:00Z'] })).to.deep.equal([{ at: [new Date('2026-01-02T00:00:00Z')] }]);
    const size = { pattern: { size: Match.Where(isSmall) } };
    expect(read(jamMethod({ name: NAME, schema: size.pattern })).parameters).to.deep.include({
      properties: { size: { type: 'number' } },
    });
  });

  it('reads checks as bundlers write them', () => {
    const meteor_check__WEBPACK_IMPORTED_MODULE_0__ = { check: check as (...given: unknown[]) => void, Match };
    const add = (id: unknown, count: unknown): unknown => {
      (0, meteor_check__WEBPACK_IMPORTED_MODULE_0__.check)(id, meteor_check__WEBPACK_IMPORTED_MODULE_0__.Match.Any);
      (0, meteor_check__WEBPACK_IMPORTED_MODULE_0__.check)(
        count,
        meteor_check__WEBPACK_IMPORTED_MODULE_0__.Match.Maybe(Number),
      );
      return [id, count];
    };
    expect(read(add).parameters).to.deep.include({
      properties: { id: {}, count: { type: 'number' } },
      required: ['id'],
    });
  });

  it("reads async functions as Meteor's compilers write them", () => {
    const _async_to_generator = (inner: (...given: never[]) => Generator) => inner;
    const add = {
      [NAME](this: unknown, id: unknown) {
        return _async_to_generator(function* () {
          check(id, String);
          yield id;
        }).call(this);
      },
    }[NAME];
    expect(read(add).parameters).to.deep.include({ properties: { id: STRING } });
    function destructured(this: unknown, _0: unknown): unknown {
      return _async_to_generator(function* ({ id }: { id: unknown }) {
        check(id, String);
        yield id;
        // oxlint-disable-next-line prefer-rest-params -- as SWC does
      } as never).apply(this, arguments as never);
    }
    const expected = { type: 'object', properties: { id: STRING }, required: ['id'] };
    expect(read(destructured).parameters).to.deep.equal(expected);
    let _add = function (this: unknown): unknown {
      _add = _async_to_generator(function* ({ id }: { id: unknown }) {
        check(id, String);
        yield id;
      } as never) as never;
      // oxlint-disable-next-line prefer-rest-params -- as SWC does
      return _add.apply(this, arguments as never);
    };
    const declared = function (this: unknown, _0: unknown): unknown {
      // oxlint-disable-next-line prefer-rest-params -- as SWC does
      return _add.apply(this, arguments as never);
    };
    expect(read(declared).parameters).to.deep.equal(expected);
  });

  it('takes any arguments where it can read none', () => {
    for (const handler of [(...args: unknown[]) => args, ((a: unknown) => a).bind(undefined)])
      expect(readWith(handler, { arguments: ['a', 2] }).args).to.deep.equal(['a', 2]);
    expect(readWith((id: unknown) => id, { id: 'a' })).to.deep.equal({
      parameters: { type: 'object', properties: { id: {} }, required: ['id'], additionalProperties: false },
      args: ['a'],
    });
  });

  it('runs no validation of the app itself', () => {
    let hasRun = false;
    const Schema = SimpleSchema;
    const validate = (order: object): void => {
      hasRun = true;
      new Schema({ id: String }).validate(order);
    };
    read(new ValidatedMethod({ name: NAME, validate, run: () => undefined }).handler);
    expect(hasRun).to.equal(false);
  });
});
