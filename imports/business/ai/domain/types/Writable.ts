/** A type whose fields can be set, for objects that are built field by field. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };
