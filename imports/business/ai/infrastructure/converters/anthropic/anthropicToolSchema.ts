/** A tool's parameters as an `input_schema`: an object at the root, without unions there. */
import { fieldsOf, isObject } from '../../../domain/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

export interface ToolInputSchema {
  readonly schema: JsonObject;
  /** The union that was flattened away; the arguments are still checked against the full schema where the tool runs. */
  readonly flattened: string;
}

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;
const known = new WeakMap<JsonObject, ToolInputSchema>();
const NO_PARAMETERS: ToolInputSchema = { schema: { type: 'object', properties: {} }, flattened: '' };

export function toolInputSchema(parameters: JsonObject | undefined): ToolInputSchema {
  if (parameters === undefined) return NO_PARAMETERS;
  let result = known.get(parameters);
  if (result === undefined) {
    result = convert(parameters);
    known.set(parameters, result);
  }
  return result;
}

function convert(parameters: JsonObject): ToolInputSchema {
  const unions = UNIONS.filter((keyword) => keyword in parameters);
  if (unions.length === 0)
    return { schema: parameters.type === 'object' ? parameters : { ...parameters, type: 'object' }, flattened: '' };
  const schema: JsonObject = { ...parameters, type: 'object' };
  for (const keyword of unions) {
    const { [keyword]: variants } = parameters;
    Reflect.deleteProperty(schema, keyword);
    merge(schema, list(variants).filter(isObject), keyword);
  }
  return { schema, flattened: unions.join(', ') };
}

/** Every field that some variant has; required is what all variants require, or any of them where all must hold. */
function merge(schema: JsonObject, variants: readonly JsonObject[], keyword: (typeof UNIONS)[number]): void {
  const properties = Object.fromEntries(
    variants.flatMap((variant) => (isObject(variant.properties) ? Object.entries(variant.properties) : [])),
  );
  const required = variants.map((variant) => new Set(list(variant.required)));
  const names = [...new Set(required.flatMap((set) => [...set]))].filter((name) =>
    keyword === 'allOf' ? required.some((set) => set.has(name)) : required.every((set) => set.has(name)),
  );
  const own = list(schema.required);
  schema.properties = { ...properties, ...fieldsOf(schema.properties) };
  if (names.length > 0 || own.length > 0) schema.required = [...new Set([...own, ...names])];
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
