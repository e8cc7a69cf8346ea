/** The type `T`, whose optional members may also be undefined. */
type Loose<T> = { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** The type `T`, whose members that may be undefined are optional instead. */
type Defined<T> = T extends unknown
  ? { -readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
      -readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
    }
  : never;

/**
 * Returns the fields that are not undefined, for what is stored, sent or compared: there, a field without a value is
 * absent. May return the given object itself. The first form types the fields by the context, as a literal's are.
 */
export function omitUndefined<T extends object = never>(fields: Loose<NoInfer<T>>): T;
export function omitUndefined<const T extends object>(fields: T): Defined<T>;
export function omitUndefined(fields: Readonly<Record<string, unknown>>): object {
  for (const name in fields) if (fields[name] === undefined) return copyDefined(fields);
  return fields;
}

function copyDefined(fields: Readonly<Record<string, unknown>>): object {
  const defined: Record<string, unknown> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) defined[name] = value;
  }
  return defined;
}
