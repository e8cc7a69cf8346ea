/** Makes of what Meteor passes around, in EJSON's types, what JSON can write and a model can read. */

/** A type that EJSON knows: `Mongo.ObjectID`, `Decimal`, those of the app. */
interface EjsonValue {
  typeName(): string;
  toJSONValue(): unknown;
}

export function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof RegExp) return String(value);
  if (Array.isArray(value)) return value.map(toPlain);
  if (isEjsonValue(value)) return toPlain(value.toJSONValue());
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, toPlain(field)]));
}

function isEjsonValue(value: object): value is EjsonValue {
  const { typeName, toJSONValue } = value as Partial<EjsonValue>;
  return typeof typeName === 'function' && typeof toJSONValue === 'function';
}
