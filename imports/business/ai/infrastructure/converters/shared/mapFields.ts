import type { JsonObject } from '../../../domain/types/VendorTypes';

/** Returns the object itself if no field changes, since copies of objects with thousands of fields take long. */
export function mapFields(fields: JsonObject, convert: (value: unknown, name: string) => unknown): JsonObject {
  const names = Object.keys(fields);
  const values = names.map((name) => convert(fields[name], name));
  if (names.every((name, index) => values[index] === fields[name])) return fields;
  const copy: JsonObject = {};
  names.forEach((name, index) => {
    // It would set the prototype. Whoever reads the copy is to see what was sent.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: values[index], enumerable: true });
    else copy[name] = values[index];
  });
  return copy;
}
