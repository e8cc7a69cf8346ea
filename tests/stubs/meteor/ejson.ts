/**
 * EJSON as Meteor's methods and collections use it (packages/ejson). What Meteor would lose silently
 * (functions, class instances, symbols) is an error here.
 */
type Fields = Record<string, unknown>;

/** JSON encodings of values without a JSON form, and of objects that look like such an encoding. */
const MARKS = ['$date', '$binary', '$InfNaN', '$escape', '$type', '$regexp'];

export const EJSON = {
  /** A deep copy that preserves fields with the value `undefined`, as Meteor does. */
  clone<T>(value: T): T {
    return cloned(value, 'value', []) as T;
  },

  equals(left: unknown, right: unknown): boolean {
    if (Object.is(left, right)) return true;
    if (left instanceof Date || right instanceof Date)
      return left instanceof Date && right instanceof Date && left.getTime() === right.getTime();
    if (EJSON.isBinary(left) || EJSON.isBinary(right))
      return EJSON.isBinary(left) && EJSON.isBinary(right) && Buffer.compare(left, right) === 0;
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
    if (Array.isArray(left) !== Array.isArray(right)) return false;
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && EJSON.equals((left as Fields)[key], (right as Fields)[key]))
    );
  },

  isBinary(value: unknown): value is Uint8Array {
    return value instanceof Uint8Array;
  },

  newBinary(size: number): Uint8Array {
    return new Uint8Array(size);
  },

  toJSONValue(value: unknown): unknown {
    return toJSON(EJSON.clone(value));
  },

  fromJSONValue(value: unknown): unknown {
    return fromJSON(EJSON.clone(value));
  },

  stringify(value: unknown): string {
    return JSON.stringify(EJSON.toJSONValue(value));
  },

  parse(text: string): unknown {
    return fromJSON(JSON.parse(text) as unknown);
  },
};

/** A value after a transfer over DDP: `undefined` fields are dropped, and `undefined` in an array becomes null. */
export function overWire(value: unknown): unknown {
  return value === undefined ? undefined : EJSON.parse(EJSON.stringify(value));
}

function cloned(value: unknown, path: string, holders: readonly object[]): unknown {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    throw new TypeError(`EJSON cannot encode a ${typeof value}: ${path}`);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return new Date(value.getTime());
  if (EJSON.isBinary(value)) return Uint8Array.from(value);
  if (holders.includes(value)) throw new TypeError(`EJSON cannot encode a circular reference: ${path}`);
  const inside = [...holders, value];
  if (Array.isArray(value))
    return Array.from(value, (element: unknown, at) => cloned(element, `${path}[${at}]`, inside));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError(`EJSON would drop the class of ${path}`);
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, cloned(field, `${path}.${key}`, inside)]),
  );
}

function toJSON(value: unknown): unknown {
  if (value instanceof Date) return { $date: value.getTime() };
  if (EJSON.isBinary(value)) return { $binary: Buffer.from(value).toString('base64') };
  if (typeof value === 'number' && !Number.isFinite(value))
    return { $InfNaN: Number.isNaN(value) ? 0 : Math.sign(value) };
  if (Array.isArray(value)) return value.map(toJSON);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.fromEntries(Object.entries(value).map(([key, field]) => [key, toJSON(field)]));
  return MARKS.includes(Object.keys(fields)[0] ?? '') && Object.keys(fields).length <= 2 ? { $escape: fields } : fields;
}

function fromJSON(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJSON);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const [mark, ...others] = Object.keys(fields);
  if (others.length === 0) {
    if (mark === '$date') return new Date(Number(fields['$date']));
    if (mark === '$binary') return Uint8Array.from(Buffer.from(String(fields['$binary']), 'base64'));
    if (mark === '$InfNaN') return Number(fields['$InfNaN']) / 0;
    if (mark === '$escape') return mapped(fields['$escape'] as Fields);
  }
  return mapped(fields);
}

function mapped(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, fromJSON(field)]));
}
