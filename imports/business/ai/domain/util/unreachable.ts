/** Ends an exhaustive switch: a new case in the union becomes a type error here. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`);
}
